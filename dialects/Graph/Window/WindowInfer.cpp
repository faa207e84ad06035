//===- WindowInfer.cpp - types and constraints of pooling -----------------===//
//
//   graph.pool max, window 2x2, strides 2x2 : tensor<1x3x8x8xf32> yields tensor<1x3x4x4xf32>
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Geometry.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Window/WindowOps.cpp.inc"

/// Shape of the pool of `x`; `extra_high` lengthens the last window's reach.
template <typename Adaptor>
static FailureOr<SmallVector<int64_t>> poolShape(const InferContext &c, Adaptor &a) {
  RankedTensorType x = tensorOf(a.getX());
  int64_t spatial = x.getRank() - 2;
  if (spatial < 1 || spatial > 3)
    return c.fail("(C1) the operand is " + str(x), "rank is 3 to 5: N, C and spatial dimensions");
  if (failed(c.checkLength("C1", "pads_high", a.getPadsHigh(), spatial)) ||
      failed(c.checkLength("C1", "extra_high", a.getExtraHigh(), spatial)) ||
      failed(c.checkAtLeast("C2", "pads_high", a.getPadsHigh(), 0)) ||
      failed(c.checkAtLeast("C2", "extra_high", a.getExtraHigh(), 0)))
    return failure();
  SmallVector<int64_t> high;
  for (auto [p, e] : llvm::zip(a.getPadsHigh(), a.getExtraHigh()))
    high.push_back(p + e);
  WindowGeometry g{a.getStrides(), a.getPadsLow(), high, a.getDilations()};
  ArrayRef<int64_t> in = x.getShape().drop_front(2);
  if (failed(g.check(c, "C1", "C2", in, a.getWindow())))
    return failure();
  SmallVector<int64_t> shape{x.getDimSize(0), x.getDimSize(1)};
  for (int64_t d = 0; d < spatial; ++d)
    shape.push_back(g.outSize(d, in[d], a.getWindow()[d]));
  return shape;
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  auto shape = poolShape(c, adaptor);
  if (failed(shape))
    return failure();
  types.push_back(tensorOf(*shape, tensorOf(adaptor.getX()).getElementType()));
  return success();
}

LogicalResult PoolGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX()), grad = tensorOf(adaptor.getGrad());
  auto shape = poolShape(c, adaptor);
  if (failed(shape))
    return failure();
  if (grad != tensorOf(*shape, x.getElementType()))
    return c.fail("(C1) grad is " + str(grad) + ", the pool of x has shape " + str(*shape),
                  "give the gradient of the pool's result, in x's element type");
  types.push_back(x);
  return success();
}
