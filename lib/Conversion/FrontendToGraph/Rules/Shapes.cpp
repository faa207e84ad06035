//===- Shapes.cpp - sizes and shapes --------------------------------------===//
//
// Shapes are static, so Shape and Size are constants, and what reads a shape
// operand needs it constant.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;

static LogicalResult identity(Node &n) { return n.yield(n[0]); }

/// `start` and `end` are clamped to the rank (opset 15).
static LogicalResult shape(Node &n) {
  int64_t rank = n.rank(0);
  auto clamp = [&](int64_t d) { return std::clamp<int64_t>(d < 0 ? d + rank : d, 0, rank); };
  int64_t start = clamp(n.getInt("start", 0)), end = clamp(n.getInt("end", rank));
  Dims dims = shapeOf(n[0]);
  return n.yield(
      n.g.constantInts(ArrayRef<int64_t>(dims).slice(start, std::max<int64_t>(0, end - start))));
}

static LogicalResult size(Node &n) {
  Value count = n.g.constantInts({elementsOf(shapeOf(n[0]))});
  return n.yield(n.g.reshape(count, {}));
}

/// 0 copies the operand's dimension (unless allowzero), -1 takes what is left.
static LogicalResult reshape(Node &n) {
  auto wanted = n.constantInts(1, "the shape");
  if (!wanted)
    return failure();
  bool allowZero = n.getInt("allowzero", 0) != 0;
  Dims from = shapeOf(n[0]), to = *wanted;
  int64_t count = elementsOf(from), known = 1, open = -1;
  for (auto [i, d] : llvm::enumerate(to)) {
    if (d == 0 && !allowZero) {
      if (i >= from.size())
        return n.invalid("the shape copies dimension " + llvm::Twine(i) +
                         " (0), but the operand has " + llvm::Twine(from.size()) + " dimensions");
      d = from[i];
    }
    if (d < -1 || (d == -1 && open >= 0))
      return n.invalid("the shape has " +
                       std::string(d < -1 ? "a negative dimension" : "-1 in more than one place"));
    if (d == -1)
      open = i;
    else if (d != 0 && known > INT64_MAX / d)
      return n.invalid("the shape has more elements than 63 bits can count");
    else
      known *= d;
  }
  if (open >= 0 && allowZero && llvm::is_contained(to, 0))
    return n.invalid("with allowzero the shape must not hold both 0 and -1");
  if (open >= 0) {
    if (known == 0 ? count != 0 : count % known != 0)
      return n.invalid(llvm::Twine(count) + " elements cannot be divided into rows of " +
                       llvm::Twine(known) + " for the -1 of the shape");
    to[open] = known == 0 ? 0 : count / known;
    known *= to[open];
  }
  if (known != count)
    return n.invalid("the operand has " + llvm::Twine(count) + " elements, the shape " +
                     llvm::Twine(known));
  return n.yield(n.g.reshape(n[0], to));
}

static LogicalResult flatten(Node &n) {
  int64_t axis = n.getInt("axis", 1), rank = n.rank(0);
  if (axis < -rank || axis > rank)
    return n.invalid("axis " + llvm::Twine(axis) + " is outside the operand's " +
                     llvm::Twine(rank) + " dimensions");
  axis = axis < 0 ? axis + rank : axis;
  Dims dims = shapeOf(n[0]);
  ArrayRef<int64_t> all(dims);
  return n.yield(
      n.g.reshape(n[0], {elementsOf(all.take_front(axis)), elementsOf(all.drop_front(axis))}));
}

/// Without axes every dimension of size 1 goes.
static LogicalResult squeeze(Node &n) {
  Dims axes, dims = shapeOf(n[0]), kept;
  bool given;
  if (!n.intsFrom("axes", 1, axes, given) || !n.dimensions(axes, n.rank(0)))
    return failure();
  for (auto [d, size] : llvm::enumerate(dims)) {
    bool listed = llvm::is_contained(axes, static_cast<int64_t>(d));
    if (listed && size != 1)
      return n.invalid("dimension " + llvm::Twine(d) + " has size " + llvm::Twine(size) +
                       "; only dimensions of size 1 can be squeezed");
    if (given ? !listed : size != 1)
      kept.push_back(size);
  }
  return n.yield(n.g.reshape(n[0], kept));
}

static LogicalResult unsqueeze(Node &n) {
  Dims axes;
  bool given;
  if (!n.intsFrom("axes", 1, axes, given))
    return failure();
  if (!given)
    return n.invalid("axes are missing");
  if (axes.size() > 64 || !n.dimensions(axes, n.rank(0) + static_cast<int64_t>(axes.size())))
    return failure();
  return n.yield(n.g.insertDims(n[0], axes));
}

/// Broadcast in both directions.
static LogicalResult expand(Node &n) {
  auto wanted = n.constantInts(1, "the shape");
  if (!wanted)
    return failure();
  Dims to = *wanted, from = shapeOf(n[0]);
  if (to.size() < from.size())
    to.insert(to.begin(), from.size() - to.size(), 1);
  for (int64_t d : to)
    if (d < 0)
      return n.invalid("the shape has a negative dimension");
  size_t lead = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (to[lead + d] == 1)
      to[lead + d] = from[d];
  return n.yield(n.g.broadcastTo(n[0], to));
}

/// x repeated along each dimension: [r, d] pairs by broadcasting, then joined.
static LogicalResult tile(Node &n) {
  auto repeats = n.constantInts(1, "repeats");
  if (!repeats)
    return failure();
  Dims dims = shapeOf(n[0]), spread, full, result;
  if (repeats->size() != dims.size())
    return n.invalid("repeats has " + llvm::Twine(repeats->size()) + " entries for " +
                     llvm::Twine(dims.size()) + " dimensions");
  for (auto [d, r] : llvm::zip(dims, *repeats)) {
    if (r < 0 || r > int64_t(1) << 20)
      return n.invalid("a repeat is negative or above 2^20");
    spread.append({1, d});
    full.append({r, d});
    result.push_back(r * d);
  }
  Value pairs = n.g.broadcastTo(n.g.reshape(n[0], spread), full);
  return n.yield(n.g.failed() ? pairs : n.g.reshape(pairs, result));
}

ArrayRef<Entry> gpucc::frontend_to_graph::shapeRules() {
  static const Entry rules[] = {
      {"Identity", 1, latest, 1, identity},   {"Shape", 1, latest, 1, shape},
      {"Size", 1, latest, 1, size},           {"Reshape", 5, latest, 2, reshape},
      {"Flatten", 1, latest, 1, flatten},     {"Squeeze", 1, latest, 1, squeeze},
      {"Unsqueeze", 1, latest, 1, unsqueeze}, {"Expand", 8, latest, 2, expand},
      {"Tile", 6, latest, 2, tile},
  };
  return rules;
}
