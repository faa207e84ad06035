//===- MovementVjp.cpp - derivatives of movement --------------------------===//
//
// What moved forward moves back: slice <-> pad, gather <-> scatter sum,
// broadcast <-> sum. Scatter's derivative stands in ScatterVjp.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Movement/PadIndex.h"

using namespace mlir;
using namespace gpucc::graph;

static bool isFloatTensor(Value v) { return isa<FloatType>(tensorOf(v).getElementType()); }

LogicalResult ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] =
        GraphBuilder(builder, getLoc()).reshape(resultGrads[0], tensorOf(getX()).getShape());
  return success();
}

LogicalResult TransposeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0])
    return success();
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, p] : llvm::enumerate(getPermutation()))
    inverse[p] = i;
  operandGrads[0] = GraphBuilder(builder, getLoc()).transpose(resultGrads[0], inverse);
  return success();
}

LogicalResult BroadcastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0] || !isFloatTensor(getX()))
    return success();
  GraphBuilder g(builder, getLoc());
  ArrayRef<int64_t> from = tensorOf(getX()).getShape();
  SmallVector<int64_t> repeated;
  for (int64_t d = 0, next = 0; d < static_cast<int64_t>(getShape().size()); ++d) {
    bool mapped = next < static_cast<int64_t>(getDims().size()) && getDims()[next] == d;
    if (!mapped || from[next] != getShape()[d])
      repeated.push_back(d);
    next += mapped;
  }
  operandGrads[0] = g.reshape(g.sum(resultGrads[0], repeated), from);
  return success();
}

/// Adds slices of `grad` along `dim` into zeros of size `size` at the given indices.
static Value scatterAlong(GraphBuilder &g, Value grad, Value indices, int64_t dim, int64_t size) {
  RankedTensorType type = tensorOf(grad);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  Value zeros = g.splat(tensorOf(shape, type.getElementType()), 0);
  return ScatterOp::create(g.builder, g.loc, zeros, indices, grad, dim,
                           ReductionKindAttr::get(g.builder.getContext(), ReductionKind::Sum));
}

/// A slice at fixed places: the gradient between zeros, negative strides turned around first.
static Value fixedSliceGrad(GraphBuilder &g, SliceOp op, Value grad) {
  ArrayRef<int64_t> shape = tensorOf(op.getX()).getShape(), sizes = op.getSizes();
  size_t rank = shape.size();
  SmallVector<int64_t> turnStart(rank, 0), turn(rank, 1), low(rank), high(rank), interior(rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    int64_t first = op.getStart()[d], stride = op.getStrides()[d], reach = (sizes[d] - 1) * stride;
    if (stride < 0) {
      turnStart[d] = sizes[d] - 1;
      turn[d] = -1;
      first += reach;
      reach = -reach;
    }
    low[d] = first;
    high[d] = shape[d] - first - reach - 1;
    interior[d] = sizes[d] > 1 ? std::abs(stride) - 1 : 0;
  }
  return g.padZero(g.slice(grad, turnStart, sizes, turn), low, high, interior);
}

/// A slice at places known when it runs: scattered dimension by dimension.
static Value movingSliceGrad(GraphBuilder &g, SliceOp op, Value grad) {
  ArrayRef<int64_t> shape = tensorOf(op.getX()).getShape();
  for (auto [d, size] : llvm::enumerate(op.getSizes())) {
    int64_t stride = op.getStrides()[d], reach = (size - 1) * stride;
    if (size == shape[d] && stride == 1)
      continue;
    Value start = g.add(op.getOffsets()[d], static_cast<double>(op.getStart()[d]));
    start = g.binary(BinaryKind::Max, start, g.scalarI64(std::max<int64_t>(0, -reach)));
    start =
        g.binary(BinaryKind::Min, start, g.scalarI64(shape[d] - 1 - std::max<int64_t>(0, reach)));
    RankedTensorType index = tensorOf({size}, g.builder.getI64Type());
    Value steps = g.mul(g.iota(index, 0), static_cast<double>(stride));
    grad = scatterAlong(g, grad, g.add(steps, g.broadcastScalar(start, {size})), d, shape[d]);
  }
  return grad;
}

LogicalResult SliceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0] || !isFloatTensor(getX()) || llvm::is_contained(getSizes(), 0))
    return success();
  GraphBuilder g(builder, getLoc());
  operandGrads[0] = getOffsets().empty() ? fixedSliceGrad(g, *this, resultGrads[0])
                                         : movingSliceGrad(g, *this, resultGrads[0]);
  return success();
}

LogicalResult PadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0];
  if (!grad || !isFloatTensor(getX()))
    return success();
  GraphBuilder g(builder, getLoc());
  RankedTensorType type = tensorOf(getX());
  if (getMode() == PadKind::Constant) {
    SmallVector<int64_t> strides;
    for (int64_t i : getInterior())
      strides.push_back(i + 1);
    // An empty operand has no place in the result to be cut from.
    Value inner = type.getNumElements() ? g.slice(grad, getLow(), type.getShape(), strides)
                                        : g.splat(type, 0);
    if (needed[0])
      operandGrads[0] = inner;
    if (needed[1]) {
      auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
      operandGrads[1] = g.sub(g.sum(grad, all), g.sum(inner, all));
    }
    return success();
  }
  if (!needed[0])
    return success();
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!getLow()[d] && !getHigh()[d])
      continue;
    int64_t size = type.getDimSize(d);
    SmallVector<int64_t> shown;
    for (int64_t i = -getLow()[d]; i < size + getHigh()[d]; ++i)
      shown.push_back(paddedIndex(getMode(), i, size));
    RankedTensorType index = tensorOf({static_cast<int64_t>(shown.size())}, builder.getI64Type());
    Value indices =
        ConstantOp::create(builder, getLoc(), DenseElementsAttr::get(index, ArrayRef(shown)));
    grad = scatterAlong(g, grad, indices, d, size);
  }
  operandGrads[0] = grad;
  return success();
}

LogicalResult ConcatOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                 ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!resultGrads[0] || !isFloatTensor(getResult()))
    return success();
  GraphBuilder g(builder, getLoc());
  int64_t at = 0, dim = getDim();
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    int64_t size = tensorOf(input).getDimSize(dim);
    if (needed[i])
      operandGrads[i] = g.sliceDim(resultGrads[0], dim, at, size);
    at += size;
  }
  return success();
}

LogicalResult GatherOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                 ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0] || !isFloatTensor(getData()))
    return success();
  GraphBuilder g(builder, getLoc());
  RankedTensorType data = tensorOf(getData());
  auto size = static_cast<double>(data.getDimSize(getDim()));
  // Out of range gather reads the nearest slice, but scatter drops: clamp first.
  Value indices = getIndices();
  indices = g.binary(BinaryKind::Max, indices, g.like(indices, -size));
  indices = g.binary(BinaryKind::Min, indices, g.like(indices, size - 1));
  operandGrads[0] =
      ScatterOp::create(builder, getLoc(), g.splat(data, 0), indices, resultGrads[0], getDim(),
                        ReductionKindAttr::get(builder.getContext(), ReductionKind::Sum));
  return success();
}
