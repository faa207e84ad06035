//===- MovementInfer.cpp - types and constraints of movement --------------===//
//
//   graph.slice %x {start = [8], sizes = [3], strides = [-2]} : tensor<9xf32> reads 8, 6, 4
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Infer.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Movement/MovementOps.cpp.inc"

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (failed(c.checkAtLeast("C1", "shape", adaptor.getShape(), 0)))
    return failure();
  int64_t count = 1;
  for (int64_t d : adaptor.getShape())
    count *= d;
  if (count != x.getNumElements())
    return c.fail("(C1) `shape` = " + str(adaptor.getShape()) + " has " + Twine(count) +
                      " elements, " + str(x) + " has " + Twine(x.getNumElements()),
                  "a reshape keeps the number of elements");
  types.push_back(tensorOf(adaptor.getShape(), x.getElementType()));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(c.checkLength("C1", "permutation", permutation, x.getRank())) ||
      failed(c.checkDims("C1", "permutation", permutation, x.getRank(), /*ascending=*/false)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t p : permutation)
    shape.push_back(x.getDimSize(p));
  types.push_back(tensorOf(shape, x.getElementType()));
  return success();
}

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  ArrayRef<int64_t> shape = adaptor.getShape(), dims = adaptor.getDims();
  if (failed(c.checkLength("C1", "dims", dims, x.getRank())) ||
      failed(c.checkDims("C1", "dims", dims, shape.size(), /*ascending=*/true)) ||
      failed(c.checkAtLeast("C1", "shape", shape, 0)))
    return failure();
  for (auto [d, to] : llvm::enumerate(dims))
    if (x.getDimSize(d) != 1 && x.getDimSize(d) != shape[to])
      return c.fail("(C2) operand dimension " + Twine(d) + " has size " + Twine(x.getDimSize(d)) +
                        ", result dimension " + Twine(to) + " has " + Twine(shape[to]),
                    "only a dimension of size 1 can be repeated");
  types.push_back(tensorOf(shape, x.getElementType()));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  ArrayRef<int64_t> start = adaptor.getStart(), sizes = adaptor.getSizes(),
                    strides = adaptor.getStrides();
  if (failed(c.checkLength("C1", "start", start, x.getRank())) ||
      failed(c.checkLength("C1", "sizes", sizes, x.getRank())) ||
      failed(c.checkLength("C1", "strides", strides, x.getRank())))
    return failure();
  int64_t offsets = adaptor.getOffsets().size();
  if (offsets != 0 && offsets != x.getRank())
    return c.fail("(C1) has " + Twine(offsets) + " offsets for " + str(x),
                  "give none or one scalar i64 per dimension");
  if (failed(c.checkAtLeast("C2", "sizes", sizes, 0)))
    return failure();
  for (int64_t d = 0; d < x.getRank(); ++d) {
    if (strides[d] == 0)
      return c.fail("(C2) stride " + Twine(d) + " is 0", "use graph.broadcast to repeat elements");
    if (sizes[d] == 0)
      continue;
    int64_t last = start[d] + (sizes[d] - 1) * strides[d];
    if (std::min(start[d], last) < 0 || std::max(start[d], last) >= x.getDimSize(d))
      return c.fail("(C2) reads indices " + Twine(start[d]) + " to " + Twine(last) +
                        " of dimension " + Twine(d) + " of size " + Twine(x.getDimSize(d)),
                    "first and last element lie inside the operand");
  }
  types.push_back(tensorOf(sizes, x.getElementType()));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh(),
                    interior = adaptor.getInterior();
  if (failed(c.checkLength("C1", "low", low, x.getRank())) ||
      failed(c.checkLength("C1", "high", high, x.getRank())) ||
      failed(c.checkLength("C1", "interior", interior, x.getRank())) ||
      failed(c.checkAtLeast("C1", "low", low, 0)) ||
      failed(c.checkAtLeast("C1", "high", high, 0)) ||
      failed(c.checkAtLeast("C1", "interior", interior, 0)))
    return failure();
  PadKind mode = adaptor.getMode();
  bool constant = mode == PadKind::Constant;
  Value value = adaptor.getValue();
  if (constant != static_cast<bool>(value))
    return c.fail("(C2) mode " + stringifyPadKind(mode) +
                      (value ? " has a value" : " has no value"),
                  "mode constant takes a scalar value, the other modes read the operand");
  if (value && value.getType() != tensorOf({}, x.getElementType()))
    return c.fail("(C2) the value is " + str(value.getType()) + " for " + str(x),
                  "give a scalar of the operand's element type");
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.getRank(); ++d) {
    int64_t size = x.getDimSize(d), most = std::max(low[d], high[d]);
    if (!constant && interior[d] != 0)
      return c.fail("(C3) mode " + stringifyPadKind(mode) + " with interior padding " +
                        Twine(interior[d]) + " in dimension " + Twine(d),
                    "only mode constant fills between elements");
    if (mode == PadKind::Reflect && most && most >= size)
      return c.fail("(C3) reflects " + Twine(most) + " elements of dimension " + Twine(d) +
                        " of size " + Twine(size),
                    "reflect pads less than the dimension");
    if (!constant && most && size == 0)
      return c.fail("(C3) mode " + stringifyPadKind(mode) + " of empty dimension " + Twine(d),
                    "there is no element to repeat");
    shape.push_back(low[d] + high[d] + size + (size > 0 ? (size - 1) * interior[d] : 0));
  }
  types.push_back(tensorOf(shape, x.getElementType()));
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  if (adaptor.getInputs().empty())
    return c.fail("(C1) has no operand", "concat joins at least one tensor");
  RankedTensorType first = tensorOf(adaptor.getInputs().front());
  int64_t dim = adaptor.getDim();
  if (failed(c.checkDim("C2", "dim", dim, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (auto [i, input] : llvm::enumerate(adaptor.getInputs().drop_front())) {
    RankedTensorType t = tensorOf(input);
    if (t.getRank() != first.getRank() || t.getElementType() != first.getElementType())
      return c.fail("(C1) operand " + Twine(i + 1) + " is " + str(t) + ", operand 0 is " +
                        str(first),
                    "ranks and element types are equal");
    for (int64_t d = 0; d < t.getRank(); ++d)
      if (d != dim && t.getDimSize(d) != first.getDimSize(d))
        return c.fail("(C2) operand " + Twine(i + 1) + " is " + str(t) + ", operand 0 is " +
                          str(first),
                      "only dimension " + Twine(dim) + " may differ");
    shape[dim] += t.getDimSize(dim);
  }
  types.push_back(tensorOf(shape, first.getElementType()));
  return success();
}

/// Shape of gather(data, indices, dim).
static SmallVector<int64_t> gatherShape(RankedTensorType data, RankedTensorType indices,
                                        int64_t dim) {
  SmallVector<int64_t> shape(data.getShape().take_front(dim));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, data.getShape().drop_front(dim + 1));
  return shape;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType data = tensorOf(adaptor.getData());
  int64_t dim = adaptor.getDim();
  if (failed(c.checkDim("C1", "dim", dim, data.getRank())))
    return failure();
  if (data.getDimSize(dim) == 0)
    return c.fail("(C1) dimension " + Twine(dim) + " of " + str(data) + " is empty",
                  "there is no slice to read");
  types.push_back(
      tensorOf(gatherShape(data, tensorOf(adaptor.getIndices()), dim), data.getElementType()));
  return success();
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType data = tensorOf(adaptor.getData());
  if (failed(c.checkDim("C1", "dim", adaptor.getDim(), data.getRank())))
    return failure();
  RankedTensorType expected = tensorOf(
      gatherShape(data, tensorOf(adaptor.getIndices()), adaptor.getDim()), data.getElementType());
  if (adaptor.getUpdates().getType() != expected)
    return c.fail("(C2) updates are " + str(adaptor.getUpdates().getType()) +
                      ", gather(data, indices, dim) would be " + str(expected),
                  "reshape or convert the updates");
  std::optional<ReductionKind> kind = adaptor.getKind();
  if (kind && (*kind == ReductionKind::And || *kind == ReductionKind::Or))
    return c.fail("(C3) `kind` is " + stringifyReductionKind(*kind),
                  "use sum, prod, max or min, or none to overwrite");
  types.push_back(data);
  return success();
}
