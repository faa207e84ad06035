//===- PointwiseRules.cpp - how pointwise ops are split, what they cost ---===//
//
//   add x[8,16], y[8,16]: factors 8 and 16, both free to be split
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Facts.h"
#include "dialects/Graph/Rules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

ShardingRule UnaryOp::getShardingRule() {
  return pointwiseRule(*this).linearIn({getKind() == UnaryKind::Neg});
}

ShardingRule BinaryOp::getShardingRule() {
  Rule rule = pointwiseRule(*this);
  BinaryKind kind = getKind();
  if (kind == BinaryKind::Add || kind == BinaryKind::Sub)
    rule.linearTogether({true, true});
  if (!isa<FloatType>(tensorOf(getResult()).getElementType()))
    return kind == BinaryKind::Mul ? rule.linearIn({true, true}) : rule;
  if (kind == BinaryKind::Mul || kind == BinaryKind::Div)
    rule.linearIn({true, kind == BinaryKind::Mul});
  return rule;
}

ShardingRule CompareOp::getShardingRule() { return pointwiseRule(*this); }

ShardingRule SelectOp::getShardingRule() {
  return pointwiseRule(*this)
      .linearTogether({false, true, true})
      .linearIn({false, isZero(getOnFalse()), isZero(getOnTrue())});
}

/// Rounding to a narrower type does not commute with a sum; widening does.
ShardingRule ConvertOp::getShardingRule() {
  auto from = dyn_cast<FloatType>(tensorOf(getX()).getElementType());
  auto to = dyn_cast<FloatType>(getTo());
  return pointwiseRule(*this).linearIn({from && to && to.getWidth() > from.getWidth()});
}

OpFacts UnaryOp::getFacts() {
  OpFacts f = memoryFacts(*this);
  double n = elements(getResult());
  switch (getKind()) {
  case UnaryKind::Neg:
  case UnaryKind::Abs:
  case UnaryKind::Sign:
  case UnaryKind::Relu:
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::RoundEven:
  case UnaryKind::Not:
  case UnaryKind::IsNan:
  case UnaryKind::IsInf:
    f.aluFlops = n;
    break;
  default:
    f.specialFlops = n;
  }
  return f;
}

OpFacts BinaryOp::getFacts() {
  OpFacts f = memoryFacts(*this);
  bool special = getKind() == BinaryKind::Div || getKind() == BinaryKind::Pow ||
                 getKind() == BinaryKind::Rem || getKind() == BinaryKind::Mod;
  (special ? f.specialFlops : f.aluFlops) = elements(getResult());
  return f;
}

OpFacts CompareOp::getFacts() { return memoryFacts(*this, 1); }
OpFacts SelectOp::getFacts() { return memoryFacts(*this, 1); }
OpFacts ConvertOp::getFacts() { return memoryFacts(*this, 1); }
