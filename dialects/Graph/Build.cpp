//===- Build.cpp - graph ops in one word each -----------------------------===//
#include "dialects/Graph/Build.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace gpucc::graph;

Value GraphBuilder::splat(RankedTensorType type, double value) {
  Type e = type.getElementType();
  Attribute element;
  if (auto f = dyn_cast<FloatType>(e)) {
    element = FloatAttr::get(f, value);
  } else {
    auto i = cast<IntegerType>(e);
    element = IntegerAttr::get(i, APInt(i.getWidth(), static_cast<int64_t>(value),
                                        /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
}

Value GraphBuilder::scalarI64(int64_t value) {
  return ConstantOp::create(builder, loc,
                            DenseElementsAttr::get(tensorOf({}, builder.getI64Type()), value));
}

Value GraphBuilder::iota(RankedTensorType type, int64_t dim) {
  return IotaOp::create(builder, loc, Value(), type, dim);
}

Value GraphBuilder::convert(Value x, Type element) {
  if (tensorOf(x).getElementType() == element)
    return x;
  return ConvertOp::create(builder, loc, x, element);
}

Value GraphBuilder::widen(Value x) {
  Type e = tensorOf(x).getElementType();
  return e.getIntOrFloatBitWidth() < 32 ? convert(x, builder.getF32Type()) : x;
}

Value GraphBuilder::reduce(ReductionKind kind, Value x, Ints dims) {
  return dims.empty() ? x : ReduceOp::create(builder, loc, kind, x, dims).getResult();
}

Value GraphBuilder::contract(Value lhs, Value rhs, Ints lhsBatch, Ints rhsBatch, Ints lhsContract,
                             Ints rhsContract, Type out) {
  TypeAttr outAttr;
  if (out && out != tensorOf(lhs).getElementType())
    outAttr = TypeAttr::get(out);
  return ContractOp::create(builder, loc, lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract,
                            outAttr, Precision::Highest);
}

Value GraphBuilder::reshape(Value x, Ints shape) {
  return tensorOf(x).getShape() == shape ? x
                                         : ReshapeOp::create(builder, loc, x, shape).getResult();
}

Value GraphBuilder::transpose(Value x, Ints permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  return TransposeOp::create(builder, loc, x, permutation);
}

Value GraphBuilder::broadcast(Value x, Ints shape, Ints dims) {
  return tensorOf(x).getShape() == shape
             ? x
             : BroadcastOp::create(builder, loc, x, shape, dims).getResult();
}

Value GraphBuilder::broadcastOver(Value reduced, Value like, Ints dims) {
  RankedTensorType type = tensorOf(like);
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      kept.push_back(d);
  return broadcast(reduced, type.getShape(), kept);
}

Value GraphBuilder::sliceDim(Value x, int64_t dim, int64_t start, int64_t size) {
  RankedTensorType type = tensorOf(x);
  SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  return slice(x, starts, sizes, strides);
}

Value GraphBuilder::slice(Value x, Ints start, Ints sizes, Ints strides, ValueRange offsets) {
  bool whole = offsets.empty() && sizes == tensorOf(x).getShape() &&
               llvm::all_of(start, [](int64_t s) { return s == 0; }) &&
               llvm::all_of(strides, [](int64_t s) { return s == 1; });
  return whole ? x : SliceOp::create(builder, loc, x, offsets, start, sizes, strides).getResult();
}

Value GraphBuilder::padZero(Value x, Ints low, Ints high, Ints interior) {
  auto none = [](Ints list) { return llvm::all_of(list, [](int64_t p) { return p == 0; }); };
  if (none(low) && none(high) && none(interior))
    return x;
  Value zero = splat(tensorOf({}, tensorOf(x).getElementType()), 0);
  return PadOp::create(builder, loc, PadKind::Constant, x, zero, low, high, interior);
}

bool gpucc::graph::isZero(Value v) {
  Operation *op = v.getDefiningOp();
  if (isa_and_nonnull<BroadcastOp, ReshapeOp, ConvertOp>(op))
    return isZero(op->getOperand(0));
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isZero();
  return dense.getSplatValue<APInt>().isZero();
}
