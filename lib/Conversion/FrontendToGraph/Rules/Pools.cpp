//===- Pools.cpp - max, average, Lp and global pools ----------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Windows.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static bool poolable(Node &n) {
  if (n.rank(0) >= 3 && n.rank(0) <= 5)
    return true;
  (void)(n.rank(0) < 3 ? n.invalid("a pool needs a batch, channels and spatial dimensions")
                       : n.unsupported("more than 3 spatial dimensions"));
  return false;
}

static std::optional<Dims> kernelOf(Node &n) {
  auto kernel = n.getInts("kernel_shape");
  if (poolable(n)) {
    if (kernel && static_cast<int64_t>(kernel->size()) == n.rank(0) - 2)
      return kernel;
    (void)n.invalid("kernel_shape needs one entry per spatial dimension");
  }
  return std::nullopt;
}

static Value pool(Node &n, PoolKind kind, Value x, ArrayRef<int64_t> kernel, const Window &w,
                  bool countPadding) {
  return n.g.create<PoolOp>(kind, x, kernel, w.strides, w.low, w.high, w.extra, w.dilations,
                            countPadding);
}

/// The place in dimension i of each cell of each window. A cell of the padding stands for the first
/// one that is not, so it is as great as that one and has its name: what is found is always a cell
/// of the image, the first of the greatest, also where all are -inf.
static Value cellPlaces(GraphBuilder &g, const Window &w, ArrayRef<int64_t> cells, size_t i,
                        int64_t size) {
  Type index = g.builder.getI64Type();
  double step = w.dilations[i];
  Value start = g.binary(BinaryKind::Mul, g.iota(cells, i, index), double(w.strides[i]));
  start = g.binary(BinaryKind::Sub, start, double(w.low[i]));
  Value offset = g.binary(BinaryKind::Mul, g.iota(cells, cells.size() / 2 + i, index), step);
  Value at = g.add(start, offset);
  Value outside = g.binary(BinaryKind::Max, g.unary(UnaryKind::Neg, start), 0); // in front
  Value skipped = g.binary(BinaryKind::Div, g.binary(BinaryKind::Add, outside, step - 1), step);
  Value first = g.add(start, g.binary(BinaryKind::Mul, skipped, step));
  Value fits = g.binary(BinaryKind::And, g.compare(CompareKind::Ge, at, g.splatLike(at, 0)),
                        g.compare(CompareKind::Lt, at, g.splatLike(at, double(size))));
  // A window with padding only has no such cell; its index means nothing, but stays inside.
  return g.select(fits, at, g.binary(BinaryKind::Min, first, double(size - 1)));
}

/// For each window of x the position of its greatest element in the flattened x: [N, C, out...].
/// Windows become rows [N*C, out, cells] by a gather, of which the greatest is found.
static Value maxIndices(Node &n, Value x, ArrayRef<int64_t> kernel, const Window &w,
                        ArrayRef<int64_t> result) {
  GraphBuilder &g = n.g;
  Type index = g.builder.getI64Type();
  Dims shape = shapeOf(x), cells; // out..., kernel...
  size_t spatial = kernel.size();
  for (size_t d = 0; d < spatial; ++d)
    cells.push_back(result[d + 2]);
  llvm::append_range(cells, kernel);
  if (tooLarge(cells)) {
    g.error("its windows have more than 2^40 elements");
    return x;
  }
  SmallVector<Value> places;
  for (size_t i = 0; i < spatial; ++i)
    places.push_back(cellPlaces(g, w, cells, i, shape[i + 2]));
  auto numbered = [&](bool columns) { // column-major: the first dimension is the fastest
    Value linear;
    int64_t stride = 1;
    for (size_t step = 0; step < spatial; ++step) {
      size_t i = columns ? step : spatial - 1 - step;
      Value term = g.binary(BinaryKind::Mul, places[i], double(stride));
      linear = linear ? g.add(linear, term) : term;
      stride *= shape[i + 2];
    }
    return linear;
  };
  Value linear = numbered(false);
  Value named = n.getInt("storage_order", 0) != 0 ? numbered(true) : linear;
  int64_t rows = shape[0] * shape[1], depth = elementsOf(kernel);
  int64_t area = elementsOf(ArrayRef<int64_t>(shape).drop_front(2));
  int64_t windows = elementsOf(ArrayRef<int64_t>(cells).take_front(spatial));
  Value seen = g.gather(g.reshape(x, {rows, area}), g.reshape(linear, {windows, depth}), 1);
  Value best = g.create<ArgReduceOp>(ReductionKind::Max, seen, int64_t(2), false);
  Value cell =
      g.add(best, g.binary(BinaryKind::Mul, g.iota({rows, windows}, 1, index), double(depth)));
  Value place = g.gather(g.reshape(named, {windows * depth}), cell, 0);
  place = g.add(place, g.binary(BinaryKind::Mul, g.iota({rows, windows}, 0, index), double(area)));
  return g.reshape(place, result);
}

/// Integers are pooled in f32, which holds the 8-bit types that the operator takes.
static LogicalResult maxPool(Node &n) {
  auto kernel = kernelOf(n);
  if (!kernel)
    return failure();
  auto window = windowOf(n, *kernel, n.getInt("ceil_mode", 0) != 0);
  if (!window)
    return failure();
  Type type = elementOf(n[0]);
  Value x = isFloat(n[0]) ? n[0] : n.g.convert(n[0], n.g.builder.getF32Type());
  Value y = pool(n, PoolKind::Max, x, *kernel, *window, false), places;
  if (n.wants(1) && !n.g.failed())
    places = maxIndices(n, x, *kernel, *window, shapeOf(y));
  // A window of padding only is the least integer, which -inf saturates to.
  return n.yield({n.g.convert(y, type), places});
}

/// Elements go back to where MaxPool found them, zero elsewhere. Positions count in the shape that
/// the window implies; a larger output_shape adds zeros behind it.
static LogicalResult maxUnpool(Node &n) {
  auto kernel = kernelOf(n);
  Window w;
  if (!kernel || !readWindow(n, kernel->size(), w))
    return failure();
  GraphBuilder &g = n.g;
  Dims in = shapeOf(n[0]), shape(in.begin(), in.begin() + 2);
  constexpr int64_t most = int64_t(1) << 30;
  for (size_t d = 0; d < kernel->size(); ++d)
    if (in[d + 2] > most || (*kernel)[d] > most || (*kernel)[d] < 1 || w.strides[d] > most)
      return n.invalid("a size is above 2^30 or a window empty");
  for (size_t d = 0; d < kernel->size(); ++d)
    shape.push_back((in[d + 2] - 1) * w.strides[d] + (*kernel)[d] - w.low[d] - w.high[d]);
  if (shapeOf(n[1]) != in || tooLarge(shape))
    return n.invalid("indices must have the operand's shape, and the result at most 2^40 elements");
  int64_t count = elementsOf(in);
  Value zero = g.splat(RankedTensorType::get({elementsOf(shape)}, elementOf(n[0])), 0);
  Value flat = g.create<ScatterOp>(zero, g.reshape(n[1], {count}), g.reshape(n[0], {count}),
                                   g.builder.getI64IntegerAttr(0), ReductionKindAttr());
  Value y = g.reshape(flat, shape);
  if (!n.has(2) || g.failed())
    return n.yield(y);
  auto wanted = n.constantInts(2, "output_shape");
  if (!wanted)
    return failure();
  Dims low(shape.size(), 0), high;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (wanted->size() != shape.size() || (*wanted)[d] < shape[d])
      return n.invalid("output_shape is smaller than what the window implies");
    high.push_back((*wanted)[d] - shape[d]);
  }
  return n.yield(g.pad(y, low, high, g.scalar(elementOf(y), 0)));
}

static LogicalResult averagePool(Node &n) {
  auto kernel = kernelOf(n);
  if (!kernel)
    return failure();
  auto window = windowOf(n, *kernel, n.getInt("ceil_mode", 0) != 0);
  if (!window)
    return failure();
  bool count = n.getInt("count_include_pad", 0) != 0;
  return n.yield(pool(n, PoolKind::Avg, n[0], *kernel, *window, count));
}

/// (sum |x|^p)^(1/p); the sum is an average times the window, padding counted as zero.
static LogicalResult lpPool(Node &n) {
  auto kernel = kernelOf(n);
  if (!kernel)
    return failure();
  auto window = windowOf(n, *kernel, n.getInt("ceil_mode", 0) != 0);
  if (!window)
    return failure();
  for (auto [high, extra] : llvm::zip(window->high, window->extra))
    high += std::exchange(extra, 0); // what is cut off is zero in a sum
  double p = n.getInt("p", 2);
  Value power = n.g.binary(BinaryKind::Pow, n.g.unary(UnaryKind::Abs, n[0]), p);
  Value mean = pool(n, PoolKind::Avg, power, *kernel, *window, /*countPadding=*/true);
  Value sum = n.g.binary(BinaryKind::Mul, mean, static_cast<double>(elementsOf(*kernel)));
  return n.yield(n.g.binary(BinaryKind::Pow, sum, 1 / p));
}

static Dims spatialDims(Node &n) {
  Dims dims;
  for (int64_t d = 2; d < n.rank(0); ++d)
    dims.push_back(d);
  return dims;
}

static LogicalResult globalAverage(Node &n) {
  return n.yield(n.g.mean(n[0], spatialDims(n), true));
}
static LogicalResult globalMax(Node &n) {
  return n.yield(n.g.reduce(ReductionKind::Max, n[0], spatialDims(n), true));
}
static LogicalResult globalLp(Node &n) {
  double p = n.getInt("p", 2);
  Value x = n.g.widenForSums(n[0]);
  Value power = n.g.binary(BinaryKind::Pow, n.g.unary(UnaryKind::Abs, x), p);
  Value sum = n.g.reduce(ReductionKind::Sum, power, spatialDims(n), true);
  return n.yield(n.g.convert(n.g.binary(BinaryKind::Pow, sum, 1 / p), elementOf(n[0])));
}

ArrayRef<Entry> gpucc::frontend_to_graph::poolRules() {
  static const Entry rules[] = {
      {"MaxPool", 1, latest, 1, maxPool},
      {"MaxUnpool", 9, latest, 2, maxUnpool},
      {"AveragePool", 1, latest, 1, averagePool},
      {"LpPool", 2, latest, 1, lpPool},
      {"GlobalAveragePool", 1, latest, 1, globalAverage},
      {"GlobalMaxPool", 1, latest, 1, globalMax},
      {"GlobalLpPool", 2, latest, 1, globalLp},
  };
  return rules;
}
