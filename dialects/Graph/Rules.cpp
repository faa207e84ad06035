//===- Rules.cpp - helpers for sharding rules and local forms -------------===//
#include "dialects/Graph/Rules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

Rule gpucc::graph::pointwiseRule(Operation *op) {
  Rule rule;
  Rule::Dims dims;
  for (int64_t size : tensorOf(op->getResult(0)).getShape())
    dims.push_back({rule.factor(size)});
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    rule.operand(dims);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    rule.result(dims);
  return rule;
}

ReduceKind gpucc::graph::toReduceKind(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
    return ReduceKind::Sum;
  case ReductionKind::Prod:
    return ReduceKind::Prod;
  case ReductionKind::Max:
    return ReduceKind::Max;
  case ReductionKind::Min:
    return ReduceKind::Min;
  case ReductionKind::And:
    return ReduceKind::And;
  case ReductionKind::Or:
    return ReduceKind::Or;
  }
  llvm_unreachable("all kinds are listed");
}

bool gpucc::graph::noOffsets(ArrayRef<Value> offsets) {
  return llvm::none_of(offsets, [](Value v) { return static_cast<bool>(v); });
}

SmallVector<Value> gpucc::graph::addOffsets(GraphBuilder &g, ValueRange base,
                                            ArrayRef<Value> offsets) {
  SmallVector<Value> sums;
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    if (base.empty())
      sums.push_back(offset ? offset : g.scalarI64(0));
    else
      sums.push_back(offset ? g.add(base[d], offset) : base[d]);
  }
  return sums;
}

Value gpucc::graph::localBlock(GraphBuilder &g, Value whole, RankedTensorType local,
                               ArrayRef<Value> offsets) {
  RankedTensorType type = tensorOf(whole);
  SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1), high(type.getRank(), 0);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (int64_t size = local.getDimSize(d))
      high[d] = (size - type.getDimSize(d) % size) % size;
  if (noOffsets(offsets) && local == type)
    return whole;
  return g.slice(g.padZero(whole, zeros, high, zeros), zeros, local.getShape(), ones,
                 addOffsets(g, {}, offsets));
}
