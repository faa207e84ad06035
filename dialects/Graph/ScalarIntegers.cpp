//===- ScalarIntegers.cpp - integer arithmetic without undefined cases ----===//
//
// What `arith` leaves undefined has a value here: x / 0 = 0, INT_MIN / -1 =
// INT_MIN, shifts by the width or more 0 (or the sign), conversions saturate.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Scalar.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::graph;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

Value ScalarBuilder::binaryInt(BinaryKind kind, Value a, Value b, bool isUnsigned) {
  switch (kind) {
  case BinaryKind::Add:
    return add(a, b);
  case BinaryKind::Sub:
    return sub(a, b);
  case BinaryKind::Mul:
    return mul(a, b);
  case BinaryKind::Div:
    return divideInt(a, b, isUnsigned);
  case BinaryKind::Rem:
  case BinaryKind::Mod:
    return remainderInt(kind, a, b, isUnsigned);
  case BinaryKind::Pow:
    return powerInt(a, b, isUnsigned);
  case BinaryKind::Max:
    return isUnsigned ? arith::MaxUIOp::create(builder, loc, a, b).getResult()
                      : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case BinaryKind::Min:
    return isUnsigned ? arith::MinUIOp::create(builder, loc, a, b).getResult()
                      : arith::MinSIOp::create(builder, loc, a, b).getResult();
  case BinaryKind::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case BinaryKind::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  case BinaryKind::Xor:
    return arith::XOrIOp::create(builder, loc, a, b);
  case BinaryKind::Shl:
  case BinaryKind::Shr:
    return shift(kind, a, b, isUnsigned);
  }
  llvm_unreachable("all kinds are listed");
}

Value ScalarBuilder::divideInt(Value a, Value b, bool isUnsigned) {
  Value zero = constantInt(b.getType(), 0), one = constantInt(b.getType(), 1);
  Value isZero = cmpi(CmpIPredicate::eq, b, zero);
  if (isUnsigned)
    return select(isZero, zero, arith::DivUIOp::create(builder, loc, a, select(isZero, one, b)));
  // Division by -1 is negation, which wraps for the least integer.
  Value isMinus = cmpi(CmpIPredicate::eq, b, constantInt(b.getType(), -1));
  Value safe = select(arith::OrIOp::create(builder, loc, isZero, isMinus), one, b);
  Value quotient = arith::DivSIOp::create(builder, loc, a, safe);
  return select(isZero, zero, select(isMinus, sub(zero, a), quotient));
}

/// a - (a / b) b, except that by 0 it is 0, like the quotient.
Value ScalarBuilder::remainderInt(BinaryKind kind, Value a, Value b, bool isUnsigned) {
  Value zero = constantInt(b.getType(), 0);
  Value isZero = cmpi(CmpIPredicate::eq, b, zero);
  Value r = select(isZero, zero, sub(a, mul(divideInt(a, b, isUnsigned), b)));
  if (isUnsigned || kind == BinaryKind::Rem)
    return r;
  Value differ = arith::XOrIOp::create(builder, loc, less(r, zero, false), less(b, zero, false));
  Value wrong = arith::AndIOp::create(builder, loc, cmpi(CmpIPredicate::ne, r, zero), differ);
  return select(wrong, add(r, b), r);
}

/// Squares and multiplies, one step per bit of the exponent: straight-line code that vectorizes.
Value ScalarBuilder::powerInt(Value a, Value b, bool isUnsigned) {
  Type type = a.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value zero = constantInt(type, 0), one = constantInt(type, 1);
  Value result = one, power = a;
  for (unsigned bit = 0; bit < width - (isUnsigned ? 0 : 1); ++bit) {
    Value set = arith::AndIOp::create(
        builder, loc, arith::ShRUIOp::create(builder, loc, b, constantInt(type, bit)), one);
    result = select(cmpi(CmpIPredicate::ne, set, zero), mul(result, power), result);
    power = mul(power, power);
  }
  if (isUnsigned)
    return result;
  // Negative exponents: 1 stays 1, -1 alternates, all else is 0.
  Value odd = cmpi(CmpIPredicate::ne, arith::AndIOp::create(builder, loc, b, one), zero);
  Value minus = constantInt(type, -1);
  Value alternating = select(odd, minus, one);
  Value inverse = select(cmpi(CmpIPredicate::eq, a, one), one,
                         select(cmpi(CmpIPredicate::eq, a, minus), alternating, zero));
  return select(less(b, zero, false), inverse, result);
}

Value ScalarBuilder::shift(BinaryKind kind, Value a, Value b, bool isUnsigned) {
  Type type = a.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value most = constantInt(type, width - 1);
  // As an unsigned number a negative amount is large.
  Value inside = cmpi(CmpIPredicate::ule, b, most);
  Value safe = select(inside, b, most), zero = constantInt(type, 0);
  if (kind == BinaryKind::Shl)
    return select(inside, arith::ShLIOp::create(builder, loc, a, safe), zero);
  if (isUnsigned)
    return select(inside, arith::ShRUIOp::create(builder, loc, a, safe), zero);
  return arith::ShRSIOp::create(builder, loc, a, safe);
}

/// Truncates toward zero; out of range saturates, NaN gives 0.
Value ScalarBuilder::floatToInt(Value x, Type to, bool toUnsigned) {
  unsigned width = to.getIntOrFloatBitWidth();
  Value f = widen(x);
  Type type = f.getType();
  double top = std::ldexp(1.0, toUnsigned ? width : width - 1), bottom = toUnsigned ? 0 : -top;
  Value high = cmpf(CmpFPredicate::OGE, f, constant(type, top));
  Value inside =
      arith::AndIOp::create(builder, loc, cmpf(CmpFPredicate::OLT, f, constant(type, top)),
                            cmpf(CmpFPredicate::OGT, f, constant(type, bottom)));
  Value safe = select(inside, f, constant(type, 0));
  Value truncated = toUnsigned ? arith::FPToUIOp::create(builder, loc, to, safe).getResult()
                               : arith::FPToSIOp::create(builder, loc, to, safe).getResult();
  APInt most = toUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value largest = arith::ConstantOp::create(builder, loc, IntegerAttr::get(to, most));
  Value y = select(high, largest, truncated);
  if (toUnsigned)
    return y;
  Value least = arith::ConstantOp::create(builder, loc,
                                          IntegerAttr::get(to, APInt::getSignedMinValue(width)));
  return select(cmpf(CmpFPredicate::OLE, f, constant(type, bottom)), least, y);
}

Value ScalarBuilder::convert(Value x, bool fromUnsigned, Type to, bool toUnsigned) {
  Type from = x.getType();
  if (from == to)
    return x;
  if (to.isInteger(1))
    return isFloat(x) ? cmpf(CmpFPredicate::UNE, widen(x), constant(widen(x).getType(), 0))
                      : cmpi(CmpIPredicate::ne, x, constantInt(from, 0));
  bool zeroExtends = fromUnsigned || from.isInteger(1);
  if (auto target = dyn_cast<FloatType>(to)) {
    if (!isFloat(x)) {
      // Narrow targets are rounded once from an exact or wide value by the conversion itself.
      return zeroExtends ? arith::UIToFPOp::create(builder, loc, to, x).getResult()
                         : arith::SIToFPOp::create(builder, loc, to, x).getResult();
    }
    unsigned width = cast<FloatType>(from).getWidth();
    if (target.getWidth() > width)
      return arith::ExtFOp::create(builder, loc, to, x);
    // bf16 and f16 have the same width: by way of f32, which holds both exactly.
    return narrow(widen(x), to);
  }
  if (isFloat(x))
    return floatToInt(x, to, toUnsigned);
  unsigned width = from.getIntOrFloatBitWidth(), target = to.getIntOrFloatBitWidth();
  if (target < width)
    return arith::TruncIOp::create(builder, loc, to, x);
  return zeroExtends ? arith::ExtUIOp::create(builder, loc, to, x).getResult()
                     : arith::ExtSIOp::create(builder, loc, to, x).getResult();
}
