//===- Trigonometry.cpp - sine, cosine and tangent of f32 -----------------===//
//
// x = quadrant * π/2 + rest; then a polynomial of the rest. Up to 2^20 the rest is
// x - n π/2 with π/2 in three parts. Above that x = m * 2^(s-3) with m < 2^24 and
// s < 108, and
//
//   x / 2π mod 1 = m * (2^s / 16π mod 1) mod 1
//
// so 96 bits of 1/16π from bit s on are enough, whatever the size of x (Payne and
// Hanek 1983): 64 bits of the turn remain, of which the nearest f32 to a multiple
// of π/2 needs 58.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Kernel/ScalarMath.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>

using namespace mlir;
using namespace gpucc;

/// 2^20 and infinity by their bits: what lies between is far.
static constexpr int64_t firstFar = 0x49800000, infinite = 0x7f800000;

// n = round(x 2/π), rest = x - n π/2 in three parts.
ScalarMath::Angle ScalarMath::nearAngle(Value x) {
  Value magic = constant(12582912.0);
  Value z = fma(x, constant(0.636619772367581343), magic);
  Value n = sub(z, magic);
  Value r = fma(n, constant(-1.5707962512969971), x);
  r = fma(n, constant(-7.5497894158615964e-8), r);
  r = fma(n, constant(-5.3903029534742384e-15), r);
  return {r, bits(z)};
}

ScalarMath::Angle ScalarMath::farAngle(Value x) {
  // 1/16π = 0.0517cc1b'727220a9... in base 2^32; neighbouring words as pairs.
  static constexpr std::array<uint64_t, 7> words = {0x0517cc1b, 0x727220a9, 0x4fe13abe, 0x8fa9a6ee,
                                                    0x06db14ac, 0xc9e21c82, 0x0ff28b1d};
  auto left = [&](Value v, Value by) { return arith::ShLIOp::create(b, loc, v, by).getResult(); };
  auto right = [&](Value v, Value by) { return arith::ShRUIOp::create(b, loc, v, by).getResult(); };
  auto both = [&](Value v, Value w) { return arith::AndIOp::create(b, loc, v, w).getResult(); };
  auto plus = [&](Value v, Value w) { return arith::AddIOp::create(b, loc, v, w).getResult(); };
  auto times = [&](Value v, Value w) { return arith::MulIOp::create(b, loc, v, w).getResult(); };
  auto has = [&](Value v, int64_t bit) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, both(v, integer(bit)),
                                 integer(0));
  };
  Type i64 = like(b.getI64Type());
  Value u = both(bits(x), integer(0x7fffffff));
  Value s = arith::SubIOp::create(b, loc, right(u, integer(23)), integer(147));
  Value m = plus(both(u, integer(0x7fffff)), integer(0x800000));
  m = arith::ExtUIOp::create(b, loc, i64, m);
  // 32 bits of the window, the j-th from bit s on.
  Value upper = has(s, 64), lower = has(s, 32);
  Value within = arith::ExtUIOp::create(b, loc, i64, both(s, integer(31)));
  auto window = [&](unsigned j) {
    auto pair = [&](unsigned i) { return wide(words[i] << 32 | words[i + 1]); };
    Value chosen =
        select(upper, select(lower, pair(j + 3), pair(j + 2)), select(lower, pair(j + 1), pair(j)));
    return right(left(chosen, within), wide(32));
  };
  Value low = times(m, window(2));
  Value middle = plus(times(m, window(1)), right(low, wide(32)));
  Value high = plus(times(m, window(0)), right(middle, wide(32)));
  Value turn = plus(left(high, wide(32)), both(middle, wide(0xffffffff)));
  Value quadrant = right(plus(turn, wide(uint64_t(1) << 61)), wide(62));
  Value rest = arith::SubIOp::create(b, loc, turn, left(quadrant, wide(62)));
  ScalarMath exact(b, loc, like(b.getF64Type()));
  Value r = arith::SIToFPOp::create(b, loc, exact.type, rest);
  r = exact.mul(r, exact.constant(1.57079632679489661923 * 0x1p-62));
  r = arith::TruncFOp::create(b, loc, type, r);
  // For -x both change sign.
  Value sign = both(bits(x), integer(INT32_MIN));
  r = fromBits(arith::XOrIOp::create(b, loc, bits(r), sign));
  Value q = arith::TruncIOp::create(b, loc, sign.getType(), quadrant);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, sign, integer(0));
  return {r, select(isNegative, arith::SubIOp::create(b, loc, integer(0), q), q)};
}

// Infinity and NaN are near: the rest is NaN.
ScalarMath::Angle ScalarMath::angle(Value x) {
  Angle near = nearAngle(x);
  Value u = arith::AndIOp::create(b, loc, bits(x), integer(0x7fffffff));
  Value beyond = arith::SubIOp::create(b, loc, u, integer(firstFar));
  Value isFar = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, beyond,
                                      integer(infinite - firstFar));
  Value any = isFar;
  if (isa<VectorType>(type))
    any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, isFar);
  auto branch = scf::IfOp::create(b, loc, TypeRange{type, near.quadrant.getType()}, any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, ValueRange{near.rest, near.quadrant});
  b.setInsertionPointToStart(branch.thenBlock());
  Angle far = farAngle(x);
  scf::YieldOp::create(
      b, loc,
      ValueRange{select(isFar, far.rest, near.rest), select(isFar, far.quadrant, near.quadrant)});
  return {branch.getResult(0), branch.getResult(1)};
}

// Cephes sinf and cosf on |r| <= π/4.
std::pair<Value, Value> ScalarMath::sineAndCosine(Value r) {
  Value rr = mul(r, r);
  Value s = horner(rr, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  s = fma(mul(s, rr), r, r);
  Value c = horner(rr, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  c = fma(mul(c, rr), rr, fma(rr, constant(-0.5), constant(1.0)));
  return {s, c};
}

Value ScalarMath::isOdd(Value quadrant) {
  Value bit = arith::AndIOp::create(b, loc, quadrant, integer(1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, integer(0));
}

Value ScalarMath::sine(Angle a, int64_t turned) {
  auto [s, c] = sineAndCosine(a.rest);
  Value q = arith::AddIOp::create(b, loc, a.quadrant, integer(turned));
  Value y = select(isOdd(q), c, s);
  Value half = arith::ShRUIOp::create(b, loc, q, integer(1));
  return select(isOdd(half), arith::NegFOp::create(b, loc, y), y);
}

// s/c, or -c/s a quarter turn further.
Value ScalarMath::tan(Angle a) {
  auto [s, c] = sineAndCosine(a.rest);
  Value odd = isOdd(a.quadrant);
  return divide(select(odd, c, s), select(odd, arith::NegFOp::create(b, loc, s), c));
}
