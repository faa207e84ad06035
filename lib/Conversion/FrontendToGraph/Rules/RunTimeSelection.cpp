//===- RunTimeSelection.cpp - NonZero, Compress, Unique of run-time values ===//
//
// How many elements these give depends on values of a run. Their results have
// the size of the bound, with the real entries in front and zeros behind, and a
// count beside them (Node.h, Varying). All are made of the places where a mask
// is true, which is a running sum and a scatter:
//
//   mask     F T T F        true ones before   0 0 1 2
//   scatter of 0 1 2 3 to (4 0 1 4), 4 is outside and dropped   ->  1 2 0 0
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/RunTimeSelection.h"

#include "lib/Conversion/FrontendToGraph/ModelConverter.h"
#include "lib/Conversion/FrontendToGraph/Rules/Varying.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static Value scatter(GraphBuilder &g, Value data, Value at, Value updates,
                     ReductionKindAttr kind = {}) {
  return g.create<ScatterOp>(data, at, updates, g.builder.getI64IntegerAttr(0), kind);
}

static Value zeros(GraphBuilder &g, int64_t size, Type element) {
  return g.splat(RankedTensorType::get({size}, element), 0);
}

static Value scan(GraphBuilder &g, Value x, bool exclusive) {
  return g.create<ScanOp>(ReductionKind::Sum, x, 0, exclusive, /*reverse=*/false);
}

/// Where the entries of a mask go when the true ones move to the front; beyond the end for others.
static Value targets(GraphBuilder &g, Value mask) {
  Value before = scan(g, g.convert(mask, g.builder.getI64Type()), /*exclusive=*/true);
  return g.select(mask, before, g.splatLike(before, double(shapeOf(mask)[0])));
}

static Value countTrue(GraphBuilder &g, Value mask) {
  return g.reduce(ReductionKind::Sum, g.convert(mask, g.builder.getI64Type()), {0},
                  /*keep=*/false);
}

Value frontend_to_graph::packed(GraphBuilder &g, Value mask, Value values) {
  return scatter(g, zeros(g, shapeOf(mask)[0], elementOf(values)), targets(g, mask), values);
}

Places frontend_to_graph::placesOf(GraphBuilder &g, Value mask) {
  Value index = g.iota(shapeOf(mask), 0, g.builder.getI64Type());
  return {packed(g, mask, index), countTrue(g, mask)};
}

Value frontend_to_graph::realEntries(GraphBuilder &g, ArrayRef<int64_t> shape, int64_t dim,
                                     Value count) {
  return g.compare(CompareKind::Lt, g.iota(shape, dim, g.builder.getI64Type()), count);
}

Value frontend_to_graph::withoutPadding(Node &n, unsigned i, Value mask) {
  const Varying *size = n.varying(i);
  return size ? n.g.binary(BinaryKind::And, mask,
                           realEntries(n.g, shapeOf(n[i]), size->dim, size->count))
              : mask;
}

Value frontend_to_graph::withPadding(Node &n, unsigned i, double padding) {
  const Varying *size = n.varying(i);
  return size ? n.g.select(realEntries(n.g, shapeOf(n[i]), size->dim, size->count), n[i],
                           n.g.splatLike(n[i], padding))
              : n[i];
}

LogicalResult frontend_to_graph::refuseTraining(Node &n) {
  return n.training() ? n.unsupported("the size of its result depends on values of a run; training "
                                      "steps have fixed sizes")
                      : success();
}

static Value notZero(GraphBuilder &g, Value x) {
  return isBool(x) ? x : g.compare(CompareKind::Ne, x, g.splatLike(x, 0));
}

/// The coordinates of flat positions p: p / stride % size, one row per dimension.
LogicalResult frontend_to_graph::nonZeroAtRunTime(Node &n) {
  GraphBuilder &g = n.g;
  Dims shape = shapeOf(n[0]);
  int64_t rank = n.rank(0), total = elementsOf(shape);
  Type index = g.builder.getI64Type();
  if (failed(refuseTraining(n)))
    return failure();
  if (total == 0)
    return n.yield(g.splat(RankedTensorType::get({rank, 0}, index), 0));
  if (rank == 0)
    return n.unsupported("NonZero of a scalar that is computed at run time");
  Value mask = withoutPadding(n, 0, notZero(g, n[0]));
  Places places = placesOf(g, g.reshape(mask, {total}));
  std::vector<int64_t> strides = HostTensor::stridesOf({shape.begin(), shape.end()});
  auto column = [&](ArrayRef<int64_t> values) {
    return g.reshape(g.constantInts(values), {rank, 1});
  };
  Value rows = g.div(g.reshape(places.at, {1, total}), column(strides));
  if (failed(n.yield(g.binary(BinaryKind::Rem, rows, column(shape)))))
    return failure();
  n.setVarying(0, 1, places.count, n.self());
  return success();
}

/// Entries of the condition beyond the axis do not count, nor does what lies beyond the condition.
LogicalResult frontend_to_graph::compressAtRunTime(Node &n, std::optional<int64_t> axis) {
  GraphBuilder &g = n.g;
  if (failed(refuseTraining(n)))
    return failure();
  if (n.rank(1) != 1 || !isBool(n[1]))
    return n.invalid("its condition must be a vector of truth values");
  Value x = n[0], condition = withoutPadding(n, 1, n[1]);
  Value real; // entries of x along the axis that are no padding
  if (const Varying *size = n.varying(0)) {
    if (axis && *axis != size->dim)
      return n.unsupported("the size of its operand varies along another dimension than its axis; "
                           "results may vary along one");
    Dims shape = axis ? Dims{shapeOf(x)[*axis]} : shapeOf(x);
    real = realEntries(g, shape, axis ? 0 : size->dim, size->count);
  }
  if (!axis) {
    int64_t total = elementsOf(shapeOf(x));
    x = g.reshape(x, {total});
    real = real ? g.reshape(real, {total}) : real;
  }
  int64_t dim = axis.value_or(0), bound = std::min(shapeOf(condition)[0], shapeOf(x)[dim]);
  condition = g.slice(condition, 0, 0, bound);
  if (real)
    condition = g.binary(BinaryKind::And, condition, g.slice(real, 0, 0, bound));
  if (bound == 0)
    return n.yield(g.slice(x, dim, 0, 0));
  Places places = placesOf(g, condition);
  if (failed(n.yield(g.gather(x, places.at, dim))))
    return failure();
  n.setVarying(0, dim, places.count, n.self());
  return success();
}

namespace {
/// Equal rows of a matrix, found by sorting: each group is numbered in order of value, or, not
/// sorted, of its first row.
struct Groups {
  Value first;  ///< i1: is this row the first of its group?
  Value number; ///< of the row's group
};
} // namespace

/// A row is sorted by one stable sort for each of its elements, the last one first.
static constexpr int64_t maxColumns = 64;

static Value columnOf(GraphBuilder &g, Value x, int64_t column) {
  return g.reshape(g.slice(x, 1, column, 1), {shapeOf(x)[0]});
}

/// Row numbers of x [N, M] in the order of the rows.
static Value sortedRows(GraphBuilder &g, Value x) {
  Value order;
  for (int64_t column = shapeOf(x)[1]; column-- > 0 && !g.failed();) {
    Value keys = columnOf(g, x, column);
    if (order)
      keys = g.gather(keys, order, 0);
    Value next = g.createMany<TopKOp>(2, keys, shapeOf(x)[0], /*smallest=*/true)[1];
    order = order ? g.gather(order, next, 0) : next;
  }
  return order;
}

/// Does row i of x, which is sorted, differ from the one before? All NaN are equal.
static Value beginsGroup(GraphBuilder &g, Value x) {
  int64_t size = shapeOf(x)[0];
  Value first = g.splat(RankedTensorType::get({1}, g.builder.getI1Type()), 1);
  if (size == 1)
    return first;
  Value here = g.slice(x, 0, 1, size - 1), before = g.slice(x, 0, 0, size - 1);
  Value differ = g.compare(CompareKind::Ne, here, before);
  if (isFloat(x)) {
    Value both = g.binary(BinaryKind::And, g.unary(UnaryKind::IsNan, here),
                          g.unary(UnaryKind::IsNan, before));
    differ = g.binary(BinaryKind::And, differ, g.unary(UnaryKind::Not, both));
  }
  return g.concat({first, g.reduce(ReductionKind::Or, differ, {1}, /*keep=*/false)}, 0);
}

static Groups groupsOf(GraphBuilder &g, Value x, bool sorted) {
  int64_t size = shapeOf(x)[0];
  Type index = g.builder.getI64Type();
  Value order = sortedRows(g, x);
  if (g.failed())
    return {};
  Value begins = g.convert(beginsGroup(g, g.gather(x, order, 0)), index);
  Value byValue = g.binary(BinaryKind::Sub, scan(g, begins, /*exclusive=*/false), 1);
  // Back from the order of values to that of x.
  Value none = zeros(g, size, index);
  Value first = notZero(g, scatter(g, none, order, begins));
  Value number = scatter(g, none, order, byValue);
  if (sorted || g.failed())
    return {first, number};
  // The groups' numbers by first row: how many first ones lie before it.
  Value renamed = scatter(g, none, g.select(first, number, g.splatLike(number, double(size))),
                          scan(g, g.convert(first, index), /*exclusive=*/true));
  return {first, g.gather(renamed, number, 0)};
}

LogicalResult frontend_to_graph::uniqueAtRunTime(Node &n, std::optional<int64_t> axis) {
  GraphBuilder &g = n.g;
  if (failed(refuseTraining(n)))
    return failure();
  // The slices as rows: the axis in front, which swapping takes back.
  Dims swap, moved = {elementsOf(shapeOf(n[0]))};
  for (int64_t d = 0; axis && d < n.rank(0); ++d)
    swap.push_back(d == 0 ? *axis : d == *axis ? 0 : d);
  Value x = axis ? g.transpose(n[0], swap) : n[0];
  if (axis)
    moved = shapeOf(x);
  int64_t size = moved[0], columns = elementsOf(ArrayRef<int64_t>(moved).drop_front());
  Type index = g.builder.getI64Type();
  Value none = zeros(g, size, index);
  if (size == 0)
    return n.yield({axis ? n[0] : g.reshape(n[0], {0}), none, none, none});
  if (columns < 1 || columns > maxColumns)
    return n.unsupported("Unique of slices of " + Twine(columns) +
                         " elements that are computed at run time; allowed are 1 to " +
                         Twine(maxColumns));
  x = g.reshape(x, {size, columns});
  Groups groups = groupsOf(g, x, n.getInt("sorted", 1) != 0);
  if (g.failed())
    return failure();
  Value target = g.select(groups.first, groups.number, g.splatLike(none, double(size)));
  Value values =
      scatter(g, g.splat(RankedTensorType::get({size, columns}, elementOf(x)), 0), target, x);
  Value firsts = scatter(g, none, target, g.iota({size}, 0, index));
  auto sum = ReductionKindAttr::get(g.builder.getContext(), ReductionKind::Sum);
  Value sizes = scatter(g, none, groups.number, g.splatLike(none, 1), sum);
  values = g.reshape(values, moved);
  if (axis)
    values = g.transpose(values, swap);
  Value count = countTrue(g, groups.first);
  if (failed(n.yield({values, firsts, groups.number, sizes})))
    return failure();
  n.setVarying(0, axis.value_or(0), count, n.self());
  n.setVarying(1, 0, count, n.self());
  n.setVarying(3, 0, count, n.self());
  return success();
}
