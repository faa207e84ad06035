//===- ReductionInfer.cpp - types and constraints of reductions -----------===//
//
//   graph.reduce sum %x {dims = array<i64: 1>} : tensor<4x8xf32> yields tensor<4xf32>
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Infer.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Reduction/ReductionOps.cpp.inc"

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (failed(c.checkDims("C1", "dims", adaptor.getDims(), x.getRank(), /*ascending=*/true)))
    return failure();
  Type e = x.getElementType();
  bool logical = adaptor.getKind() == ReductionKind::And || adaptor.getKind() == ReductionKind::Or;
  if (logical ? !isa<IntegerType>(e) : e.isInteger(1))
    return c.fail("(C2) `" + stringifyReductionKind(adaptor.getKind()) + "` is not defined for " +
                      str(x),
                  "`and` and `or` take integers or i1, the others integers or floats; insert "
                  "graph.convert");
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.getRank(); ++d)
    if (!llvm::is_contained(adaptor.getDims(), d))
      shape.push_back(x.getDimSize(d));
  types.push_back(tensorOf(shape, e));
  return success();
}

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  int64_t dim = adaptor.getDim();
  if (failed(c.checkDim("C1", "dim", dim, x.getRank())))
    return failure();
  if (x.getDimSize(dim) == 0)
    return c.fail("(C1) dimension " + Twine(dim) + " of " + str(x) + " is empty",
                  "nothing has no greatest element");
  if (adaptor.getKind() != ReductionKind::Max && adaptor.getKind() != ReductionKind::Min)
    return c.fail("(C2) `kind` is " + stringifyReductionKind(adaptor.getKind()), "use max or min");
  SmallVector<int64_t> shape(x.getShape());
  shape.erase(shape.begin() + dim);
  types.push_back(tensorOf(shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (failed(c.checkDim("C1", "dim", adaptor.getDim(), x.getRank())))
    return failure();
  ReductionKind kind = adaptor.getKind();
  if (kind == ReductionKind::And || kind == ReductionKind::Or || x.getElementType().isInteger(1))
    return c.fail("(C2) `" + stringifyReductionKind(kind) + "` of " + str(x) + " is not defined",
                  "use sum, prod, max or min of floats or integers");
  types.push_back(x);
  return success();
}
