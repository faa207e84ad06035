//===- MemoryOps.cpp - kernel.load and kernel.store -----------------------===//
#include "dialects/Kernel/Kernel.h"

using namespace mlir;
using namespace gpucc::kernel;

static AffineMap identityMap(OpBuilder &builder, Value view) {
  return builder.getMultiDimIdentityMap(cast<ShapedType>(view.getType()).getRank());
}

/// (C1) of both.
static LogicalResult verifyMap(Operation *op, AffineMap map, unsigned inputs, ShapedType type) {
  if (map.getNumResults() == type.getRank() && map.getNumDims() == inputs &&
      map.getNumSymbols() == 0)
    return success();
  return op->emitOpError("(C1) has a map of ")
         << map.getNumInputs() << " inputs and " << map.getNumResults() << " results for " << inputs
         << " indices into " << Type(type) << "; it needs one input per index and one result per "
         << "dimension";
}

//===----------------------------------------------------------------------===//
// kernel.load
//===----------------------------------------------------------------------===//
void LoadOp::build(OpBuilder &builder, OperationState &state, Value source, AffineMap map,
                   ValueRange indices, Value predicate, Value otherwise) {
  state.addOperands(source);
  state.addOperands(indices);
  if (predicate)
    state.addOperands({predicate, otherwise});
  int32_t guarded = predicate ? 1 : 0;
  state.addAttribute(getMapAttrName(state.name), AffineMapAttr::get(map));
  state.addAttribute(
      getOperandSegmentSizeAttr(),
      builder.getDenseI32ArrayAttr({1, static_cast<int32_t>(indices.size()), guarded, guarded}));
  state.addTypes(cast<ShapedType>(source.getType()).getElementType());
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value source, ValueRange indices) {
  build(builder, state, source, identityMap(builder, source), indices, Value(), Value());
}

ParseResult LoadOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand source, predicate, otherwise;
  SmallVector<OpAsmParser::UnresolvedOperand> indices;
  Attribute map;
  Type type;
  bool guarded = false;
  if (parser.parseOperand(source) ||
      parser.parseAffineMapOfSSAIds(indices, map, "map", result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("if"))) {
    guarded = true;
    if (parser.parseOperand(predicate) || parser.parseKeyword("else") ||
        parser.parseOperand(otherwise))
      return failure();
  }
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return parser.emitError(at) << "loads are from memrefs and tensors, not " << type;
  Builder &builder = parser.getBuilder();
  if (parser.resolveOperand(source, type, result.operands) ||
      parser.resolveOperands(indices, builder.getIndexType(), result.operands))
    return failure();
  if (guarded && (parser.resolveOperand(predicate, builder.getI1Type(), result.operands) ||
                  parser.resolveOperand(otherwise, shaped.getElementType(), result.operands)))
    return failure();
  result.addAttribute(
      getOperandSegmentSizeAttr(),
      builder.getDenseI32ArrayAttr({1, static_cast<int32_t>(indices.size()), guarded, guarded}));
  result.addTypes(shaped.getElementType());
  return success();
}

void LoadOp::print(OpAsmPrinter &printer) {
  printer << " " << getSource() << "[";
  printer.printAffineMapOfSSAIds(getMapAttr(), getIndices());
  printer << "]";
  if (getPredicate())
    printer << " if " << getPredicate() << " else " << getOtherwise();
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getMapAttrName(), getOperandSegmentSizeAttr()});
  printer << " : " << getSource().getType();
}

LogicalResult LoadOp::verify() {
  auto type = cast<ShapedType>(getSource().getType());
  if (failed(verifyMap(*this, getMap(), getIndices().size(), type)))
    return failure();
  if (!getPredicate() != !getOtherwise() ||
      (getOtherwise() && getOtherwise().getType() != type.getElementType()))
    return emitOpError("(C2) a guarded load needs a predicate and a value of type ")
           << type.getElementType() << " for where it is false";
  if (getResult().getType() != type.getElementType())
    return emitOpError("(C2) yields ")
           << getResult().getType() << " from elements of type " << type.getElementType()
           << "; convert by arith after the load";
  if (isa<RankedTensorType>(type)) {
    auto loop = getSource().getDefiningOp<LoopOp>();
    if (!loop)
      return emitOpError("(C3) reads a tensor that no kernel.loop made; whole tensors enter a "
                         "kernel as views");
    if (loop->isProperAncestor(*this))
      return emitOpError("(C3) reads a tile inside the loop that makes it; its points are "
                         "independent: start another loop");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.store
//===----------------------------------------------------------------------===//
void StoreOp::build(OpBuilder &builder, OperationState &state, Value value, Value dest,
                    AffineMap map, ValueRange indices, Value predicate) {
  state.addOperands({value, dest});
  state.addOperands(indices);
  if (predicate)
    state.addOperands(predicate);
  state.addAttribute(getMapAttrName(state.name), AffineMapAttr::get(map));
  state.addAttribute(getOperandSegmentSizeAttr(),
                     builder.getDenseI32ArrayAttr(
                         {1, 1, static_cast<int32_t>(indices.size()), predicate ? 1 : 0}));
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value value, Value dest,
                    ValueRange indices) {
  build(builder, state, value, dest, identityMap(builder, dest), indices, Value());
}

ParseResult StoreOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand value, dest, predicate;
  SmallVector<OpAsmParser::UnresolvedOperand> indices;
  Attribute map;
  Type type;
  if (parser.parseOperand(value) || parser.parseComma() || parser.parseOperand(dest) ||
      parser.parseAffineMapOfSSAIds(indices, map, "map", result.attributes))
    return failure();
  bool guarded = succeeded(parser.parseOptionalKeyword("if"));
  if (guarded && parser.parseOperand(predicate))
    return failure();
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  auto view = dyn_cast<MemRefType>(type);
  if (!view)
    return parser.emitError(at) << "stores are to memrefs, not " << type
                                << "; a tile is made by `keep`";
  Builder &builder = parser.getBuilder();
  if (parser.resolveOperand(value, view.getElementType(), result.operands) ||
      parser.resolveOperand(dest, type, result.operands) ||
      parser.resolveOperands(indices, builder.getIndexType(), result.operands) ||
      (guarded && parser.resolveOperand(predicate, builder.getI1Type(), result.operands)))
    return failure();
  result.addAttribute(
      getOperandSegmentSizeAttr(),
      builder.getDenseI32ArrayAttr({1, 1, static_cast<int32_t>(indices.size()), guarded}));
  return success();
}

void StoreOp::print(OpAsmPrinter &printer) {
  printer << " " << getValue() << ", " << getDest() << "[";
  printer.printAffineMapOfSSAIds(getMapAttr(), getIndices());
  printer << "]";
  if (getPredicate())
    printer << " if " << getPredicate();
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getMapAttrName(), getOperandSegmentSizeAttr()});
  printer << " : " << getDest().getType();
}

LogicalResult StoreOp::verify() {
  auto type = cast<MemRefType>(getDest().getType());
  if (failed(verifyMap(*this, getMap(), getIndices().size(), type)))
    return failure();
  if (getValue().getType() != type.getElementType())
    return emitOpError("(C2) stores ")
           << getValue().getType() << " into elements of type " << type.getElementType()
           << "; convert by arith before the store";
  return success();
}
