//===- PointwiseVjp.cpp - derivatives of pointwise ops --------------------===//
//
// Where a function has no derivative, PyTorch's choice: relu and abs give 0 at
// 0; maximum and minimum give half to each operand where they are equal; steps
// (sign, floor, ceil, rounding) have derivative 0.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::graph;

static bool isFloatTensor(Value v) { return isa<FloatType>(tensorOf(v).getElementType()); }

/// Null where the derivative is 0 everywhere.
static Value unaryGrad(GraphBuilder &g, UnaryKind kind, Value x, Value y, Value grad) {
  auto one = [&] { return g.like(x, 1); };
  auto square = [&](Value v) { return g.mul(v, v); };
  switch (kind) {
  case UnaryKind::Neg:
    return g.neg(grad);
  case UnaryKind::Abs:
    return g.mul(grad, g.unary(UnaryKind::Sign, x));
  case UnaryKind::Exp:
    return g.mul(grad, y);
  case UnaryKind::Expm1:
    return g.mul(grad, g.add(y, 1));
  case UnaryKind::Log:
    return g.div(grad, x);
  case UnaryKind::Log1p:
    return g.div(grad, g.add(x, 1));
  case UnaryKind::Sqrt:
    return g.div(grad, g.mul(y, 2));
  case UnaryKind::Rsqrt:
    return g.mul(grad, g.mul(g.mul(square(y), y), -0.5));
  case UnaryKind::Reciprocal:
    return g.neg(g.mul(grad, square(y)));
  case UnaryKind::Tanh:
    return g.mul(grad, g.sub(one(), square(y)));
  case UnaryKind::Erf:
    return g.mul(grad, g.mul(g.exp(g.neg(square(x))), M_2_SQRTPI));
  case UnaryKind::Logistic:
    return g.mul(grad, g.mul(y, g.sub(one(), y)));
  case UnaryKind::Relu: // by the result, so that x need not be kept
    return g.select(g.compare(CompareKind::Le, y, 0.0), g.like(grad, 0), grad);
  case UnaryKind::Sin:
    return g.mul(grad, g.unary(UnaryKind::Cos, x));
  case UnaryKind::Cos:
    return g.neg(g.mul(grad, g.unary(UnaryKind::Sin, x)));
  case UnaryKind::Tan:
    return g.mul(grad, g.add(square(y), 1));
  case UnaryKind::Asin:
    return g.mul(grad, g.rsqrt(g.sub(one(), square(x))));
  case UnaryKind::Acos:
    return g.neg(g.mul(grad, g.rsqrt(g.sub(one(), square(x)))));
  case UnaryKind::Atan:
    return g.div(grad, g.add(square(x), 1));
  case UnaryKind::Sinh:
    return g.mul(grad, g.unary(UnaryKind::Cosh, x));
  case UnaryKind::Cosh:
    return g.mul(grad, g.unary(UnaryKind::Sinh, x));
  case UnaryKind::Asinh:
    return g.mul(grad, g.rsqrt(g.add(square(x), 1)));
  case UnaryKind::Acosh:
    return g.mul(grad, g.rsqrt(g.add(square(x), -1)));
  case UnaryKind::Atanh:
    return g.div(grad, g.sub(one(), square(x)));
  case UnaryKind::Sign:
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::RoundEven:
  case UnaryKind::Not:
  case UnaryKind::IsNan:
  case UnaryKind::IsInf:
    return {};
  }
  llvm_unreachable("all kinds are listed");
}

LogicalResult UnaryOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  GraphBuilder g(builder, getLoc());
  if (needed[0] && resultGrads[0] && isFloatTensor(getX()))
    operandGrads[0] = unaryGrad(g, getKind(), getX(), getResult(), resultGrads[0]);
  return success();
}

/// d pow(a, b) in a: b a^(b-1), and 0 for b = 0 also where a^(b-1) is infinite.
static Value powBaseGrad(GraphBuilder &g, Value a, Value b, Value grad) {
  Value power = g.binary(BinaryKind::Pow, a, g.add(b, -1));
  return g.select(g.compare(CompareKind::Eq, b, 0.0), g.like(grad, 0),
                  g.mul(grad, g.mul(b, power)));
}

/// d pow(a, b) in b: y log(a), and 0 where a = 0 and b ≥ 0 (y is constant there).
static Value powExponentGrad(GraphBuilder &g, Value a, Value b, Value y, Value grad) {
  Value flat = g.binary(BinaryKind::And, g.compare(CompareKind::Eq, a, 0.0),
                        g.compare(CompareKind::Ge, b, 0.0));
  return g.select(flat, g.like(grad, 0), g.mul(grad, g.mul(y, g.log(a))));
}

/// All of the gradient where `x` wins against `other`, half where they are equal.
static Value winnerGrad(GraphBuilder &g, CompareKind loses, Value x, Value other, Value grad) {
  Value tied = g.select(g.compare(CompareKind::Eq, x, other), g.mul(grad, 0.5), grad);
  return g.select(g.compare(loses, x, other), g.like(grad, 0), tied);
}

LogicalResult BinaryOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                 ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0], a = getLhs(), b = getRhs(), y = getResult();
  if (!grad || !isFloatTensor(a))
    return success();
  GraphBuilder g(builder, getLoc());
  auto set = [&](size_t i, auto make) {
    if (needed[i])
      operandGrads[i] = make();
  };
  switch (getKind()) {
  case BinaryKind::Add:
    set(0, [&] { return grad; });
    set(1, [&] { return grad; });
    break;
  case BinaryKind::Sub:
    set(0, [&] { return grad; });
    set(1, [&] { return g.neg(grad); });
    break;
  case BinaryKind::Mul:
    set(0, [&] { return g.mul(grad, b); });
    set(1, [&] { return g.mul(grad, a); });
    break;
  case BinaryKind::Div:
    set(0, [&] { return g.div(grad, b); });
    set(1, [&] { return g.neg(g.mul(grad, g.div(y, b))); });
    break;
  case BinaryKind::Pow:
    set(0, [&] { return powBaseGrad(g, a, b, grad); });
    set(1, [&] { return powExponentGrad(g, a, b, y, grad); });
    break;
  case BinaryKind::Max:
  case BinaryKind::Min: {
    CompareKind loses = getKind() == BinaryKind::Max ? CompareKind::Lt : CompareKind::Gt;
    set(0, [&] { return winnerGrad(g, loses, a, b, grad); });
    set(1, [&] { return winnerGrad(g, loses, b, a, grad); });
    break;
  }
  case BinaryKind::Rem: // y = a - q b with the integer q that the division gave
  case BinaryKind::Mod:
    set(0, [&] { return grad; });
    set(1, [&] {
      Value q = g.unary(UnaryKind::RoundEven, g.div(g.sub(a, y), b));
      return g.neg(g.mul(grad, q));
    });
    break;
  default:
    break; // bits have no derivative
  }
  return success();
}

LogicalResult CompareOp::buildVjp(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                  MutableArrayRef<Value>) {
  return success(); // steps: zero
}

LogicalResult SelectOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                 ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0];
  if (!grad || !isFloatTensor(getResult()))
    return success();
  GraphBuilder g(builder, getLoc());
  if (needed[1])
    operandGrads[1] = g.select(getCondition(), grad, g.like(grad, 0));
  if (needed[2])
    operandGrads[2] = g.select(getCondition(), g.like(grad, 0), grad);
  return success();
}

LogicalResult ConvertOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0] && isFloatTensor(getX()) && isFloatTensor(getResult()))
    operandGrads[0] =
        GraphBuilder(builder, getLoc()).convert(resultGrads[0], tensorOf(getX()).getElementType());
  return success();
}
