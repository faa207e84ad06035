//===- Skeletons.cpp - contract, convolution, attention -------------------===//
#include "dialects/Kernel/Access.h"
#include "dialects/Kernel/Kernel.h"

using namespace mlir;
using namespace gpucc::kernel;

/// Adds the epilogue region: (accumulator, `indices` indices).
static void buildEpilogue(OpBuilder &builder, OperationState &state, Type accumulator,
                          unsigned indices,
                          function_ref<void(OpBuilder &, Location, ValueRange)> build) {
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types{accumulator};
  types.append(indices, builder.getIndexType());
  SmallVector<Location> locs(types.size(), state.location);
  Block *body = builder.createBlock(region, region->end(), types, locs);
  build(builder, state.location, body->getArguments());
  YieldOp::create(builder, state.location);
}

static bool isAccumulator(Type type, Type element) {
  if (element.isF64())
    return type.isF64();
  if (isa<FloatType>(element))
    return type.isF32();
  return type.isInteger(32) || type.isInteger(64);
}

static LogicalResult verifyEpilogue(Operation *op, Region &region, Type element, unsigned indices,
                                    StringRef constraint) {
  Block &body = region.front();
  if (body.getNumArguments() == indices + 1 &&
      llvm::all_of(body.getArguments().drop_front(),
                   [](BlockArgument a) { return a.getType().isIndex(); }) &&
      isAccumulator(body.getArgument(0).getType(), element))
    return success();
  return op->emitOpError("(") << constraint << ") the epilogue's arguments do not fit; it takes an "
                              << "accumulator (f32 for floats up to 32 bits, f64 for f64, i32 or "
                                 "i64 for integers) and "
                              << indices << " indices";
}

/// A map of `inputs` inputs into `view` whose inputs from `linear` on have constant strides.
static LogicalResult verifyOperandMap(Operation *op, StringRef name, AffineMap map, Value view,
                                      unsigned inputs, unsigned linear, StringRef constraint) {
  auto type = cast<MemRefType>(view.getType());
  if (map.getNumInputs() != inputs || map.getNumSymbols() != 0 ||
      map.getNumResults() != type.getRank())
    return op->emitOpError("(") << constraint << ") the map of " << name << " has "
                                << map.getNumInputs() << " inputs and " << map.getNumResults()
                                << " results; it needs " << inputs << " inputs and "
                                << type.getRank() << " results";
  for (unsigned d = linear; d < inputs; ++d)
    if (!getStride(getOffsetExpr(map, type), d))
      return op->emitOpError("(") << constraint << ") input " << d << " of the map of " << name
                                  << " has no constant stride; copy the operand into a layout that "
                                     "has one";
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.contract
//===----------------------------------------------------------------------===//
void ContractOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs,
                       ArrayRef<int64_t> extents, AffineMap lhsMap, AffineMap rhsMap, MathMode math,
                       Type accumulator,
                       function_ref<void(OpBuilder &, Location, ValueRange)> epilogue) {
  state.addOperands({lhs, rhs});
  state.addAttribute(getExtentsAttrName(state.name), builder.getDenseI64ArrayAttr(extents));
  state.addAttribute(getLhsMapAttrName(state.name), AffineMapAttr::get(lhsMap));
  state.addAttribute(getRhsMapAttrName(state.name), AffineMapAttr::get(rhsMap));
  state.addAttribute(getMathAttrName(state.name), MathModeAttr::get(builder.getContext(), math));
  buildEpilogue(builder, state, accumulator, 3, epilogue);
}

LogicalResult ContractOp::verify() {
  if (getExtents().size() != 4 || llvm::any_of(getExtents(), [](int64_t e) { return e < 1; }))
    return emitOpError("(C1) extents are [batch, M, N, K], each at least 1");
  Type element = cast<MemRefType>(getLhs().getType()).getElementType();
  Type other = cast<MemRefType>(getRhs().getType()).getElementType();
  if (element != other)
    return emitOpError("(C2) multiplies ")
           << element << " by " << other << "; convert one operand in its producer";
  if (failed(verifyOperandMap(*this, "lhs", getLhsMap(), getLhs(), 3, 1, "C3")) ||
      failed(verifyOperandMap(*this, "rhs", getRhsMap(), getRhs(), 3, 1, "C3")) ||
      failed(verifyEpilogue(*this, getEpilogue(), element, 3, "C4")))
    return failure();
  if (getMath() == MathMode::Tf32 && !element.isF32())
    return emitOpError("(C5) tf32 is a way to multiply f32, not ") << element;
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.convolution
//===----------------------------------------------------------------------===//
void ConvolutionOp::build(OpBuilder &builder, OperationState &state, ConvolutionKind kind,
                          Value lhs, Value rhs, ArrayRef<int64_t> resultShape,
                          ArrayRef<int64_t> strides, ArrayRef<int64_t> padsLow,
                          ArrayRef<int64_t> padsHigh, ArrayRef<int64_t> dilations, int64_t groups,
                          MathMode math, Type accumulator,
                          function_ref<void(OpBuilder &, Location, ValueRange)> epilogue) {
  state.addOperands({lhs, rhs});
  auto list = [&](StringAttr name, ArrayRef<int64_t> values) {
    state.addAttribute(name, builder.getDenseI64ArrayAttr(values));
  };
  state.addAttribute(getKindAttrName(state.name),
                     ConvolutionKindAttr::get(builder.getContext(), kind));
  list(getResultShapeAttrName(state.name), resultShape);
  list(getStridesAttrName(state.name), strides);
  list(getPadsLowAttrName(state.name), padsLow);
  list(getPadsHighAttrName(state.name), padsHigh);
  list(getDilationsAttrName(state.name), dilations);
  state.addAttribute(getGroupsAttrName(state.name), builder.getI64IntegerAttr(groups));
  state.addAttribute(getMathAttrName(state.name), MathModeAttr::get(builder.getContext(), math));
  buildEpilogue(builder, state, accumulator, resultShape.size(), epilogue);
}

static SmallVector<int64_t> shapeOf(Value view) {
  return llvm::to_vector(cast<MemRefType>(view.getType()).getShape());
}
SmallVector<int64_t> ConvolutionOp::getInputShape() {
  return getKind() == ConvolutionKind::InputGrad ? llvm::to_vector(getResultShape())
                                                 : shapeOf(getLhs());
}
SmallVector<int64_t> ConvolutionOp::getFilterShape() {
  return getKind() == ConvolutionKind::FilterGrad ? llvm::to_vector(getResultShape())
                                                  : shapeOf(getRhs());
}
SmallVector<int64_t> ConvolutionOp::getOutputShape() {
  switch (getKind()) {
  case ConvolutionKind::Forward:
    return llvm::to_vector(getResultShape());
  case ConvolutionKind::InputGrad:
    return shapeOf(getLhs());
  case ConvolutionKind::FilterGrad:
    return shapeOf(getRhs());
  }
  llvm_unreachable("all kinds are above");
}

LogicalResult ConvolutionOp::verify() {
  SmallVector<int64_t> input = getInputShape(), filter = getFilterShape(),
                       output = getOutputShape();
  size_t rank = input.size(), spatial = rank - 2;
  if (rank < 3 || rank > 5 || filter.size() != rank || output.size() != rank)
    return emitOpError("(C1) has shapes of rank ")
           << input.size() << ", " << filter.size() << ", " << output.size()
           << "; input, filter and output have one rank, 3 to 5";
  for (ArrayRef<int64_t> list : {getStrides(), getPadsLow(), getPadsHigh(), getDilations()})
    if (list.size() != spatial)
      return emitOpError("(C1) has a list of ")
             << list.size() << " entries for " << spatial << " spatial dimensions";
  int64_t groups = getGroups();
  bool fits = groups >= 1 && input[0] == output[0] && input[1] == filter[1] * groups &&
              filter[0] == output[1] && filter[0] % std::max<int64_t>(groups, 1) == 0;
  for (size_t d = 0; d < spatial && fits; ++d) {
    int64_t reach = getDilations()[d] * (filter[d + 2] - 1) + 1;
    int64_t room = input[d + 2] + getPadsLow()[d] + getPadsHigh()[d] - reach;
    fits = getStrides()[d] >= 1 && getDilations()[d] >= 1 && room >= 0 &&
           output[d + 2] == room / getStrides()[d] + 1;
  }
  if (!fits)
    return emitOpError("(C2) input [") << input << "], filter [" << filter << "] and output ["
                                       << output << "] are not those of one convolution";
  Type element = cast<MemRefType>(getLhs().getType()).getElementType();
  if (element != cast<MemRefType>(getRhs().getType()).getElementType())
    return emitOpError("(C4) multiplies different element types; convert one operand in its "
                       "producer");
  return verifyEpilogue(*this, getEpilogue(), element, rank, "C3");
}

//===----------------------------------------------------------------------===//
// kernel.attention
//===----------------------------------------------------------------------===//
void AttentionOp::build(OpBuilder &builder, OperationState &state, Value q, Value k, Value v,
                        Value bias, ArrayRef<int64_t> extents, AffineMap qMap, AffineMap kMap,
                        AffineMap vMap, AffineMap biasMap, double scale, bool causal,
                        Type accumulator,
                        function_ref<void(OpBuilder &, Location, ValueRange)> epilogue) {
  state.addOperands({q, k, v});
  if (bias) {
    state.addOperands(bias);
    state.addAttribute(getBiasMapAttrName(state.name), AffineMapAttr::get(biasMap));
  }
  state.addAttribute(getExtentsAttrName(state.name), builder.getDenseI64ArrayAttr(extents));
  state.addAttribute(getQMapAttrName(state.name), AffineMapAttr::get(qMap));
  state.addAttribute(getKMapAttrName(state.name), AffineMapAttr::get(kMap));
  state.addAttribute(getVMapAttrName(state.name), AffineMapAttr::get(vMap));
  state.addAttribute(getScaleAttrName(state.name), builder.getF64FloatAttr(scale));
  if (causal)
    state.addAttribute(getCausalAttrName(state.name), builder.getUnitAttr());
  buildEpilogue(builder, state, accumulator, 4, epilogue);
}

LogicalResult AttentionOp::verify() {
  ArrayRef<int64_t> e = getExtents();
  if (e.size() != 7 || llvm::any_of(e, [](int64_t x) { return x < 1; }) || e[1] % e[2] != 0)
    return emitOpError(
        "(C1) extents are [B, H, K, S, T, D, E], each at least 1, H a multiple of K");
  if (failed(verifyOperandMap(*this, "q", getQMap(), getQ(), 4, 2, "C2")) ||
      failed(verifyOperandMap(*this, "k", getKMap(), getK(), 4, 2, "C2")) ||
      failed(verifyOperandMap(*this, "v", getVMap(), getV(), 4, 2, "C2")))
    return failure();
  if (!getBias() != !getBiasMap())
    return emitOpError("(C4) has a bias without a map or a map without a bias; give both");
  if (getBias() && failed(verifyOperandMap(*this, "bias", *getBiasMap(), getBias(), 4, 2, "C2")))
    return failure();
  Type element = cast<MemRefType>(getQ().getType()).getElementType();
  for (Value other : {getK(), getV()})
    if (cast<MemRefType>(other.getType()).getElementType() != element)
      return emitOpError("(C3) q, k and v differ in element type; convert in their producers");
  return verifyEpilogue(*this, getEpilogue(), element, 4, "C2");
}
