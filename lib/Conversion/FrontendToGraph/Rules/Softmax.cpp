//===- Softmax.cpp - Softmax, LogSoftmax, Hardmax -------------------------===//
//
// Up to opset 12 the operand is flattened to a matrix at `axis` (default 1) and
// rows are normalized; from 13 on one dimension (default -1) is.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// Applies `rows` to the operand seen so that the normalized elements are one dimension.
template <typename Rows> static LogicalResult overRows(Node &n, Rows rows) {
  bool flat = n.version() < 13;
  auto axis = n.dimension(n.getInt("axis", flat ? 1 : -1), std::max<int64_t>(n.rank(0), 1));
  if (!axis)
    return failure();
  if (elementsOf(shapeOf(n[0])) == 0) // rows without elements, too, have nothing to normalize
    return n.yield(n.g.splatLike(n[0], 0));
  if (n.rank(0) == 0)
    return n.yield(n.g.reshape(rows(n.g.reshape(n[0], {1}), 0), {}));
  if (!flat || *axis == n.rank(0) - 1)
    return n.yield(rows(n[0], *axis));
  Dims shape = shapeOf(n[0]);
  ArrayRef<int64_t> all(shape);
  Value matrix =
      n.g.reshape(n[0], {elementsOf(all.take_front(*axis)), elementsOf(all.drop_front(*axis))});
  Value y = rows(matrix, 1);
  return n.yield(n.g.failed() ? y : n.g.reshape(y, shape));
}

template <bool log> static LogicalResult softmax(Node &n) {
  return overRows(n, [&](Value x, int64_t dim) { return n.g.create<SoftmaxOp>(x, dim, log); });
}

/// One at the first greatest element, zero elsewhere.
static LogicalResult hardmax(Node &n) {
  return overRows(n, [&](Value x, int64_t dim) {
    Value best = n.g.create<ArgReduceOp>(ReductionKind::Max, x, dim, false);
    if (n.g.failed())
      return best;
    Value at = n.g.broadcastTo(n.g.insertDims(best, {dim}), shapeOf(x));
    Value hit = n.g.compare(CompareKind::Eq, n.g.iota(shapeOf(x), dim, elementOf(at)), at);
    return n.g.convert(hit, elementOf(x));
  });
}

ArrayRef<Entry> gpucc::frontend_to_graph::softmaxRules() {
  static const Entry rules[] = {
      {"Softmax", 1, latest, 1, softmax<false>},
      {"LogSoftmax", 1, latest, 1, softmax<true>},
      {"Hardmax", 1, latest, 1, hardmax},
  };
  return rules;
}
