//===- Movement.cpp - the same elements elsewhere -------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static LogicalResult transpose(Node &n) {
  Dims permutation;
  if (auto given = n.getInts("perm"))
    permutation = *given;
  else
    for (int64_t d = n.rank(0); d-- > 0;)
      permutation.push_back(d);
  for (int64_t &d : permutation) {
    auto checked = n.dimension(d, n.rank(0));
    if (!checked)
      return failure();
    d = *checked;
  }
  return n.yield(n.g.transpose(n[0], permutation));
}

static LogicalResult concat(Node &n) {
  auto dim = n.dimension(n.getInt("axis", 0), n.rank(0));
  if (!dim)
    return failure();
  SmallVector<Value> parts;
  for (Value part : n.all()) {
    if (!part)
      return n.invalid("one of its operands is missing");
    // Numpy's leniency for empty 1-D parts does not exist in ONNX.
    parts.push_back(part);
  }
  return n.yield(n.g.concat(parts, *dim));
}

/// Sizes: attribute (to 12), operand, or equal parts (the last may be smaller).
static LogicalResult split(Node &n) {
  auto dim = n.dimension(n.getInt("axis", 0), n.rank(0));
  Dims sizes;
  bool given;
  if (!dim || !n.intsFrom("split", 1, sizes, given))
    return failure();
  int64_t total = typeOf(n[0]).getDimSize(*dim), parts = n.numResults();
  if (!given) {
    if (parts < 1 || n.getInt("num_outputs", parts) != parts)
      return n.invalid("it has " + llvm::Twine(parts) + " results, but num_outputs is " +
                       llvm::Twine(n.getInt("num_outputs", parts)));
    int64_t chunk = (total + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(total - i * chunk, 0, chunk));
  }
  int64_t sum = 0;
  for (int64_t s : sizes) {
    if (s < 0 || s > total)
      return n.invalid("a part has size " + llvm::Twine(s));
    sum += s;
  }
  if (sum != total)
    return n.invalid("the parts sum to " + llvm::Twine(sum) + "; the dimension has size " +
                     llvm::Twine(total));
  SmallVector<Value> values;
  int64_t start = 0;
  for (int64_t s : sizes) {
    values.push_back(n.g.slice(n[0], *dim, start, s));
    start += s;
  }
  return n.yield(values);
}

namespace {
/// Where one dimension of a slice begins, how many elements, which step.
struct Stretch {
  int64_t start, size, step;
};
} // namespace

/// Negative bounds count from the end, then are clamped: with a positive step to [0, dim], with a negative one `start`
/// to [0, dim - 1] and `end` to [-1, dim - 1] (ONNX, Slice; NumPy lets such a start end before the first element).
static Stretch sliceRange(int64_t start, int64_t end, int64_t step, int64_t dim) {
  auto wrap = [&](int64_t v) { return v < 0 ? std::max<int64_t>(v, -dim - 1) + dim : v; };
  if (step > 0) {
    start = std::clamp<int64_t>(wrap(start), 0, dim);
    end = std::clamp<int64_t>(wrap(end), 0, dim);
    return {start, start < end ? (end - start - 1) / step + 1 : 0, step};
  }
  if (dim == 0)
    return {0, 0, step};
  start = std::clamp<int64_t>(wrap(start), 0, dim - 1);
  end = std::clamp<int64_t>(wrap(end), -1, dim - 1);
  uint64_t stride = -static_cast<uint64_t>(step); // also for the least integer
  return {start, start > end ? static_cast<int64_t>((start - end - 1) / stride) + 1 : 0, step};
}

static LogicalResult slice(Node &n) {
  Dims starts, ends, axes, steps;
  bool given, axesGiven, stepsGiven;
  if (!n.intsFrom("starts", 1, starts, given) || !n.intsFrom("ends", 2, ends, given) ||
      !n.intsFrom("axes", 3, axes, axesGiven) || !n.intsFrom("steps", 4, steps, stepsGiven))
    return failure();
  if (!axesGiven)
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(i);
  if (Dims known = axes; !n.dimensions(known, n.rank(0)))
    return failure();
  if (!stepsGiven)
    steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return n.invalid(
        "starts, ends, axes and steps are not equally long; they have one entry per axis");
  int64_t rank = n.rank(0);
  Dims begin(rank, 0), sizes = shapeOf(n[0]), strides(rank, 1);
  for (auto [start, end, axis, step] : llvm::zip(starts, ends, axes, steps)) {
    auto dim = n.dimension(axis, rank);
    if (!dim)
      return failure();
    if (step == 0)
      return n.invalid("a step is 0; steps are positive or negative");
    Stretch range = sliceRange(start, end, step, typeOf(n[0]).getDimSize(*dim));
    begin[*dim] = range.size ? range.start : 0;
    sizes[*dim] = range.size;
    strides[*dim] = range.size > 1 ? range.step : 1;
  }
  return n.yield(n.g.slice(n[0], begin, sizes, strides));
}

/// Cuts what negative padding takes away; the pads become zero there.
static Value crop(GraphBuilder &g, Value x, Dims &low, Dims &high) {
  Dims start(rankOf(x), 0), sizes = shapeOf(x), ones(rankOf(x), 1);
  for (int64_t d = 0; d < rankOf(x); ++d) {
    start[d] = std::max<int64_t>(0, -low[d]);
    sizes[d] += std::min<int64_t>(0, low[d]) + std::min<int64_t>(0, high[d]);
    if (sizes[d] < 0) {
      g.error("negative padding takes away more than dimension " + llvm::Twine(d) + " has");
      return x;
    }
    low[d] = std::max<int64_t>(0, low[d]);
    high[d] = std::max<int64_t>(0, high[d]);
  }
  return g.slice(x, start, sizes, ones);
}

/// Reflection of more than the dimension has is done in steps, as NumPy does.
static Value padWithMode(GraphBuilder &g, PadKind kind, Value x, Dims low, Dims high) {
  while (!g.failed()) {
    Dims nowLow = low, nowHigh = high;
    bool done = true, stuck = false;
    for (int64_t d = 0; d < rankOf(x); ++d) {
      int64_t size = typeOf(x).getDimSize(d);
      int64_t most = kind == PadKind::Reflect ? size - 1 : kind == PadKind::Wrap ? size : INT64_MAX;
      if (kind == PadKind::Wrap && (low[d] > size || high[d] > size)) {
        // Rows repeat, so the far ones are taken when the copy is as long as it needs to be.
        nowLow[d] = std::min(low[d], size);
        nowHigh[d] = std::min(high[d], size);
      } else {
        nowLow[d] = std::min(low[d], most);
        nowHigh[d] = std::min(high[d], most);
      }
      low[d] -= nowLow[d];
      high[d] -= nowHigh[d];
      done &= low[d] == 0 && high[d] == 0;
      stuck |= (low[d] > 0 && nowLow[d] <= 0) || (high[d] > 0 && nowHigh[d] <= 0);
    }
    if (stuck) {
      g.error("a dimension of size 1 or 0 cannot be padded in this mode; use mode constant");
      return x;
    }
    x = g.create<PadOp>(kind, x, Value(), nowLow, nowHigh, Dims(low.size(), 0));
    if (done)
      return x;
  }
  return x;
}

static LogicalResult pad(Node &n) {
  Dims pads, axes;
  bool given, axesGiven;
  if (!n.intsFrom("pads", 1, pads, given))
    return failure();
  int64_t rank = n.rank(0);
  axesGiven = n.has(3);
  if (axesGiven) {
    auto listed = n.constantInts(3, "axes");
    if (!listed)
      return failure();
    axes = *listed;
  } else {
    for (int64_t d = 0; d < rank; ++d)
      axes.push_back(d);
  }
  if (pads.size() != 2 * axes.size())
    return n.invalid("pads has " + llvm::Twine(pads.size()) + " entries for " +
                     llvm::Twine(axes.size()) + " dimensions; expected are two each");
  Dims low(rank, 0), high(rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    auto dim = n.dimension(axis, rank);
    if (!dim)
      return failure();
    constexpr int64_t most = int64_t(1) << 40;
    if (std::min(pads[i], pads[i + axes.size()]) < -most ||
        std::max(pads[i], pads[i + axes.size()]) > most)
      return n.invalid("a pad is beyond 2^40");
    low[*dim] = pads[i];
    high[*dim] = pads[i + axes.size()];
  }
  StringRef mode = n.getString("mode", "constant");
  Value x = crop(n.g, n[0], low, high);
  if (n.g.failed())
    return failure();
  if (mode == "constant") {
    Value value =
        n.has(2) ? n.g.reshape(n[2], {}) : n.g.scalar(elementOf(x), n.getFloat("value", 0));
    return n.yield(n.g.failed() ? x : n.g.pad(x, low, high, value));
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    return n.invalid("mode is '" + mode + "'; constant, reflect, edge and wrap are allowed");
  PadKind kind = mode == "reflect" ? PadKind::Reflect
                 : mode == "edge"  ? PadKind::Edge
                                   : PadKind::Wrap;
  return n.yield(padWithMode(n.g, kind, x, low, high));
}

static LogicalResult depthToSpace(Node &n) {
  int64_t block = n.getInt("blocksize", 0);
  Dims s = shapeOf(n[0]);
  if (s.size() != 4 || block < 1 || block > 1 << 20 || s[1] % (block * block) != 0)
    return n.invalid("it needs a rank-4 operand whose channels are a multiple of blocksize²");
  int64_t depth = s[1] / (block * block);
  bool crd = n.getString("mode", "DCR") == "CRD";
  Value x = crd ? n.g.reshape(n[0], {s[0], depth, block, block, s[2], s[3]})
                : n.g.reshape(n[0], {s[0], block, block, depth, s[2], s[3]});
  x = crd ? n.g.transpose(x, {0, 1, 4, 2, 5, 3}) : n.g.transpose(x, {0, 3, 4, 1, 5, 2});
  return n.yield(n.g.reshape(x, {s[0], depth, s[2] * block, s[3] * block}));
}

static LogicalResult spaceToDepth(Node &n) {
  int64_t b = n.getInt("blocksize", 0);
  Dims s = shapeOf(n[0]);
  if (s.size() != 4 || b < 1 || b > 1 << 20 || s[2] % b != 0 || s[3] % b != 0)
    return n.invalid("it needs a rank-4 operand whose spatial sizes are multiples of blocksize");
  Value x = n.g.reshape(n[0], {s[0], s[1], s[2] / b, b, s[3] / b, b});
  x = n.g.transpose(x, {0, 3, 5, 1, 2, 4});
  return n.yield(n.g.reshape(x, {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

/// Each axis is cut or padded around its middle.
static LogicalResult centerCropPad(Node &n) {
  auto wanted = n.constantInts(1, "the shape");
  if (!wanted)
    return failure();
  int64_t rank = n.rank(0);
  Dims axes = n.getInts("axes").value_or(Dims());
  if (!n.hasAttr("axes"))
    for (int64_t d = 0; d < rank; ++d)
      axes.push_back(d);
  if (axes.size() != wanted->size())
    return n.invalid("the shape has another length than axes");
  Dims low(rank, 0), high(rank, 0);
  for (auto [axis, size] : llvm::zip(axes, *wanted)) {
    auto dim = n.dimension(axis, rank);
    if (!dim)
      return failure();
    if (size < 0 || size > int64_t(1) << 40)
      return n.invalid("a size is negative or beyond 2^40");
    int64_t extra = size - typeOf(n[0]).getDimSize(*dim);
    // The smaller half comes first: floor for padding, and for cropping as well.
    low[*dim] = extra >= 0 ? extra / 2 : -(-extra / 2);
    high[*dim] = extra - low[*dim];
  }
  Value x = crop(n.g, n[0], low, high);
  if (n.g.failed())
    return failure();
  return n.yield(n.g.pad(x, low, high, n.g.scalar(elementOf(x), 0)));
}

ArrayRef<Entry> gpucc::frontend_to_graph::movementRules() {
  static const Entry rules[] = {
      {"Transpose", 1, latest, 1, transpose},
      {"Concat", 4, latest, 1, concat},
      {"Split", 2, latest, 1, split},
      {"Slice", 1, latest, 1, slice},
      {"Pad", 2, latest, 1, pad},
      {"DepthToSpace", 1, latest, 1, depthToSpace},
      {"SpaceToDepth", 1, latest, 1, spaceToDepth},
      {"CenterCropPad", 18, latest, 2, centerCropPad},
  };
  return rules;
}
