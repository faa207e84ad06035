//===- PointwiseScalar.cpp - pointwise ops as scalar expressions ----------===//
//
//   graph.binary add : tensor<4xf32>   is   arith.addf %a, %b : f32
//
// For gelu and silu see here too; a reduction's body is its combiner.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Infer.h"
#include "dialects/Graph/Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::graph;

static bool isUnsignedTensor(Value v) { return tensorOf(v).getElementType().isUnsignedInteger(); }

SmallVector<Value> UnaryOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  return {ScalarBuilder(builder, loc).unary(getKind(), args[0], isUnsignedTensor(getX()))};
}

SmallVector<Value> BinaryOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  return {
      ScalarBuilder(builder, loc).binary(getKind(), args[0], args[1], isUnsignedTensor(getLhs()))};
}

SmallVector<Value> CompareOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  return {
      ScalarBuilder(builder, loc).compare(getKind(), args[0], args[1], isUnsignedTensor(getLhs()))};
}

SmallVector<Value> SelectOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  return {ScalarBuilder(builder, loc).select(args[0], args[1], args[2])};
}

SmallVector<Value> ConvertOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  Type to = getTo();
  bool toUnsigned = to.isUnsignedInteger();
  if (toUnsigned)
    to = IntegerType::get(to.getContext(), to.getIntOrFloatBitWidth());
  return {ScalarBuilder(builder, loc).convert(args[0], isUnsignedTensor(getX()), to, toUnsigned)};
}

SmallVector<Value> GeluOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s(builder, loc);
  Value x = s.widen(args[0]), inner;
  Type type = x.getType();
  if (getForm() == GeluKind::Erf) {
    inner = math::ErfOp::create(builder, loc, s.mul(x, s.constant(type, M_SQRT1_2)));
  } else {
    Value cubic = s.mul(s.mul(s.mul(x, x), x), s.constant(type, 0.044715));
    inner = math::TanhOp::create(builder, loc,
                                 s.mul(s.add(x, cubic), s.constant(type, M_2_SQRTPI * M_SQRT1_2)));
  }
  Value y = s.mul(s.mul(x, s.constant(type, 0.5)), s.add(inner, s.constant(type, 1)));
  return {s.narrow(y, args[0].getType())};
}

SmallVector<Value> SiluOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s(builder, loc);
  Value x = s.widen(args[0]);
  return {s.narrow(s.mul(x, s.logistic(x)), args[0].getType())};
}

/// The combiner: args are what is accumulated so far and the next element, both in the type of
/// accumulation (f32 for sums of narrower floats).
SmallVector<Value> ReduceOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  constexpr BinaryKind kinds[] = {BinaryKind::Add, BinaryKind::Mul, BinaryKind::Max,
                                  BinaryKind::Min, BinaryKind::And, BinaryKind::Or};
  return {
      ScalarBuilder(builder, loc)
          .binary(kinds[static_cast<int>(getKind())], args[0], args[1], isUnsignedTensor(getX()))};
}
