//===- Indexing.cpp - gather, scatter, one-hot ----------------------------===//
//
// The graph dialect gathers whole slices along one dimension. GatherElements
// and GatherND become that on the flattened data, with the linear index as
// arithmetic: index[i][j] of dimension d -> sum over dims of coordinate * stride.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static Value asIndex(Node &n, Value indices) {
  return n.g.convert(indices, n.g.builder.getI64Type());
}

/// i < 0 counts from the end.
static Value wrapped(Node &n, Value index, int64_t size) {
  Value negative = n.g.compare(CompareKind::Lt, index, n.g.splatLike(index, 0));
  return n.g.select(negative, n.g.binary(BinaryKind::Add, index, double(size)), index);
}

/// An index into a dimension without elements is wrong, but there may be no index.
static LogicalResult yieldGather(Node &n, Value data, Value indices, int64_t dim) {
  Dims shape = shapeOf(data), inner(shape.begin() + dim + 1, shape.end());
  shape.resize(dim);
  llvm::append_range(shape, shapeOf(indices));
  llvm::append_range(shape, inner);
  if (elementsOf(shape) == 0)
    return n.yield(n.g.splat(RankedTensorType::get(shape, elementOf(data)), 0));
  return n.yield(n.g.gather(data, indices, dim));
}

static LogicalResult gather(Node &n) {
  auto dim = n.dimension(n.getInt("axis", 0), n.rank(0));
  if (!dim)
    return failure();
  return yieldGather(n, n[0], n[1], *dim);
}

static Dims stridesOf(ArrayRef<int64_t> shape) {
  Dims strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// The linear index into data of element (…, indices[…], …) for every element of indices.
static Value elementIndex(Node &n, ArrayRef<int64_t> data, Value indices, int64_t dim) {
  Dims strides = stridesOf(data), shape = shapeOf(indices);
  Value index = asIndex(n, indices);
  Value linear = n.g.binary(BinaryKind::Mul, wrapped(n, index, data[dim]), double(strides[dim]));
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    if (d != dim && shape[d] > 1)
      linear = n.g.add(linear, n.g.binary(BinaryKind::Mul, n.g.iota(shape, d, elementOf(linear)),
                                          double(strides[d])));
  return linear;
}

static bool sameRank(Node &n, unsigned a, unsigned b) {
  if (n.rank(a) == n.rank(b) && n.rank(a) > 0)
    return true;
  (void)n.invalid("operands " + llvm::Twine(a) + " and " + llvm::Twine(b) +
                  " must have the same rank, 1 or more");
  return false;
}

static LogicalResult gatherElements(Node &n) {
  auto dim = n.dimension(n.getInt("axis", 0), std::max<int64_t>(n.rank(0), 1));
  if (!dim || !sameRank(n, 0, 1))
    return failure();
  Dims data = shapeOf(n[0]);
  Value linear = elementIndex(n, data, n[1], *dim);
  if (n.g.failed())
    return failure();
  return yieldGather(n, n.g.reshape(n[0], {elementsOf(data)}), linear, 0);
}

/// Reduction attribute; false (after an error) when it is unknown.
static bool reductionOf(Node &n, std::optional<ReductionKind> &kind) {
  StringRef text = n.getString("reduction", "none");
  if (text == "none")
    return true;
  if (text == "add")
    kind = ReductionKind::Sum;
  else if (text == "mul")
    kind = ReductionKind::Prod;
  else if (text == "max")
    kind = ReductionKind::Max;
  else if (text == "min")
    kind = ReductionKind::Min;
  else {
    (void)n.invalid("reduction is '" + text + "'; none, add, mul, max and min are allowed");
    return false;
  }
  return true;
}

static Value scatterFlat(Node &n, Value data, Value linear, Value updates,
                         std::optional<ReductionKind> kind) {
  ReductionKindAttr attr;
  if (kind)
    attr = ReductionKindAttr::get(n.g.builder.getContext(), *kind);
  return n.g.create<ScatterOp>(data, linear, updates, n.g.builder.getI64IntegerAttr(0), attr);
}

static LogicalResult scatterElements(Node &n) {
  auto dim = n.dimension(n.getInt("axis", 0), std::max<int64_t>(n.rank(0), 1));
  std::optional<ReductionKind> kind;
  if (!dim || !sameRank(n, 0, 1) || !reductionOf(n, kind))
    return failure();
  if (shapeOf(n[1]) != shapeOf(n[2]))
    return n.invalid("indices and updates must have the same shape");
  Dims data = shapeOf(n[0]);
  Value linear = elementIndex(n, data, n[1], *dim);
  if (n.g.failed())
    return failure();
  int64_t updates = elementsOf(shapeOf(n[2]));
  Value y = scatterFlat(n, n.g.reshape(n[0], {elementsOf(data)}), n.g.reshape(linear, {updates}),
                        n.g.reshape(n[2], {updates}), kind);
  return n.yield(n.g.failed() ? y : n.g.reshape(y, data));
}

/// Linear indices of rows: the last dimension of indices holds `depth` coordinates of data's
/// dimensions batch … batch+depth-1; a row is what follows.
static Value rowIndex(Node &n, ArrayRef<int64_t> data, Value indices, int64_t batch) {
  Dims shape = shapeOf(indices);
  int64_t depth = shape.back();
  Dims outer(ArrayRef<int64_t>(shape).drop_back());
  ArrayRef<int64_t> addressed = data.take_front(batch + depth);
  Dims strides = stridesOf(addressed);
  Value index = asIndex(n, indices), linear;
  auto addTo = [&](Value term, int64_t stride) {
    Value scaled = n.g.binary(BinaryKind::Mul, term, double(stride));
    linear = linear ? n.g.add(linear, scaled) : scaled;
  };
  for (int64_t b = 0; b < batch; ++b)
    addTo(n.g.iota(outer, b, elementOf(index)), strides[b]);
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  for (int64_t i = 0; i < depth; ++i) {
    Value coordinate = n.g.slice(index, last, i, 1);
    if (n.g.failed())
      return coordinate;
    addTo(wrapped(n, n.g.reshape(coordinate, outer), data[batch + i]), strides[batch + i]);
  }
  return linear ? linear : n.g.splat(RankedTensorType::get(outer, elementOf(index)), 0);
}

static bool checkRows(Node &n, int64_t batch) {
  Dims data = shapeOf(n[0]), indices = shapeOf(n[1]);
  bool fine = !indices.empty() && batch >= 0 && batch < static_cast<int64_t>(indices.size()) &&
              indices.back() >= 0 && batch + indices.back() <= static_cast<int64_t>(data.size());
  for (int64_t b = 0; fine && b < batch; ++b)
    fine = data[b] == indices[b];
  if (!fine)
    (void)n.invalid("the last dimension of indices must not be larger than the rank of data, and "
                    "batch dimensions must be equal");
  return fine;
}

static LogicalResult gatherNd(Node &n) {
  int64_t batch = n.getInt("batch_dims", 0);
  if (!checkRows(n, batch))
    return failure();
  Dims data = shapeOf(n[0]);
  int64_t depth = shapeOf(n[1]).back();
  Value linear = rowIndex(n, data, n[1], batch);
  if (n.g.failed())
    return failure();
  ArrayRef<int64_t> all(data);
  Dims rows = {elementsOf(all.take_front(batch + depth))};
  llvm::append_range(rows, all.drop_front(batch + depth));
  return yieldGather(n, n.g.reshape(n[0], rows), linear, 0);
}

static LogicalResult scatterNd(Node &n) {
  std::optional<ReductionKind> kind;
  if (!checkRows(n, 0) || !reductionOf(n, kind))
    return failure();
  Dims data = shapeOf(n[0]);
  int64_t depth = shapeOf(n[1]).back();
  Value linear = rowIndex(n, data, n[1], 0);
  if (n.g.failed())
    return failure();
  ArrayRef<int64_t> all(data);
  Dims rows = {elementsOf(all.take_front(depth))};
  llvm::append_range(rows, all.drop_front(depth));
  Value y = scatterFlat(n, n.g.reshape(n[0], rows), linear, n[2], kind);
  return n.yield(n.g.failed() ? y : n.g.reshape(y, data));
}

/// values[1] where the index of the new dimension equals indices (negative ones wrapped).
static LogicalResult oneHot(Node &n) {
  auto depth = n.constantInts(1, "depth");
  if (!depth)
    return failure();
  if (depth->size() != 1 || depth->front() < 0 || n.rank(2) != 1 || typeOf(n[2]).getDimSize(0) != 2)
    return n.invalid("depth must be one number and values must be [off, on]");
  int64_t rank = n.rank(0);
  auto axis = n.dimension(n.getInt("axis", -1), rank + 1);
  if (!axis)
    return failure();
  Dims shape = shapeOf(n[0]);
  shape.insert(shape.begin() + *axis, depth->front());
  Value index = wrapped(n, asIndex(n, n[0]), depth->front());
  index = n.g.insertDims(index, {*axis});
  Value hit = n.g.compare(CompareKind::Eq, n.g.iota(shape, *axis, elementOf(index)), index);
  auto value = [&](int64_t i) { return n.g.reshape(n.g.slice(n[2], 0, i, 1), {}); };
  return n.yield(n.g.select(hit, value(1), value(0)));
}

ArrayRef<Entry> gpucc::frontend_to_graph::indexRules() {
  static const Entry rules[] = {
      {"Gather", 1, latest, 2, gather},
      {"GatherElements", 11, latest, 2, gatherElements},
      {"GatherND", 11, latest, 2, gatherNd},
      {"Scatter", 9, latest, 3, scatterElements},
      {"ScatterElements", 11, latest, 3, scatterElements},
      {"ScatterND", 11, latest, 3, scatterNd},
      {"OneHot", 9, latest, 3, oneHot},
  };
  return rules;
}
