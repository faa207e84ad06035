//===- PointwiseInfer.cpp - types and constraints of pointwise ops --------===//
//
//   graph.unary is_nan %x : tensor<4xf32> yields tensor<4xi1>; every other kind keeps the type.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Infer.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Pointwise/PointwiseOps.cpp.inc"

static bool isWideInteger(Type t) { return isa<IntegerType>(t) && !t.isInteger(1); }

static bool allows(UnaryKind kind, Type element) {
  switch (kind) {
  case UnaryKind::Neg:
  case UnaryKind::Abs:
  case UnaryKind::Sign:
  case UnaryKind::Relu:
    return isa<FloatType>(element) || isWideInteger(element);
  case UnaryKind::Not:
    return isa<IntegerType>(element);
  default:
    return isa<FloatType>(element);
  }
}

static bool allows(BinaryKind kind, Type element) {
  switch (kind) {
  case BinaryKind::And:
  case BinaryKind::Or:
  case BinaryKind::Xor:
    return isa<IntegerType>(element);
  case BinaryKind::Shl:
  case BinaryKind::Shr:
    return isWideInteger(element);
  default:
    return isa<FloatType>(element) || isWideInteger(element);
  }
}

LogicalResult UnaryOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  UnaryKind kind = adaptor.getKind();
  if (!allows(kind, x.getElementType()))
    return c.fail("(C1) `" + stringifyUnaryKind(kind) + "` is not defined for " + str(x),
                  kind == UnaryKind::Not ? "`not` takes integers or i1"
                                         : "convert the operand with graph.convert");
  bool test = kind == UnaryKind::IsNan || kind == UnaryKind::IsInf;
  types.push_back(test ? x.clone(IntegerType::get(x.getContext(), 1)) : x);
  return success();
}

LogicalResult BinaryOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getLhs());
  if (failed(c.checkSame("C1", "lhs", x, "rhs", adaptor.getRhs().getType())))
    return failure();
  if (!allows(adaptor.getKind(), x.getElementType()))
    return c.fail("(C2) `" + stringifyBinaryKind(adaptor.getKind()) + "` is not defined for " +
                      str(x),
                  "convert the operands with graph.convert");
  types.push_back(x);
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getLhs());
  if (failed(c.checkSame("C1", "lhs", x, "rhs", adaptor.getRhs().getType())))
    return failure();
  types.push_back(x.clone(IntegerType::get(context, 1)));
  return success();
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  Type x = adaptor.getOnTrue().getType();
  if (failed(c.checkSame("C1", "on_true", x, "on_false", adaptor.getOnFalse().getType())))
    return failure();
  types.push_back(x);
  return success();
}

LogicalResult ConvertOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  if (!toDType(adaptor.getTo()))
    return c.fail("(C1) `to` is " + str(adaptor.getTo()) + ", which is no element type of graph",
                  "see include/gpucc/Facts/DType.h for the list");
  types.push_back(tensorOf(adaptor.getX()).clone(adaptor.getTo()));
  return success();
}
