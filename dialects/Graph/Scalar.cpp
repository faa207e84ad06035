//===- Scalar.cpp - scalar expressions in arith and math ------------------===//
#include "dialects/Graph/Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::graph;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

template <typename Op> static Value emit(ScalarBuilder &s, Value a) {
  return Op::create(s.builder, s.loc, a);
}
template <typename Op> static Value emit(ScalarBuilder &s, Value a, Value b) {
  return Op::create(s.builder, s.loc, a, b);
}

Value ScalarBuilder::constant(Type type, double value) {
  return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
}

Value ScalarBuilder::constantInt(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      builder, loc, IntegerAttr::get(type, APInt(width, value, /*isSigned=*/true, true)));
}

Value ScalarBuilder::widen(Value x) {
  auto type = dyn_cast<FloatType>(x.getType());
  if (!type || type.getWidth() >= 32)
    return x;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), x);
}

Value ScalarBuilder::narrow(Value x, Type type) {
  if (x.getType() == type)
    return x;
  return arith::TruncFOp::create(builder, loc, type, x);
}

Value ScalarBuilder::add(Value a, Value b) {
  return isFloat(a) ? emit<arith::AddFOp>(*this, a, b) : emit<arith::AddIOp>(*this, a, b);
}
Value ScalarBuilder::sub(Value a, Value b) {
  return isFloat(a) ? emit<arith::SubFOp>(*this, a, b) : emit<arith::SubIOp>(*this, a, b);
}
Value ScalarBuilder::mul(Value a, Value b) {
  return isFloat(a) ? emit<arith::MulFOp>(*this, a, b) : emit<arith::MulIOp>(*this, a, b);
}
Value ScalarBuilder::divFloat(Value a, Value b) { return emit<arith::DivFOp>(*this, a, b); }

Value ScalarBuilder::logistic(Value x) {
  Value one = constant(x.getType(), 1);
  return divFloat(one, add(one, emit<math::ExpOp>(*this, emit<arith::NegFOp>(*this, x))));
}

Value ScalarBuilder::less(Value a, Value b, bool isUnsigned) {
  return isFloat(a) ? cmpf(CmpFPredicate::OLT, a, b)
                    : cmpi(isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt, a, b);
}

Value ScalarBuilder::unary(UnaryKind kind, Value x, bool isUnsigned) {
  if (!isFloat(x))
    return unaryInt(kind, x, isUnsigned);
  Value y = unaryFloat(kind, widen(x));
  return y.getType().isInteger(1) ? y : narrow(y, x.getType());
}

Value ScalarBuilder::unaryFloat(UnaryKind kind, Value x) {
  Value zero = constant(x.getType(), 0), one = constant(x.getType(), 1);
  switch (kind) {
  case UnaryKind::Neg:
    return emit<arith::NegFOp>(*this, x);
  case UnaryKind::Abs:
    return emit<math::AbsFOp>(*this, x);
  case UnaryKind::Sign: // keeps NaN and the sign of zero
    return select(cmpf(CmpFPredicate::OGT, x, zero), one,
                  select(cmpf(CmpFPredicate::OLT, x, zero), constant(x.getType(), -1), x));
  case UnaryKind::Exp:
    return emit<math::ExpOp>(*this, x);
  case UnaryKind::Expm1:
    return emit<math::ExpM1Op>(*this, x);
  case UnaryKind::Log:
    return emit<math::LogOp>(*this, x);
  case UnaryKind::Log1p:
    return emit<math::Log1pOp>(*this, x);
  case UnaryKind::Sqrt:
    return emit<math::SqrtOp>(*this, x);
  case UnaryKind::Rsqrt:
    return emit<math::RsqrtOp>(*this, x);
  case UnaryKind::Reciprocal:
    return divFloat(one, x);
  case UnaryKind::Tanh:
    return emit<math::TanhOp>(*this, x);
  case UnaryKind::Erf:
    return emit<math::ErfOp>(*this, x);
  case UnaryKind::Logistic:
    return logistic(x);
  case UnaryKind::Relu: // NaN is not ≤ 0 and stays
    return select(cmpf(CmpFPredicate::OLE, x, zero), zero, x);
  case UnaryKind::Sin:
    return emit<math::SinOp>(*this, x);
  case UnaryKind::Cos:
    return emit<math::CosOp>(*this, x);
  case UnaryKind::Tan:
    return emit<math::TanOp>(*this, x);
  case UnaryKind::Asin:
    return emit<math::AsinOp>(*this, x);
  case UnaryKind::Acos:
    return emit<math::AcosOp>(*this, x);
  case UnaryKind::Atan:
    return emit<math::AtanOp>(*this, x);
  case UnaryKind::Sinh:
    return emit<math::SinhOp>(*this, x);
  case UnaryKind::Cosh:
    return emit<math::CoshOp>(*this, x);
  case UnaryKind::Asinh:
    return emit<math::AsinhOp>(*this, x);
  case UnaryKind::Acosh:
    return emit<math::AcoshOp>(*this, x);
  case UnaryKind::Atanh:
    return emit<math::AtanhOp>(*this, x);
  case UnaryKind::Floor:
    return emit<math::FloorOp>(*this, x);
  case UnaryKind::Ceil:
    return emit<math::CeilOp>(*this, x);
  case UnaryKind::RoundEven:
    return emit<math::RoundEvenOp>(*this, x);
  case UnaryKind::IsNan:
    return cmpf(CmpFPredicate::UNO, x, x);
  case UnaryKind::IsInf:
    return cmpf(CmpFPredicate::OEQ, emit<math::AbsFOp>(*this, x), constant(x.getType(), HUGE_VAL));
  case UnaryKind::Not:
    break;
  }
  llvm_unreachable("the verifier admits no such kind for floats");
}

Value ScalarBuilder::unaryInt(UnaryKind kind, Value x, bool isUnsigned) {
  Type type = x.getType();
  Value zero = constantInt(type, 0);
  switch (kind) {
  case UnaryKind::Neg:
    return sub(zero, x);
  case UnaryKind::Abs:
    return isUnsigned ? x : select(less(x, zero, false), sub(zero, x), x);
  case UnaryKind::Sign: {
    Value negative = isUnsigned ? zero : select(less(x, zero, false), constantInt(type, -1), zero);
    return select(less(zero, x, isUnsigned), constantInt(type, 1), negative);
  }
  case UnaryKind::Relu:
    return isUnsigned ? x : select(less(x, zero, false), zero, x);
  case UnaryKind::Not:
    return arith::XOrIOp::create(builder, loc, x, constantInt(type, -1));
  default:
    llvm_unreachable("the verifier admits no such kind for integers");
  }
}

Value ScalarBuilder::binary(BinaryKind kind, Value a, Value b, bool isUnsigned) {
  if (isFloat(a))
    return narrow(binaryFloat(kind, widen(a), widen(b)), a.getType());
  return binaryInt(kind, a, b, isUnsigned);
}

Value ScalarBuilder::binaryFloat(BinaryKind kind, Value a, Value b) {
  switch (kind) {
  case BinaryKind::Add:
    return add(a, b);
  case BinaryKind::Sub:
    return sub(a, b);
  case BinaryKind::Mul:
    return mul(a, b);
  case BinaryKind::Div:
    return divFloat(a, b);
  case BinaryKind::Pow:
    return emit<math::PowFOp>(*this, a, b);
  case BinaryKind::Max:
    return emit<arith::MaximumFOp>(*this, a, b);
  case BinaryKind::Min:
    return emit<arith::MinimumFOp>(*this, a, b);
  case BinaryKind::Rem:
    return emit<arith::RemFOp>(*this, a, b);
  case BinaryKind::Mod: {
    Value zero = constant(a.getType(), 0), r = emit<arith::RemFOp>(*this, a, b);
    Value differ = arith::XOrIOp::create(builder, loc, less(r, zero, false), less(b, zero, false));
    Value wrong = arith::AndIOp::create(builder, loc, cmpf(CmpFPredicate::ONE, r, zero), differ);
    return select(wrong, add(r, b), r);
  }
  default:
    llvm_unreachable("the verifier admits no such kind for floats");
  }
}

Value ScalarBuilder::compare(CompareKind kind, Value a, Value b, bool isUnsigned) {
  if (isFloat(a)) {
    constexpr CmpFPredicate predicates[] = {CmpFPredicate::OEQ, CmpFPredicate::UNE,
                                            CmpFPredicate::OLT, CmpFPredicate::OLE,
                                            CmpFPredicate::OGT, CmpFPredicate::OGE};
    return cmpf(predicates[static_cast<int>(kind)], widen(a), widen(b));
  }
  constexpr CmpIPredicate isSigned[] = {CmpIPredicate::eq,  CmpIPredicate::ne,  CmpIPredicate::slt,
                                        CmpIPredicate::sle, CmpIPredicate::sgt, CmpIPredicate::sge};
  constexpr CmpIPredicate notSigned[] = {CmpIPredicate::eq,  CmpIPredicate::ne,
                                         CmpIPredicate::ult, CmpIPredicate::ule,
                                         CmpIPredicate::ugt, CmpIPredicate::uge};
  // i1 holds 0 and 1, so it compares like an unsigned number.
  bool plain = isUnsigned || a.getType().isInteger(1);
  return cmpi((plain ? notSigned : isSigned)[static_cast<int>(kind)], a, b);
}
