//===- Hyperbolic.cpp - sinh, cosh and the inverses -----------------------===//
//
// Through expm1 and log1p, which keep their relative error near zero; the greedy driver expands
// those in turn. Odd functions are computed on |x| and take the sign of x. With a = |x|:
//
//   sinh  t = expm1(a): (t + t / (t + 1)) / 2         asinh  log1p(a + a² / (1 + sqrt(1 + a²)))
//   cosh  h = e^{a/2}: h²/2 + 1 / (2 h²)              acosh  t = x - 1: log1p(t + sqrt(2t + t²))
//                                                     atanh  log1p(2a / (1 - a)) / 2
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Kernel/ScalarMath.h"

using namespace mlir;
using namespace gpucc;
using P = arith::CmpFPredicate;

Value ScalarMath::divide(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
Value ScalarMath::sqrt(Value x) { return math::SqrtOp::create(b, loc, x); }
Value ScalarMath::log1p(Value x) { return math::Log1pOp::create(b, loc, x); }

/// e^a / 2 without overflow on the way.
Value ScalarMath::halfExp(Value a) {
  Value h = exp(mul(a, constant(0.5)));
  return mul(mul(h, constant(0.5)), h);
}

Value ScalarMath::sinh(Value x) {
  Value a = abs(x), t = math::ExpM1Op::create(b, loc, a);
  Value small = mul(constant(0.5), add(t, divide(t, add(t, constant(1.0)))));
  Value large = compare(P::OGT, a, constant(20.0)); // e^{-a} is lost in e^a
  return copySign(select(large, halfExp(a), small), x);
}

Value ScalarMath::cosh(Value x) {
  Value half = halfExp(abs(x));
  return add(half, divide(constant(0.25), half));
}

Value ScalarMath::asinh(Value x) {
  Value a = abs(x), square = mul(a, a), one = constant(1.0);
  Value small = log1p(add(a, divide(square, add(one, sqrt(add(one, square))))));
  Value large = add(log(a), constant(0.69314718055994531));
  return copySign(select(compare(P::OGT, a, constant(1e8)), large, small), x);
}

Value ScalarMath::acosh(Value x) {
  Value t = sub(x, constant(1.0));
  Value small = log1p(add(t, sqrt(fma(t, t, add(t, t)))));
  Value large = add(log(x), constant(0.69314718055994531));
  return select(compare(P::OGT, x, constant(1e8)), large, small);
}

Value ScalarMath::atanh(Value x) {
  Value a = abs(x);
  Value ratio = divide(add(a, a), sub(constant(1.0), a));
  return copySign(mul(constant(0.5), log1p(ratio)), x);
}
