//===- ReductionRules.cpp - how reductions are split, what they cost ------===//
//
//   reduce sum x[8,16] over 1: factor 8 parallel, factor 16 reduce(sum)
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Facts.h"
#include "dialects/Graph/Rules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

ShardingRule ReduceOp::getShardingRule() {
  Rule rule;
  Rule::Dims x, y;
  for (auto [d, size] : llvm::enumerate(tensorOf(getX()).getShape())) {
    bool gone = llvm::is_contained(getDims(), static_cast<int64_t>(d));
    x.push_back({gone ? rule.reduced(size, toReduceKind(getKind())) : rule.factor(size)});
    if (!gone)
      y.push_back(x.back());
  }
  return rule.operand(x).result(y).linearIn({getKind() == ReductionKind::Sum});
}

/// One dimension whole, the others parallel; the result lacks it or not.
static Rule alongRule(RankedTensorType type, int64_t dim, bool keeps) {
  Rule rule;
  Rule::Dims x, y;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    x.push_back({d == dim ? rule.whole(type.getDimSize(d)) : rule.factor(type.getDimSize(d))});
    if (d != dim || keeps)
      y.push_back(x.back());
  }
  return rule.operand(x).result(y);
}

ShardingRule ArgReduceOp::getShardingRule() {
  return alongRule(tensorOf(getX()), getDim(), /*keeps=*/false);
}

ShardingRule ScanOp::getShardingRule() {
  return alongRule(tensorOf(getX()), getDim(), /*keeps=*/true)
      .linearIn({getKind() == ReductionKind::Sum});
}

static OpFacts perInput(Operation *op) {
  OpFacts f = memoryFacts(op);
  f.aluFlops = elements(op->getOperand(0));
  return f;
}

OpFacts ReduceOp::getFacts() { return perInput(*this); }
OpFacts ArgReduceOp::getFacts() { return perInput(*this); }
OpFacts ScanOp::getFacts() { return perInput(*this); }
