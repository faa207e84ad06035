//===- Losses.cpp - negative log-likelihood, softmax cross-entropy --------===//
//
// x [N, C, d...], target [N, d...]. The class is picked by a comparison with
// iota and a sum, which differentiates and partitions like any other op.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// Logarithms of probabilities to the loss; `weight` [C] may be null.
static LogicalResult negativeLogLikelihood(Node &n, Value logs, Value target, Value weight,
                                           ArrayRef<Value> moreResults) {
  GraphBuilder &g = n.g;
  Dims shape = shapeOf(logs);
  if (shape.size() < 2 || rankOf(target) + 1 != static_cast<int64_t>(shape.size()))
    return n.invalid("the target must have the scores' shape without the class dimension");
  Type index = g.builder.getI64Type(), type = elementOf(logs);
  Value labels = g.convert(target, index);
  Value ignored;
  if (n.hasAttr("ignore_index")) {
    auto label = gpucc::HostTensor::scalarInt(gpucc::DType::I64, n.getInt("ignore_index", -1));
    ignored = g.compare(CompareKind::Eq, labels, g.constant(label));
  }
  Value hit = g.compare(CompareKind::Eq, g.iota(shape, 1, index), g.insertDims(labels, {1}));
  auto pick = [&](Value from) { // from where the class is the label
    Value chosen = g.select(hit, from, g.splat(RankedTensorType::get({}, type), 0));
    return g.reduce(ReductionKind::Sum, chosen, {1}, false);
  };
  Value loss = g.unary(UnaryKind::Neg, pick(logs));
  Value weights;
  if (weight) {
    if (rankOf(weight) != 1)
      return n.invalid("weights must have one number per class");
    weights = pick(g.broadcastDims(weight, shape, {1}));
    if (g.failed())
      return failure();
  } else {
    weights = g.splatLike(loss, 1);
  }
  if (ignored)
    weights = g.select(ignored, g.splatLike(weights, 0), weights);
  if (g.failed())
    return failure();
  // An ignored label may pick nothing or something infinite: it must not count either way.
  loss = ignored ? g.select(ignored, g.splatLike(loss, 0), g.mul(loss, weights))
                 : g.mul(loss, weights);
  Dims all;
  for (int64_t d = 0; d + 1 < static_cast<int64_t>(shape.size()); ++d)
    all.push_back(d);
  StringRef reduction = n.getString("reduction", "mean");
  if (reduction == "mean")
    loss = g.div(g.reduce(ReductionKind::Sum, loss, all, false),
                 g.reduce(ReductionKind::Sum, weights, all, false));
  else if (reduction == "sum")
    loss = g.reduce(ReductionKind::Sum, loss, all, false);
  else if (reduction != "none")
    return n.invalid("reduction is '" + reduction + "'; none, sum and mean are allowed");
  SmallVector<Value> results{loss};
  llvm::append_range(results, moreResults);
  return n.yield(results);
}

static LogicalResult nll(Node &n) { return negativeLogLikelihood(n, n[0], n[1], n[2], {}); }

static LogicalResult crossEntropy(Node &n) {
  if (n.rank(0) < 2)
    return n.invalid("the scores need a class dimension");
  Value logs = n.g.create<SoftmaxOp>(n[0], int64_t(1), true);
  if (n.g.failed())
    return failure();
  return negativeLogLikelihood(n, logs, n[1], n[2], {logs});
}

ArrayRef<Entry> gpucc::frontend_to_graph::lossRules() {
  static const Entry rules[] = {
      {"NegativeLogLikelihoodLoss", 12, latest, 2, nll},
      {"SoftmaxCrossEntropyLoss", 12, latest, 2, crossEntropy},
  };
  return rules;
}
