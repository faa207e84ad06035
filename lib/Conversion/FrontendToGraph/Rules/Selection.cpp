//===- Selection.cpp - TopK, NonZero, Compress, Unique --------------------===//
//
// TopK has a fixed size and runs anywhere. How many elements NonZero, Compress
// and Unique give depends on values: they are evaluated here when those values
// are known (masks made of shapes, positions of a constant); otherwise their
// results have a bound and a count (RunTimeSelection.cpp).
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/RunTimeSelection.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// k is an attribute up to opset 9; order by value, equal ones by index.
static LogicalResult topK(Node &n) {
  GraphBuilder &g = n.g;
  int64_t k = n.getInt("k", 0);
  if (n.version() >= 10) {
    auto given = n.constantInts(1, "k");
    if (!given || given->size() != 1)
      return given ? n.invalid("k must be one number") : failure();
    k = given->front();
  }
  auto dim = n.dimension(n.getInt("axis", -1), n.rank(0));
  if (!dim)
    return failure();
  Dims shape = shapeOf(n[0]), swap;
  if (k < 0 || k > shape[*dim])
    return n.invalid("k is " + Twine(k) + " for a dimension of " + Twine(shape[*dim]));
  if (k == 0) {
    shape[*dim] = 0;
    return n.yield({g.splat(RankedTensorType::get(shape, elementOf(n[0])), 0),
                    g.splat(RankedTensorType::get(shape, g.builder.getI64Type()), 0)});
  }
  for (int64_t d = 0; d < n.rank(0); ++d)
    swap.push_back(d);
  std::swap(swap[*dim], swap.back()); // its own inverse
  Value x = g.transpose(n[0], swap);
  if (g.failed())
    return failure();
  SmallVector<Value> best = g.createMany<TopKOp>(2, x, k, n.getInt("largest", 1) == 0);
  return n.yield({g.transpose(best[0], swap), g.transpose(best[1], swap)});
}

static bool isZeroAt(const HostTensor &t, int64_t i) {
  return gpucc::isFloat(t.dtype()) ? t.getFloat(i) == 0 : t.getInt(i) == 0;
}

/// [rank, count]: the coordinates of what is not zero, in row-major order.
static LogicalResult nonZero(Node &n) {
  auto tensor = n.constant(0);
  if (!tensor)
    return nonZeroAtRunTime(n);
  std::vector<int64_t> where;
  for (int64_t i = 0; i < tensor->numElements(); ++i)
    if (!isZeroAt(*tensor, i))
      where.push_back(i);
  int64_t rank = tensor->rank(), count = where.size();
  HostTensor result(gpucc::DType::I64, {rank, count});
  std::vector<int64_t> strides = HostTensor::stridesOf(tensor->shape());
  for (int64_t d = 0; d < rank; ++d)
    for (int64_t i = 0; i < count; ++i)
      result.setInt(d * count + i, where[i] / strides[d] % tensor->shape()[d]);
  return n.yield(n.g.constant(result));
}

/// The slices (or elements, without an axis) whose condition is true.
static LogicalResult compress(Node &n) {
  std::optional<int64_t> given;
  if (n.hasAttr("axis")) {
    given = n.dimension(n.getInt("axis", 0), n.rank(0));
    if (!given)
      return failure();
  }
  auto condition = n.constant(1);
  if (!condition || n.varying(0))
    return compressAtRunTime(n, given);
  Value x = given ? n[0] : n.g.reshape(n[0], {elementsOf(shapeOf(n[0]))});
  int64_t axis = given.value_or(0);
  Dims kept;
  for (int64_t i = 0; i < std::min(condition->numElements(), shapeOf(x)[axis]); ++i)
    if (condition->getInt(i))
      kept.push_back(i);
  return n.yield(n.g.gather(x, n.g.constantInts(kept), axis));
}

namespace {
/// The slices of a tensor along one dimension, or its elements, ordered by value.
class Slices {
public:
  Slices(const HostTensor &t, std::optional<int64_t> axis) : t(t) {
    if (!axis) {
      count = t.numElements();
      return;
    }
    count = t.shape()[*axis];
    for (int64_t d = *axis + 1; d < t.rank(); ++d)
      inner *= t.shape()[d];
    for (int64_t d = 0; d < *axis; ++d)
      outer *= t.shape()[d];
  }
  int64_t count, inner = 1, outer = 1;

  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t pa = (o * count + a) * inner + i, pb = (o * count + b) * inner + i;
        int order = gpucc::isFloat(t.dtype()) ? floatSign(t.getFloat(pa), t.getFloat(pb))
                    : t.dtype() == DType::U64
                        ? sign<uint64_t>(t.getInt(pa), t.getInt(pb)) // getInt gives its bits
                        : sign(t.getInt(pa), t.getInt(pb));
        if (order)
          return order;
      }
    return 0;
  }

private:
  template <typename T> static int sign(T a, T b) { return a < b ? -1 : a > b; }
  /// As NumPy orders: NaN last, all of them equal.
  static int floatSign(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? sign(std::isnan(a), std::isnan(b)) : sign(a, b);
  }
  const HostTensor &t;
};

/// Classes of equal slices: the first of each, its size, and which class each slice belongs to.
struct Classes {
  std::vector<int64_t> first, sizes, of;
};

Classes classesOf(const Slices &slices, bool sorted) {
  std::vector<int64_t> order(slices.count);
  std::iota(order.begin(), order.end(), int64_t(0));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    int difference = slices.compare(a, b);
    return difference < 0 || (difference == 0 && a < b);
  });
  std::vector<std::vector<int64_t>> members;
  for (int64_t i : order) {
    if (members.empty() || slices.compare(members.back().front(), i) != 0)
      members.emplace_back();
    members.back().push_back(i);
  }
  if (!sorted)
    llvm::sort(members, [](auto &a, auto &b) { return a.front() < b.front(); });
  Classes c;
  c.of.resize(slices.count);
  for (auto [k, group] : llvm::enumerate(members)) {
    c.first.push_back(group.front());
    c.sizes.push_back(group.size());
    for (int64_t i : group)
      c.of[i] = k;
  }
  return c;
}
} // namespace

static LogicalResult unique(Node &n) {
  std::optional<int64_t> axis;
  if (n.hasAttr("axis")) {
    axis = n.dimension(n.getInt("axis", 0), n.rank(0));
    if (!axis)
      return failure();
  }
  auto tensor = n.constant(0);
  if (!tensor)
    return uniqueAtRunTime(n, axis);
  Classes c = classesOf(Slices(*tensor, axis), n.getInt("sorted", 1) != 0);
  GraphBuilder &g = n.g;
  Value x = axis ? n[0] : g.reshape(n[0], {tensor->numElements()});
  Value first = g.constantInts(c.first);
  return n.yield(
      {g.gather(x, first, axis.value_or(0)), first, g.constantInts(c.of), g.constantInts(c.sizes)});
}

ArrayRef<Entry> gpucc::frontend_to_graph::selectionRules() {
  static const Entry rules[] = {
      {"TopK", 1, latest, 1, topK},
      {"NonZero", 9, latest, 1, nonZero},
      {"Compress", 9, latest, 2, compress},
      {"Unique", 11, latest, 1, unique},
  };
  return rules;
}
