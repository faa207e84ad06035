//===- WindowRules.cpp - how pooling is split, what it costs --------------===//
//
// Batch and channels are parallel; windows cross the spatial dimensions, which
// every rank therefore needs whole.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Facts.h"
#include "dialects/Graph/Rules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

static Rule poolRule(RankedTensorType x, RankedTensorType y, Rule::Dims &xDims, Rule::Dims &yDims) {
  Rule rule;
  for (int64_t d = 0; d < 2; ++d) {
    xDims.push_back({rule.factor(x.getDimSize(d))});
    yDims.push_back(xDims.back());
  }
  for (int64_t d = 2; d < x.getRank(); ++d) {
    xDims.push_back({rule.whole(x.getDimSize(d))});
    yDims.push_back({rule.whole(y.getDimSize(d))});
  }
  return rule;
}

ShardingRule PoolOp::getShardingRule() {
  Rule::Dims x, y;
  Rule rule = poolRule(tensorOf(getX()), tensorOf(getResult()), x, y);
  return rule.operand(x).result(y).linearIn({getKind() == PoolKind::Avg});
}

ShardingRule PoolGradOp::getShardingRule() {
  Rule::Dims x, y;
  Rule rule = poolRule(tensorOf(getX()), tensorOf(getGrad()), x, y);
  return rule.operand(x).operand(y).result(x).linearIn({false, true});
}

static double windowSize(ArrayRef<int64_t> window) {
  double n = 1;
  for (int64_t w : window)
    n *= static_cast<double>(w);
  return n;
}

OpFacts PoolOp::getFacts() { return memoryFacts(*this, windowSize(getWindow())); }

OpFacts PoolGradOp::getFacts() {
  OpFacts f = memoryFacts(*this);
  f.aluFlops = windowSize(getWindow()) * elements(getGrad());
  return f;
}
