//===- ClusterWork.cpp - what a cluster computes, as an attribute ---------===//
#include "ClusterWork.h"

#include "dialects/Graph/Infer.h"
#include "gpucc/Support/Types.h"

using namespace mlir;
using namespace gpucc;

static int64_t rounded(double flops) { return static_cast<int64_t>(std::min(flops, 9e18)); }

/// The share of the score matrix that a causal mask keeps: row s of S sees T - S + s + 1 of T keys.
static double keptScores(graph::AttentionOp attention) {
  if (!attention.getCausal())
    return 1;
  double rows = static_cast<double>(graph::tensorOf(attention.getQ()).getDimSize(2));
  double keys = static_cast<double>(graph::tensorOf(attention.getK()).getDimSize(2));
  // With fewer keys than rows the first rows see nothing.
  double kept = keys >= rows ? rows * (keys - rows) + rows * (rows + 1) / 2 : keys * (keys + 1) / 2;
  return rows * keys > 0 ? kept / (rows * keys) : 0;
}

kernel::WorkAttr gpucc::workOf(graph::ClusterOp cluster) {
  OpFacts total;
  double largest = 0;
  int64_t headDim = 0, keys = 0;
  for (Operation &op : cluster.getBody().front().without_terminator()) {
    auto costed = dyn_cast<CostOpInterface>(op);
    if (!costed)
      continue;
    OpFacts facts = costed.getFacts();
    if (auto attention = dyn_cast<graph::AttentionOp>(op)) {
      facts.matrixFlops *= keptScores(attention);
      headDim = graph::tensorOf(attention.getQ()).getDimSize(3);
      keys = graph::tensorOf(attention.getK()).getDimSize(2);
    }
    total += facts;
    if (facts.matrixFlops <= largest)
      continue;
    largest = facts.matrixFlops;
    total.m = facts.m, total.n = facts.n, total.k = facts.k, total.batch = facts.batch;
    total.matrixType = facts.matrixType;
  }
  if (total.matrixFlops + total.aluFlops + total.specialFlops == 0)
    return {}; // moves only
  MLIRContext *context = cluster.getContext();
  Type type = largest > 0 ? toType(context, total.matrixType) : Type();
  return kernel::WorkAttr::get(context, rounded(total.matrixFlops), rounded(total.aluFlops),
                               rounded(total.specialFlops), total.m, total.n, total.k, total.batch,
                               headDim, keys, type);
}
