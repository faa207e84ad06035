//===- Reduction.cpp - combiners, identities and the tree -----------------===//
#include "dialects/Kernel/Reduction.h"

using namespace mlir;
using namespace gpucc::kernel;

int64_t gpucc::kernel::getRowTreeWidth(int64_t points) {
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(points), 32, 1024);
}

bool gpucc::kernel::isReducible(LoopResultKind kind, Type type) {
  bool isFloat = type.isF32() || type.isF64();
  bool isInt = type.isInteger(32) || type.isInteger(64);
  switch (kind) {
  case LoopResultKind::Keep:
    return false;
  case LoopResultKind::Add:
  case LoopResultKind::Mul:
  case LoopResultKind::Max:
  case LoopResultKind::Min:
    return isFloat || isInt;
  case LoopResultKind::MaxNum:
  case LoopResultKind::MinNum:
    return isFloat;
  case LoopResultKind::UMax:
  case LoopResultKind::UMin:
    return isInt;
  case LoopResultKind::And:
  case LoopResultKind::Or:
    return isInt || type.isInteger(1);
  }
  llvm_unreachable("all kinds are above");
}

TypedAttr gpucc::kernel::getIdentity(LoopResultKind kind, Type type) {
  Builder builder(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (kind) {
    case LoopResultKind::Add:
      return builder.getFloatAttr(floatType, APFloat::getZero(semantics, /*Negative=*/true));
    case LoopResultKind::Mul:
      return builder.getFloatAttr(floatType, 1.0);
    case LoopResultKind::Max:
    case LoopResultKind::MaxNum:
      return builder.getFloatAttr(floatType, APFloat::getInf(semantics, /*Negative=*/true));
    default:
      return builder.getFloatAttr(floatType, APFloat::getInf(semantics));
    }
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  switch (kind) {
  case LoopResultKind::Mul:
    return builder.getIntegerAttr(type, APInt(bits, 1));
  case LoopResultKind::Max:
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(bits));
  case LoopResultKind::Min:
    return builder.getIntegerAttr(type, APInt::getSignedMaxValue(bits));
  case LoopResultKind::UMin:
  case LoopResultKind::And:
    return builder.getIntegerAttr(type, APInt::getAllOnes(bits));
  default:
    return builder.getIntegerAttr(type, APInt::getZero(bits));
  }
}

Value gpucc::kernel::buildIdentity(OpBuilder &builder, Location loc, LoopResultKind kind,
                                   Type type) {
  TypedAttr scalar = getIdentity(kind, getElementTypeOrSelf(type));
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(vector, Attribute(scalar)));
  return arith::ConstantOp::create(builder, loc, scalar);
}

Value gpucc::kernel::buildCombine(OpBuilder &b, Location loc, LoopResultKind kind, Value acc,
                                  Value x) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(acc.getType()));
  auto pick = [&](arith::CmpFPredicate predicate) -> Value {
    Value better = arith::CmpFOp::create(b, loc, predicate, x, acc);
    return arith::SelectOp::create(b, loc, better, x, acc);
  };
  switch (kind) {
  case LoopResultKind::Keep:
    break;
  case LoopResultKind::Add:
    return isFloat ? arith::AddFOp::create(b, loc, acc, x).getResult()
                   : arith::AddIOp::create(b, loc, acc, x).getResult();
  case LoopResultKind::Mul:
    return isFloat ? arith::MulFOp::create(b, loc, acc, x).getResult()
                   : arith::MulIOp::create(b, loc, acc, x).getResult();
  case LoopResultKind::Max:
    return isFloat ? arith::MaximumFOp::create(b, loc, acc, x).getResult()
                   : arith::MaxSIOp::create(b, loc, acc, x).getResult();
  case LoopResultKind::Min:
    return isFloat ? arith::MinimumFOp::create(b, loc, acc, x).getResult()
                   : arith::MinSIOp::create(b, loc, acc, x).getResult();
  case LoopResultKind::MaxNum:
    return pick(arith::CmpFPredicate::OGT);
  case LoopResultKind::MinNum:
    return pick(arith::CmpFPredicate::OLT);
  case LoopResultKind::UMax:
    return arith::MaxUIOp::create(b, loc, acc, x);
  case LoopResultKind::UMin:
    return arith::MinUIOp::create(b, loc, acc, x);
  case LoopResultKind::And:
    return arith::AndIOp::create(b, loc, acc, x);
  case LoopResultKind::Or:
    return arith::OrIOp::create(b, loc, acc, x);
  }
  llvm_unreachable("a kept value is not combined");
}
