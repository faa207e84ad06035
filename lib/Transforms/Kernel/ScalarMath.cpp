//===- ScalarMath.cpp - f32 functions as arithmetic -----------------------===//
#include "lib/Transforms/Kernel/ScalarMath.h"

#include <limits>

using namespace mlir;
using namespace gpucc;
using P = arith::CmpFPredicate;

Type ScalarMath::like(Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}
/// `value` as a constant of `type`, in every lane of a vector.
static Value splat(OpBuilder &b, Location loc, Type type, TypedAttr value) {
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, loc, value);
}
Value ScalarMath::constant(double v) {
  return splat(b, loc, type, b.getFloatAttr(getElementTypeOrSelf(type), v));
}
Value ScalarMath::integer(int64_t v) {
  Type bitsType = b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  return splat(b, loc, like(bitsType), b.getIntegerAttr(bitsType, v));
}
Value ScalarMath::wide(uint64_t v) {
  return splat(b, loc, like(b.getI64Type()), b.getI64IntegerAttr(static_cast<int64_t>(v)));
}
Value ScalarMath::add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
Value ScalarMath::sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
Value ScalarMath::mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
Value ScalarMath::fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
Value ScalarMath::abs(Value x) { return math::AbsFOp::create(b, loc, x); }
Value ScalarMath::copySign(Value x, Value sign) {
  return math::CopySignOp::create(b, loc, x, sign);
}
Value ScalarMath::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
Value ScalarMath::compare(P predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, predicate, x, y);
}
Value ScalarMath::bits(Value x) {
  Type bitsType = b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  return arith::BitcastOp::create(b, loc, like(bitsType), x);
}
Value ScalarMath::fromBits(Value x) { return arith::BitcastOp::create(b, loc, type, x); }

Value ScalarMath::horner(Value x, ArrayRef<double> coefficients) {
  Value r = constant(coefficients.front());
  for (double c : coefficients.drop_front())
    r = fma(r, x, constant(c));
  return r;
}

// 2^n * p(r). n sits in the low bits of z (1.5 * 2^23 was added) and goes to the exponent of p.
// Coefficients: Cephes expf.
Value ScalarMath::expCore(Value x) {
  Value magic = constant(12582912.0);
  Value z = fma(x, constant(1.44269502162933349609), magic);
  Value n = sub(z, magic);
  Value r = fma(n, constant(-0.693145751953125), x);
  r = fma(n, constant(-1.428606765330187045e-6), r);
  Value p = horner(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                       1.6666665459e-1, 5.0000001201e-1, 1.0, 1.0});
  Value shift = arith::ShLIOp::create(b, loc, bits(z), integer(23));
  Value e = fromBits(arith::AddIOp::create(b, loc, bits(p), shift));
  return select(compare(P::OLT, x, constant(-87.33654)), constant(0.0), e);
}

Value ScalarMath::exp(Value x) {
  Value e = expCore(x);
  // NaN too: x + inf is right for both.
  Value over = compare(P::UGT, x, constant(88.72283935546875));
  return select(over, add(x, constant(std::numeric_limits<double>::infinity())), e);
}

// x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log m = f - f²/2 + f³ p(f). Cephes logf.
Value ScalarMath::log(Value x) {
  Value denormal = compare(P::OLT, x, constant(1.17549435e-38));
  Value scaled = select(denormal, mul(x, constant(8388608.0)), x);
  Value u = bits(scaled);
  // Shift the range so that the exponent changes at sqrt(1/2) (0x3f3504f3).
  Value t = arith::AddIOp::create(b, loc, u, integer(0x3f800000 - 0x3f3504f3));
  Value e =
      arith::SubIOp::create(b, loc, arith::ShRUIOp::create(b, loc, t, integer(23)), integer(127));
  Value m = arith::AddIOp::create(b, loc, arith::AndIOp::create(b, loc, t, integer(0x007fffff)),
                                  integer(0x3f3504f3));
  Value f = sub(fromBits(m), constant(1.0));
  Value n = arith::SIToFPOp::create(b, loc, type, e);
  n = select(denormal, sub(n, constant(23.0)), n);
  Value p = horner(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                       1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                       3.3333331174e-1});
  Value ff = mul(f, f);
  Value r = mul(mul(p, f), ff);
  r = fma(n, constant(-2.12194440e-4), r);
  r = fma(ff, constant(-0.5), r);
  r = add(f, r);
  r = fma(n, constant(0.693359375), r);
  double inf = std::numeric_limits<double>::infinity();
  r = select(compare(P::OEQ, x, constant(inf)), x, r);
  r = select(compare(P::OEQ, x, constant(0.0)), constant(-inf), r);
  // Negative and NaN.
  return select(compare(P::UGE, x, constant(0.0)), select(compare(P::UNO, x, x), x, r),
                constant(std::numeric_limits<double>::quiet_NaN()));
}

// |x| < 0.625: x + x³ p(x²) (Cephes tanhf); else 1 - 2 / (e^{2|x|} + 1) with the sign of x.
Value ScalarMath::tanh(Value x) {
  Value a = abs(x), q = mul(x, x);
  Value p = horner(q, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                       -3.33332819422e-1});
  Value small = fma(mul(p, q), x, x);
  Value e = exp(add(a, a));
  Value quotient = arith::DivFOp::create(b, loc, constant(2.0), add(e, constant(1.0)));
  Value large = copySign(sub(constant(1.0), quotient), x);
  return select(compare(P::OLT, a, constant(0.625)), small, large);
}

// |x| > 0.927734375: 1 - exp(poly(|x|)); else x + x poly(x²). Polynomials after N. Juffa's
// published single-precision erf (maximum error 1 ulp).
Value ScalarMath::erf(Value x) {
  Value t = abs(x), q = mul(x, x);
  Value r = fma(constant(-1.72853470e-5), t, constant(3.83197126e-4));
  Value u = fma(constant(-3.88396438e-3), t, constant(2.42546219e-2));
  r = fma(r, q, u);
  for (double c : {-1.06777877e-1, -6.34846687e-1, -1.28717512e-1})
    r = fma(r, t, constant(c));
  r = fma(r, t, arith::NegFOp::create(b, loc, t));
  Value large = copySign(sub(constant(1.0), expCore(r)), x);
  Value p = horner(q, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1,
                       1.28379166e-1});
  Value result = select(compare(P::OGT, t, constant(0.927734375)), large, fma(p, x, x));
  return select(compare(P::UNO, x, x), x, result);
}

// Above tan(3π/8): π/2 - atan(1/x); above tan(π/8): π/4 + atan((x-1)/(x+1)). Cephes atanf.
Value ScalarMath::atan(Value x) {
  Value a = abs(x), one = constant(1.0);
  Value far = compare(P::OGT, a, constant(2.414213562373095));
  Value mid = compare(P::OGT, a, constant(0.4142135623730950));
  Value numerator = select(far, constant(-1.0), select(mid, sub(a, one), a));
  Value denominator = select(far, a, select(mid, add(a, one), one));
  Value t = arith::DivFOp::create(b, loc, numerator, denominator);
  Value offset = select(far, constant(1.5707963267948966),
                        select(mid, constant(0.7853981633974483), constant(0.0)));
  Value q = mul(t, t);
  Value p = horner(q, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  Value y = add(offset, fma(mul(p, q), t, t));
  return select(compare(P::UNO, x, x), x, copySign(y, x));
}

// atanh series in s = (m-1)/(m+1), |s| < 0.172: log m = 2 s (1 + s²/3 + s⁴/5 + ...).
Value ScalarMath::logPositive64(Value x) {
  Value u = bits(x);
  int64_t root = 0x3fe6a09e667f3bcd; // sqrt(1/2)
  Value t = arith::AddIOp::create(b, loc, u, integer(0x3ff0000000000000 - root));
  Value e =
      arith::SubIOp::create(b, loc, arith::ShRUIOp::create(b, loc, t, integer(52)), integer(1023));
  Value m = fromBits(arith::AddIOp::create(
      b, loc, arith::AndIOp::create(b, loc, t, integer(0x000fffffffffffff)), integer(root)));
  Value s = arith::DivFOp::create(b, loc, sub(m, constant(1.0)), add(m, constant(1.0)));
  Value q = mul(s, s);
  Value p = horner(q, {1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3});
  Value two = add(s, s);
  Value logM = fma(mul(p, q), two, two);
  Value n = arith::SIToFPOp::create(b, loc, type, e);
  return fma(n, constant(0.69314718055994530942), logM);
}

// Taylor polynomial of degree 12 on |r| <= ln2/2.
Value ScalarMath::exp64(Value x) {
  Value magic = constant(6755399441055744.0); // 1.5 * 2^52
  Value z = fma(x, constant(1.44269504088896340736), magic);
  Value n = sub(z, magic);
  Value r = fma(n, constant(-0.693147180369123816490), x);
  r = fma(n, constant(-1.90821492927058770002e-10), r);
  SmallVector<double> c(13);
  double factorial = 1;
  for (int k = 0; k <= 12; ++k) {
    factorial *= k ? k : 1;
    c[12 - k] = 1 / factorial;
  }
  Value p = horner(r, c);
  Value shift = arith::ShLIOp::create(b, loc, bits(z), integer(52));
  return fromBits(arith::AddIOp::create(b, loc, bits(p), shift));
}

// Cases in the order of C's pow: y = 0 or x = 1 give 1; x < 0 needs an integer y and takes its
// parity; zeros and infinities go by the sign of y.
Value ScalarMath::pow(Value x, Value y) {
  double inf = std::numeric_limits<double>::infinity();
  Value a = abs(x), one = constant(1.0), zero = constant(0.0);
  ScalarMath wide(b, loc, b.getF64Type());
  Value wideA = arith::ExtFOp::create(b, loc, wide.type, a);
  Value wideY = arith::ExtFOp::create(b, loc, wide.type, y);
  Value exponent = wide.mul(wideY, wide.logPositive64(wideA));
  // Beyond ±200 the f32 result is 0 or inf; NaN is repaired below.
  exponent = wide.select(wide.compare(P::OLT, exponent, wide.constant(200.0)), exponent,
                         wide.constant(200.0));
  exponent = wide.select(wide.compare(P::OGT, exponent, wide.constant(-200.0)), exponent,
                         wide.constant(-200.0));
  Value r = arith::TruncFOp::create(b, loc, type, wide.exp64(exponent));
  Value positive = compare(P::OGT, y, zero);
  r = select(compare(P::OEQ, a, zero), select(positive, zero, constant(inf)), r);
  r = select(compare(P::OEQ, a, constant(inf)), select(positive, constant(inf), zero), r);
  Value absY = abs(y), infinite = compare(P::OEQ, absY, constant(inf));
  Value grows =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, compare(P::OGT, a, one), positive);
  Value limit = select(compare(P::OEQ, a, one), one, select(grows, constant(inf), zero));
  r = select(infinite, limit, r);
  // Parity of y: integers above 2^24 are even.
  Value isInteger = compare(P::OEQ, math::FloorOp::create(b, loc, y), y);
  Value half = mul(y, constant(0.5));
  Value isEven = compare(P::OEQ, math::FloorOp::create(b, loc, half), half);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits(x), integer(0));
  Value isOdd = select(isEven, arith::ConstantOp::create(b, loc, b.getBoolAttr(false)), isInteger);
  Value flip = arith::AndIOp::create(b, loc, isNegative, isOdd);
  r = select(flip, arith::NegFOp::create(b, loc, r), r);
  Value below = compare(P::OLT, x, zero);
  Value fraction =
      arith::AndIOp::create(b, loc, below, compare(P::UNE, math::FloorOp::create(b, loc, y), y));
  Value finite = compare(P::OLT, a, constant(inf));
  r = select(arith::AndIOp::create(b, loc, fraction, finite),
             constant(std::numeric_limits<double>::quiet_NaN()), r);
  r = select(compare(P::UNO, x, y), add(x, y), r);
  r = select(compare(P::OEQ, y, zero), one, r);
  return select(compare(P::OEQ, x, one), one, r);
}
