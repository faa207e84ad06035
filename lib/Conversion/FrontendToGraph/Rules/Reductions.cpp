//===- Reductions.cpp - Reduce*, ArgMax, CumSum ---------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

namespace {
/// Axes come as attribute (to 12, 17) or operand; none means all, or nothing with
/// noop_with_empty_axes.
struct Axes {
  Dims dims;
  bool keep = true, noop = false;
};

std::optional<Axes> axesOf(Node &n) {
  Axes axes;
  bool given;
  if (!n.intsFrom("axes", 1, axes.dims, given) || !n.dimensions(axes.dims, n.rank(0)))
    return std::nullopt;
  axes.keep = n.getInt("keepdims", 1) != 0;
  if (axes.dims.empty()) {
    axes.noop = n.getInt("noop_with_empty_axes", 0) != 0;
    if (!axes.noop)
      for (int64_t d = 0; d < n.rank(0); ++d)
        axes.dims.push_back(d);
  }
  return axes;
}

/// before(x), reduced, after(y); with noop axes nothing is reduced but both functions apply.
template <typename Before, typename After>
LogicalResult reduce(Node &n, ReductionKind kind, Before before, After after) {
  auto axes = axesOf(n);
  if (!axes)
    return failure();
  Value x = before(n[0]);
  return n.yield(after(n.g.reduce(kind, x, axes->dims, axes->keep)));
}
Value same(Value x) { return x; }
} // namespace

template <ReductionKind kind> static LogicalResult plain(Node &n) {
  return reduce(n, kind, same, same);
}

/// i1 maxima are "any", minima "all".
template <ReductionKind kind, ReductionKind onBool> static LogicalResult extremum(Node &n) {
  return reduce(n, isBool(n[0]) ? onBool : kind, same, same);
}

static LogicalResult mean(Node &n) {
  auto axes = axesOf(n);
  if (!axes)
    return failure();
  return n.yield(axes->dims.empty() ? n[0] : n.g.mean(n[0], axes->dims, axes->keep));
}
static LogicalResult l1(Node &n) {
  return reduce(n, ReductionKind::Sum, [&](Value x) { return n.g.unary(UnaryKind::Abs, x); }, same);
}
static Value squared(Node &n, Value x) { return n.g.mul(x, x); }
/// In f64 for integers, as the definition computes in floats and casts back.
static LogicalResult l2(Node &n) {
  Type type = elementOf(n[0]);
  return reduce(
      n, ReductionKind::Sum,
      [&](Value x) {
        return squared(n,
                       isFloat(x) ? n.g.widenForSums(x) : n.g.convert(x, n.g.builder.getF64Type()));
      },
      [&](Value y) { return n.g.convert(n.g.unary(UnaryKind::Sqrt, y), type); });
}
static LogicalResult sumSquare(Node &n) {
  return reduce(n, ReductionKind::Sum, [&](Value x) { return squared(n, x); }, same);
}
static LogicalResult logSum(Node &n) {
  Type type = elementOf(n[0]);
  return reduce(
      n, ReductionKind::Sum, [&](Value x) { return n.g.widenForSums(x); },
      [&](Value y) { return n.g.convert(n.g.unary(UnaryKind::Log, y), type); });
}

/// max + log(sum(exp(x - max))), the maximum taken as 0 where it is infinite.
static LogicalResult logSumExp(Node &n) {
  auto axes = axesOf(n);
  if (!axes)
    return failure();
  if (!isFloat(n[0]))
    return n.unsupported("ReduceLogSumExp of integers");
  Value x = n.g.widenForSums(n[0]);
  Value max = n.g.reduce(ReductionKind::Max, x, axes->dims, true);
  Value infinite = n.g.unary(UnaryKind::IsInf, max);
  max = n.g.select(infinite, n.g.splatLike(max, 0), max);
  Value sum =
      n.g.reduce(ReductionKind::Sum, n.g.unary(UnaryKind::Exp, n.g.sub(x, max)), axes->dims, true);
  Value y = n.g.convert(n.g.add(n.g.unary(UnaryKind::Log, sum), max), elementOf(n[0]));
  if (n.g.failed())
    return failure();
  Dims shape;
  for (auto [d, size] : llvm::enumerate(shapeOf(n[0])))
    if (!llvm::is_contained(axes->dims, static_cast<int64_t>(d)))
      shape.push_back(size);
  return n.yield(axes->keep ? y : n.g.reshape(y, shape));
}

template <ReductionKind kind> static LogicalResult arg(Node &n) {
  auto dim = n.dimension(n.getInt("axis", 0), n.rank(0));
  if (!dim)
    return failure();
  bool last = n.getInt("select_last_index", 0) != 0;
  Value y = n.g.create<ArgReduceOp>(kind, n[0], *dim, last);
  if (n.getInt("keepdims", 1) != 0 && !n.g.failed())
    y = n.g.insertDims(y, {*dim});
  return n.yield(y);
}

template <ReductionKind kind> static LogicalResult cumulative(Node &n) {
  auto axis = n.constantInts(1, "axis");
  if (!axis)
    return failure();
  if (axis->size() != 1)
    return n.invalid("axis must be one number");
  auto dim = n.dimension(axis->front(), n.rank(0));
  if (!dim)
    return failure();
  bool exclusive = n.getInt("exclusive", 0), reverse = n.getInt("reverse", 0);
  return n.yield(n.g.create<ScanOp>(kind, n[0], *dim, exclusive, reverse));
}

ArrayRef<Entry> gpucc::frontend_to_graph::reductionRules() {
  static const Entry rules[] = {
      {"ReduceSum", 1, latest, 1, plain<ReductionKind::Sum>},
      {"ReduceProd", 1, latest, 1, plain<ReductionKind::Prod>},
      {"ReduceMax", 1, latest, 1, extremum<ReductionKind::Max, ReductionKind::Or>},
      {"ReduceMin", 1, latest, 1, extremum<ReductionKind::Min, ReductionKind::And>},
      {"ReduceMean", 1, latest, 1, mean},
      {"ReduceL1", 1, latest, 1, l1},
      {"ReduceL2", 1, latest, 1, l2},
      {"ReduceSumSquare", 1, latest, 1, sumSquare},
      {"ReduceLogSum", 1, latest, 1, logSum},
      {"ReduceLogSumExp", 1, latest, 1, logSumExp},
      {"ArgMax", 1, latest, 1, arg<ReductionKind::Max>},
      {"ArgMin", 1, latest, 1, arg<ReductionKind::Min>},
      {"CumSum", 11, latest, 2, cumulative<ReductionKind::Sum>},
      {"CumProd", 26, latest, 2, cumulative<ReductionKind::Prod>},
  };
  return rules;
}
