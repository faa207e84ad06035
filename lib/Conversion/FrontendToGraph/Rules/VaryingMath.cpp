//===- VaryingMath.cpp - operators that must not see padding --------------===//
//
// Reductions, joins and scatters of tensors of varying size (Varying.cpp). What
// would enter a result is replaced first, by what changes nothing:
//
//   ReduceMax over x [n <= 6], n = 4    max of [x0 x1 x2 x3 -inf -inf]
//   Concat of a [n <= 6] and b [2]      gather: i < n ? a[i] : b[i - n], and n + 2 are real
//   ScatterND at [n <= 6, 1]            padding rows point outside and are dropped
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Varying.h"

#include "lib/Conversion/FrontendToGraph/Rules/VaryingRules.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// Less than all numbers of the type (greater when `greatest`), or equal to the last of them.
static double extreme(Type type, bool greatest) {
  if (isa<FloatType>(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return greatest ? infinity : -infinity;
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return greatest;
  if (cast<IntegerType>(type).isUnsigned())
    return greatest ? std::ldexp(1.0, static_cast<int>(width)) - (width < 54) : 0;
  double half = std::ldexp(1.0, static_cast<int>(width) - 1);
  return greatest ? half - (width < 54) : -half;
}

namespace {
/// Axes of a reduction; all of them where none are given (unless that means no reduction).
struct Reduced {
  Dims axes;
  bool keep = true, none = false;
  std::optional<int64_t> shifted(int64_t dim) const { ///< where a kept dimension goes
    if (llvm::is_contained(axes, dim))
      return std::nullopt;
    return keep ? dim : dim - llvm::count_if(axes, [&](int64_t a) { return a < dim; });
  }
};
} // namespace

static std::optional<Reduced> reducedOf(Node &n) {
  Reduced r;
  bool given;
  if (!n.intsFrom("axes", 1, r.axes, given) || !n.dimensions(r.axes, n.rank(0)))
    return std::nullopt;
  r.keep = n.getInt("keepdims", 1) != 0;
  r.none = r.axes.empty() && n.getInt("noop_with_empty_axes", 0) != 0;
  if (r.axes.empty() && !r.none)
    for (int64_t d = 0; d < n.rank(0); ++d)
      r.axes.push_back(d);
  return r;
}

enum class Neutral { Zero, One, Least, Greatest };

/// Over other dimensions as ever; over the one that varies with `neutral` in the padding.
template <Neutral neutral> static LogicalResult reduce(Node &n, Rule plain) {
  std::optional<Varying> size;
  if (!n.varying(0))
    return mixes(n, "it is the axes' own");
  if (failed(onlyFirstVaries(n, size)))
    return failure();
  auto reduced = reducedOf(n);
  if (!reduced)
    return failure();
  std::optional<int64_t> dim = reduced->shifted(size->dim);
  if (!dim && neutral == Neutral::Greatest && elementOf(n[0]).isUnsignedInteger(64))
    return mixes(n, "the least of numbers of 64 bits without a sign is asked for");
  if (!dim)
    n.replace(0, withPadding(n, 0,
                             neutral == Neutral::Zero ? 0
                             : neutral == Neutral::One
                                 ? 1
                                 : extreme(elementOf(n[0]), neutral == Neutral::Greatest)));
  if (failed(plain(n)))
    return failure();
  if (dim)
    n.setVarying(0, *dim, size->count, size->producer);
  return success();
}

/// The sum of the real entries by their number.
static LogicalResult reduceMean(Node &n, Rule plain) {
  std::optional<Varying> size;
  if (!n.varying(0))
    return mixes(n, "it is the axes' own");
  if (failed(onlyFirstVaries(n, size)))
    return failure();
  auto reduced = reducedOf(n);
  if (!reduced)
    return failure();
  if (std::optional<int64_t> dim = reduced->shifted(size->dim)) {
    if (failed(plain(n)))
      return failure();
    n.setVarying(0, *dim, size->count, size->producer);
    return success();
  }
  GraphBuilder &g = n.g;
  Value wide = g.widenForSums(withPadding(n, 0, 0));
  Value sum = g.reduce(ReductionKind::Sum, wide, reduced->axes, reduced->keep);
  double others = 1;
  for (int64_t axis : reduced->axes)
    others *= axis == size->dim ? 1 : static_cast<double>(shapeOf(n[0])[axis]);
  Value number = g.binary(BinaryKind::Mul, g.convert(size->count, elementOf(sum)), others);
  return n.yield(g.convert(g.div(sum, number), elementOf(n[0])));
}

/// Padding loses to every real entry that comes before it.
template <bool greatest> static LogicalResult argReduce(Node &n, Rule plain) {
  Varying size = *n.varying(0);
  auto axis = n.dimension(n.getInt("axis", 0), n.rank(0));
  if (!axis)
    return failure();
  if (*axis == size.dim && n.getInt("select_last_index", 0) != 0)
    return mixes(n, "the last of equal entries along that dimension is asked for");
  if (*axis == size.dim && !greatest && elementOf(n[0]).isUnsignedInteger(64))
    return mixes(n, "the least of numbers of 64 bits without a sign is asked for");
  if (*axis == size.dim)
    n.replace(0, withPadding(n, 0, extreme(elementOf(n[0]), !greatest)));
  if (failed(plain(n)))
    return failure();
  bool keep = n.getInt("keepdims", 1) != 0;
  if (*axis != size.dim)
    n.setVarying(0, size.dim - (!keep && *axis < size.dim), size.count, size.producer);
  return success();
}

/// Padding comes last in the order: below all numbers, or, where the least ones are wanted, NaN.
static LogicalResult topK(Node &n, Rule plain) {
  auto axis = n.has(0) ? n.dimension(n.getInt("axis", -1), n.rank(0)) : std::nullopt;
  if (!axis)
    return failure();
  if (!n.varying(0))
    return mixes(n, "it is k's own");
  if (*axis != n.varying(0)->dim)
    return keepDim(n, plain);
  bool least = n.getInt("largest", 1) == 0;
  if (least && elementOf(n[0]).isUnsignedInteger(64))
    return mixes(n, "the least of numbers of 64 bits without a sign are asked for");
  double padding = least && isFloat(n[0]) ? std::numeric_limits<double>::quiet_NaN()
                                          : extreme(elementOf(n[0]), least);
  n.replace(0, withPadding(n, 0, padding));
  return plain(n);
}

/// A running sum from the front meets padding last.
static LogicalResult cumulative(Node &n, Rule plain) {
  if (!n.varying(0))
    return mixes(n, "it is the axis' own");
  auto given = n.constantInts(1, "axis");
  if (!given)
    return failure();
  if (given->size() != 1)
    return plain(n); // which says what is wrong
  auto axis = n.dimension(given->front(), n.rank(0));
  if (!axis)
    return failure();
  if (*axis == n.varying(0)->dim && n.getInt("reverse", 0) != 0)
    return mixes(n, "a reverse sum along that dimension begins with the padding");
  return keepDim(n, plain);
}

static LogicalResult softmax(Node &n, Rule plain) {
  auto axis = n.dimension(n.getInt("axis", n.version() < 13 ? 1 : -1), n.rank(0));
  if (!axis)
    return failure();
  int64_t dim = n.varying(0)->dim;
  if (n.version() < 13 ? *axis <= dim : *axis == dim) {
    if (n.version() < 13)
      return mixes(n, "it is one of the normalized dimensions");
    Varying size = *n.varying(0);
    n.replace(0, withPadding(n, 0, -std::numeric_limits<double>::infinity()));
    if (failed(plain(n)))
      return failure();
    n.setVarying(0, size.dim, size.count, size.producer);
    return success();
  }
  return keepDim(n, plain);
}

/// Rows of the left side, columns of the right one.
static LogicalResult matMul(Node &n, Rule plain) {
  const Varying *left = n.varying(0), *right = n.varying(1);
  if (left && right)
    return mixes(n, "both its operands vary");
  Varying size = left ? *left : *right;
  int64_t rank = n.rank(left ? 0 : 1), other = n.rank(left ? 1 : 0);
  int64_t inner = left ? rank - 1 : std::max<int64_t>(rank - 2, 0);
  if (size.dim == inner)
    return mixes(n, "the product sums over that dimension");
  if (other > 2 && size.dim < rank - 2)
    return mixes(n, "it is one of the batch, which the other operand has, too");
  if (failed(plain(n)))
    return failure();
  // Dimensions are counted from the end: [.., M, K] x [.., K, N] -> [.., M, N]; a vector has none.
  int64_t results = rankOf(n.resultValues()[0]), fromEnd = rank - size.dim;
  int64_t dim = results - fromEnd + (left && other == 1) + (!left && other == 1 && fromEnd > 1);
  n.setVarying(0, dim, size.count, size.producer);
  return success();
}

static LogicalResult gemm(Node &n, Rule plain) {
  if (!n.varying(0) || n.varying(1) || n.varying(2))
    return mixes(n, "only rows of its first operand may vary");
  Varying size = *n.varying(0);
  if (size.dim != (n.getInt("transA", 0) ? 1 : 0))
    return mixes(n, "the product sums over that dimension");
  if (n.has(2) && n.rank(2) == 2 && shapeOf(n[2])[0] != 1)
    return mixes(n, "C has a fixed number of rows");
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, 0, size.count, size.producer);
  return success();
}

/// [.., count, ..], which is no constant any more.
static LogicalResult shape(Node &n, Rule plain) {
  Varying size = *n.varying(0);
  int64_t rank = n.rank(0);
  auto clamp = [&](int64_t d) { return std::clamp<int64_t>(d < 0 ? d + rank : d, 0, rank); };
  int64_t start = clamp(n.getInt("start", 0)), end = clamp(n.getInt("end", rank));
  if (size.dim < start || size.dim >= end)
    return plain(n);
  GraphBuilder &g = n.g;
  Dims dims = shapeOf(n[0]);
  SmallVector<Value> parts;
  for (int64_t d = start; d < end; ++d)
    parts.push_back(d == size.dim ? g.reshape(size.count, {1}) : g.constantInts({dims[d]}));
  return n.yield(g.concat(parts, 0));
}

static LogicalResult size(Node &n, Rule) {
  const Varying &own = *n.varying(0);
  int64_t others = 1;
  for (auto [d, extent] : llvm::enumerate(shapeOf(n[0])))
    others *= static_cast<int64_t>(d) == own.dim ? 1 : extent;
  return n.yield(n.g.binary(BinaryKind::Mul, own.count, double(others)));
}

/// Along other dimensions as ever; along the one that varies from its front, with step 1.
static LogicalResult slice(Node &n, Rule plain) {
  std::optional<Varying> size;
  if (!n.varying(0))
    return mixes(n, "it is what the bounds are computed from");
  if (failed(onlyFirstVaries(n, size)))
    return failure();
  Dims starts, ends, axes, steps;
  bool given;
  if (!n.intsFrom("starts", 1, starts, given) || !n.intsFrom("ends", 2, ends, given) ||
      !n.intsFrom("axes", 3, axes, given))
    return failure();
  for (size_t i = 0; !given && i < starts.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  if (!n.intsFrom("steps", 4, steps, given))
    return failure();
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      (given && steps.size() != starts.size()))
    return plain(n); // which says what is wrong
  int64_t bound = shapeOf(n[0])[size->dim];
  Value count = size->count;
  for (size_t i = 0; i < starts.size(); ++i) {
    auto axis = n.dimension(axes[i], n.rank(0));
    if (!axis)
      return failure();
    if (*axis != size->dim)
      continue;
    if (starts[i] < 0 || ends[i] < 0 || (given && steps[i] != 1))
      return mixes(n, "the slice counts from the end of that dimension, or in steps");
    int64_t end = std::min(ends[i], bound);
    count = n.g.binary(BinaryKind::Min, count, double(end));
    count = n.g.binary(BinaryKind::Sub, count, double(std::min(starts[i], end)));
    count = n.g.binary(BinaryKind::Max, count, 0.0);
  }
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, size->dim, count, size->producer);
  return success();
}

/// Parts one behind the other, each with its real entries only: entry i is entry i - (those of the
/// parts before) of the last part that begins at or before i.
static LogicalResult concatAlong(Node &n, int64_t dim, StringRef producer) {
  GraphBuilder &g = n.g;
  Type index = g.builder.getI64Type();
  Value padded = g.concat(n.all(), dim);
  if (g.failed())
    return failure();
  Value place = g.iota({shapeOf(padded)[dim]}, 0, index), from;
  Value begin = g.scalar(index, 0);
  int64_t base = 0;
  for (unsigned i = 0; i < n.size(); ++i) {
    Value here = g.binary(BinaryKind::Add, g.sub(place, begin), double(base));
    from = from ? g.select(g.compare(CompareKind::Ge, place, begin), here, from) : here;
    int64_t bound = shapeOf(n[i])[dim];
    const Varying *own = n.varying(i);
    begin = g.add(begin, own ? own->count : g.scalar(index, double(bound)));
    base += bound;
  }
  // What lies behind the last real entry is padding: any entry, but one that exists.
  from = g.binary(BinaryKind::Min, from, double(shapeOf(padded)[dim] - 1));
  if (failed(n.yield(g.gather(padded, from, dim))))
    return failure();
  n.setVarying(0, dim, begin, producer);
  return success();
}

static LogicalResult concat(Node &n, Rule plain) {
  int64_t rank = n.has(0) ? n.rank(0) : 0;
  auto axis = n.dimension(n.getInt("axis", 0), rank);
  if (!axis)
    return failure();
  std::optional<Varying> size;
  for (unsigned i = 0; i < n.size(); ++i) {
    if (!n.has(i) || n.rank(i) != rank)
      return plain(n); // which says what is wrong
    if (const Varying *own = n.varying(i)) {
      if (size && (own->dim != size->dim || (own->dim != *axis && own->count != size->count)))
        return mixes(n, "its parts vary along several dimensions or by several counts");
      size = *own;
    }
  }
  if (size->dim == *axis)
    return concatAlong(n, *axis, size->producer);
  for (unsigned i = 0; i < n.size(); ++i)
    if (!n.varying(i))
      return mixes(n, "another part has a fixed size along that dimension");
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, size->dim, size->count, size->producer);
  return success();
}

/// Rows of padding address what lies behind the data's end.
static LogicalResult scatterNd(Node &n, Rule plain) {
  const Varying *size = n.varying(1), *updates = n.varying(2);
  int64_t last = n.rank(1) - 1;
  if (n.varying(0) || !size || size->dim == last || !updates || updates->dim != size->dim ||
      updates->count != size->count)
    return mixes(n, "only its rows of indices and updates may vary, by one count");
  GraphBuilder &g = n.g;
  Dims shape = shapeOf(n[1]);
  Value index = g.convert(n[1], g.builder.getI64Type());
  Value isFirst =
      g.compare(CompareKind::Eq, g.iota(shape, last, elementOf(index)), g.splatLike(index, 0));
  Value outside =
      g.select(isFirst, g.splatLike(index, double(shapeOf(n[0])[0])), g.splatLike(index, 0));
  n.replace(1, g.select(realEntries(g, shape, size->dim, size->count), index, outside));
  return plain(n);
}

static LogicalResult scatterElements(Node &n, Rule plain) {
  const Varying *size = n.varying(1), *updates = n.varying(2);
  if (n.rank(0) != 1 || n.varying(0) || !size || !updates || updates->count != size->count)
    return mixes(n, "only indices and updates of a vector may vary, by one count");
  Value index = n.g.convert(n[1], n.g.builder.getI64Type());
  n.replace(1, n.g.select(realEntries(n.g, shapeOf(index), 0, size->count), index,
                          n.g.splatLike(index, double(shapeOf(n[0])[0]))));
  return plain(n);
}

ArrayRef<VaryingEntry> frontend_to_graph::varyingMathRules() {
  static const VaryingEntry rules[] = {
      {"ReduceSum", reduce<Neutral::Zero>},
      {"ReduceL1", reduce<Neutral::Zero>},
      {"ReduceL2", reduce<Neutral::Zero>},
      {"ReduceSumSquare", reduce<Neutral::Zero>},
      {"ReduceLogSum", reduce<Neutral::Zero>},
      {"ReduceLogSumExp", reduce<Neutral::Least>},
      {"ReduceProd", reduce<Neutral::One>},
      {"ReduceMax", reduce<Neutral::Least>},
      {"ReduceMin", reduce<Neutral::Greatest>},
      {"ReduceMean", reduceMean},
      {"ArgMax", argReduce<true>},
      {"ArgMin", argReduce<false>},
      {"TopK", topK},
      {"CumSum", cumulative},
      {"Softmax", softmax},
      {"MatMul", matMul},
      {"Gemm", gemm},
      {"Shape", shape},
      {"Size", size},
      {"Slice", slice},
      {"Concat", concat},
      {"ScatterND", scatterNd},
      {"ScatterElements", scatterElements},
  };
  return rules;
}
