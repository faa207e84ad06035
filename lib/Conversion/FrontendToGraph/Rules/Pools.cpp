//===- Pools.cpp - max, average, Lp and global pools ----------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Windows.h"

#include <cmath>

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

/// Integers are pooled in f64, which holds the 8-bit types that the operator takes.
static LogicalResult maxPool(Node &n) {
  if (n.wants(1))
    return n.unsupported("its second result (the indices of the maxima)");
  auto kernel = kernelOf(n);
  if (!kernel)
    return failure();
  auto window = windowOf(n, *kernel, n.getInt("ceil_mode", 0) != 0);
  if (!window)
    return failure();
  Type type = elementOf(n[0]);
  Value x = isFloat(n[0]) ? n[0] : n.g.convert(n[0], n.g.builder.getF32Type());
  if (!isFloat(n[0])) // a window of padding only is the least integer, which -inf saturates to
    return n.yield(n.g.convert(pool(n, PoolKind::Max, x, *kernel, *window, false), type));
  return n.yield(pool(n, PoolKind::Max, x, *kernel, *window, false));
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
  for (int64_t extra : window->extra)
    if (extra)
      return n.unsupported("ceil_mode with a window that is cut off");
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
  Value power = n.g.binary(BinaryKind::Pow, n.g.unary(UnaryKind::Abs, n[0]), p);
  Value sum = n.g.reduce(ReductionKind::Sum, power, spatialDims(n), true);
  return n.yield(n.g.binary(BinaryKind::Pow, sum, 1 / p));
}

ArrayRef<Entry> gpucc::frontend_to_graph::poolRules() {
  static const Entry rules[] = {
      {"MaxPool", 1, latest, 1, maxPool},
      {"AveragePool", 1, latest, 1, averagePool},
      {"LpPool", 2, latest, 1, lpPool},
      {"GlobalAveragePool", 1, latest, 1, globalAverage},
      {"GlobalMaxPool", 1, latest, 1, globalMax},
      {"GlobalLpPool", 2, latest, 1, globalLp},
  };
  return rules;
}
