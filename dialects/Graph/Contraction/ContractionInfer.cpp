//===- ContractionInfer.cpp - types and constraints of contractions -------===//
//
//   contract x[8,16] · w[16,4] over (1, 0) is [8,4]
//   convolution [1,3,8,8] * [4,3,3,3], pads 1, strides 2 is [1,4,4,4]
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Geometry.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Contraction/ContractionOps.cpp.inc"

static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d))
      dims.push_back(d);
  return dims;
}

SmallVector<int64_t> ContractOp::getLhsFree() {
  return freeDims(tensorOf(getLhs()).getRank(), getLhsBatch(), getLhsContract());
}

SmallVector<int64_t> ContractOp::getRhsFree() {
  return freeDims(tensorOf(getRhs()).getRank(), getRhsBatch(), getRhsContract());
}

/// (C1) and (C2) for one kind of paired dimensions.
static LogicalResult checkPairs(const InferContext &c, StringRef kind, RankedTensorType lhs,
                                RankedTensorType rhs, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
  if (l.size() != r.size())
    return c.fail("(C1) `lhs_" + kind + "` = " + str(l) + " and `rhs_" + kind + "` = " + str(r) +
                      " differ in length",
                  "each dimension of lhs is paired with one of rhs");
  if (failed(c.checkDims("C1", ("lhs_" + kind).str(), l, lhs.getRank(), /*ascending=*/false)) ||
      failed(c.checkDims("C1", ("rhs_" + kind).str(), r, rhs.getRank(), /*ascending=*/false)))
    return failure();
  for (auto [a, b] : llvm::zip(l, r))
    if (lhs.getDimSize(a) != rhs.getDimSize(b))
      return c.fail("(C2) lhs dimension " + Twine(a) + " has size " + Twine(lhs.getDimSize(a)) +
                        ", its partner, rhs dimension " + Twine(b) + ", has " +
                        Twine(rhs.getDimSize(b)),
                    "paired dimensions have equal sizes");
  return success();
}

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType lhs = tensorOf(adaptor.getLhs()), rhs = tensorOf(adaptor.getRhs());
  ArrayRef<int64_t> lb = adaptor.getLhsBatch(), rb = adaptor.getRhsBatch(),
                    lc = adaptor.getLhsContract(), rc = adaptor.getRhsContract();
  if (failed(checkPairs(c, "batch", lhs, rhs, lb, rb)) ||
      failed(checkPairs(c, "contract", lhs, rhs, lc, rc)))
    return failure();
  for (auto [batch, contract] : {std::pair(lb, lc), std::pair(rb, rc)})
    for (int64_t d : batch)
      if (llvm::is_contained(contract, d))
        return c.fail("(C1) dimension " + Twine(d) + " is both batch and contracted",
                      "batch dimensions appear in the result, contracted ones are summed");
  if (lhs.getElementType() != rhs.getElementType())
    return c.fail("(C3) lhs is " + str(lhs) + ", rhs is " + str(rhs),
                  "convert one operand with graph.convert");
  SmallVector<int64_t> shape;
  for (int64_t d : lb)
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d : freeDims(lhs.getRank(), lb, lc))
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d : freeDims(rhs.getRank(), rb, rc))
    shape.push_back(rhs.getDimSize(d));
  Type element = adaptor.getOut().value_or(lhs.getElementType());
  if (!toDType(element) || isa<FloatType>(element) != isa<FloatType>(lhs.getElementType()))
    return c.fail("(C3) `out` is " + str(element) + " for operands of " + str(lhs.getElementType()),
                  "products of floats are floats, of integers integers");
  types.push_back(tensorOf(shape, element));
  return success();
}

/// Result shape of a convolution, with all constraints checked.
static FailureOr<SmallVector<int64_t>> convolutionShape(const InferContext &c,
                                                        ArrayRef<int64_t> input,
                                                        ArrayRef<int64_t> filter,
                                                        const WindowGeometry &g, int64_t groups) {
  if (input.size() != filter.size() || input.size() < 3 || input.size() > 5)
    return c.fail("(C1) the input has shape " + str(input) + ", the filter " + str(filter),
                  "ranks are equal and 3 to 5: N, C, spatial and O, C/groups, spatial");
  if (groups < 1 || input[1] != groups * filter[1] || filter[0] % groups != 0)
    return c.fail("(C2) input " + str(input) + ", filter " + str(filter) +
                      " and groups = " + Twine(groups) + " do not fit",
                  "the input's channels are groups times the filter's second dimension, and groups "
                  "divide the filter's first");
  if (failed(g.check(c, "C1", "C3", input.drop_front(2), filter.drop_front(2))))
    return failure();
  SmallVector<int64_t> shape{input[0], filter[0]};
  for (size_t d = 0; d + 2 < input.size(); ++d)
    shape.push_back(g.outSize(d, input[d + 2], filter[d + 2]));
  return shape;
}

template <typename Adaptor> static WindowGeometry geometryOf(Adaptor &a) {
  return {a.getStrides(), a.getPadsLow(), a.getPadsHigh(), a.getDilations()};
}

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getInput()), w = tensorOf(adaptor.getFilter());
  if (x.getElementType() != w.getElementType())
    return c.fail("(C4) the input is " + str(x) + ", the filter " + str(w),
                  "convert one of them with graph.convert");
  bool last = adaptor.getChannelsLast() && x.getRank() >= 3;
  auto input = last ? channelsFirst(x.getShape()) : SmallVector<int64_t>(x.getShape());
  auto shape = convolutionShape(c, input, w.getShape(), geometryOf(adaptor), adaptor.getGroups());
  if (failed(shape))
    return failure();
  types.push_back(tensorOf(last ? channelsLast(*shape) : *shape, x.getElementType()));
  return success();
}

/// Checks that `grad` is the result of convolving input with filter.
static LogicalResult checkGrad(const InferContext &c, RankedTensorType grad, RankedTensorType other,
                               FailureOr<SmallVector<int64_t>> expected) {
  if (failed(expected))
    return failure();
  if (grad.getShape() == ArrayRef(*expected) && grad.getElementType() == other.getElementType())
    return success();
  return c.fail("(C1) grad is " + str(grad) + ", the convolution has shape " + str(*expected) +
                    " and element type " + str(other.getElementType()),
                "correct the shape attribute, the strides or the pads");
}

LogicalResult ConvolutionInputGradOp::inferReturnTypes(MLIRContext *,
                                                       std::optional<Location> location,
                                                       Adaptor adaptor,
                                                       SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType grad = tensorOf(adaptor.getGrad()), w = tensorOf(adaptor.getFilter());
  ArrayRef<int64_t> input = adaptor.getInputShape();
  if (failed(c.checkAtLeast("C1", "input_shape", input, 0)) ||
      failed(checkGrad(
          c, grad, w,
          convolutionShape(c, input, w.getShape(), geometryOf(adaptor), adaptor.getGroups()))))
    return failure();
  types.push_back(tensorOf(input, grad.getElementType()));
  return success();
}

LogicalResult ConvolutionFilterGradOp::inferReturnTypes(MLIRContext *,
                                                        std::optional<Location> location,
                                                        Adaptor adaptor,
                                                        SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getInput()), grad = tensorOf(adaptor.getGrad());
  ArrayRef<int64_t> filter = adaptor.getFilterShape();
  if (failed(c.checkAtLeast("C1", "filter_shape", filter, 0)) ||
      failed(checkGrad(
          c, grad, x,
          convolutionShape(c, x.getShape(), filter, geometryOf(adaptor), adaptor.getGroups()))))
    return failure();
  types.push_back(tensorOf(filter, grad.getElementType()));
  return success();
}
