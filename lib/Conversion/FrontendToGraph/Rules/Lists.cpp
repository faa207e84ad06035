//===- Lists.cpp - sequences of tensors, resolved while importing ---------===//
//
// A sequence whose length and positions are known is a list of values here, and
// nothing of it is left in the program:
//
//   SplitToSequence(x [6,4], axis 0) -> [x0 .. x5];  SequenceAt(.., 2) -> x2
//
// Sequences of unknown length (a Loop that appends without a known count) are
// refused.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/ModelConverter.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

/// Operand i as a sequence; null after an error.
static const ModelConverter::List *listOf(Node &n, unsigned i) {
  if (auto *list = n.model.listOf(n.op.getInputs()[i]))
    return list;
  (void)n.invalid("operand " + Twine(i) + " is no sequence");
  return nullptr;
}

static LogicalResult yieldList(Node &n, ModelConverter::List list) {
  n.model.setList(n.op.getOutputs()[0], std::move(list));
  return success();
}

/// A position from operand i, `otherwise` without one; counted from the end when negative.
static std::optional<int64_t> position(Node &n, unsigned i, int64_t size, int64_t otherwise) {
  int64_t at = otherwise;
  if (n.has(i)) {
    auto given = n.constantInts(i, "the position");
    if (!given || given->size() != 1)
      return std::nullopt;
    at = given->front() < 0 ? given->front() + size : given->front();
  }
  if (at >= 0 && at <= size)
    return at;
  (void)n.invalid("position " + Twine(at) + " is outside a sequence of " + Twine(size));
  return std::nullopt;
}

static LogicalResult sequenceEmpty(Node &n) { return yieldList(n, {}); }

static LogicalResult sequenceConstruct(Node &n) {
  for (unsigned i = 0; i < n.size(); ++i)
    if (!n.has(i))
      return n.invalid("operand " + Twine(i) + " is missing or no tensor");
  return yieldList(n, ModelConverter::List(n.all()));
}

static LogicalResult sequenceAt(Node &n) {
  const auto *list = listOf(n, 0);
  if (!list)
    return failure();
  auto at = position(n, 1, list->size(), 0);
  if (!at)
    return failure();
  if (*at == int64_t(list->size()))
    return n.invalid("position " + Twine(*at) + " is outside a sequence of " + Twine(*at));
  return n.yield((*list)[*at]);
}

static LogicalResult sequenceInsert(Node &n) {
  const auto *list = listOf(n, 0);
  if (!list || !n.has(1))
    return list ? n.invalid("operand 1 is missing or no tensor") : failure();
  auto at = position(n, 2, list->size(), list->size());
  if (!at)
    return failure();
  ModelConverter::List longer(*list);
  longer.insert(longer.begin() + *at, n[1]);
  return yieldList(n, std::move(longer));
}

static LogicalResult sequenceErase(Node &n) {
  const auto *list = listOf(n, 0);
  if (!list)
    return failure();
  auto at = position(n, 1, list->size(), int64_t(list->size()) - 1);
  if (!at || *at == int64_t(list->size()))
    return at ? n.invalid("there is nothing to erase at position " + Twine(*at)) : failure();
  ModelConverter::List shorter(*list);
  shorter.erase(shorter.begin() + *at);
  return yieldList(n, std::move(shorter));
}

static LogicalResult sequenceLength(Node &n) {
  const auto *list = listOf(n, 0);
  return list ? n.yield(n.g.scalar(n.g.builder.getI64Type(), double(list->size()))) : failure();
}

/// Joined along an axis, or stacked along a new one.
static LogicalResult concatFromSequence(Node &n) {
  const auto *list = listOf(n, 0);
  if (!list || list->empty())
    return list ? n.invalid("an empty sequence cannot be joined") : failure();
  bool stacked = n.getInt("new_axis", 0) != 0;
  auto axis = n.dimension(n.getInt("axis", 0), rankOf(list->front()) + stacked);
  if (!axis)
    return failure();
  SmallVector<Value> parts(*list);
  if (stacked)
    for (Value &part : parts)
      part = n.g.insertDims(part, {*axis});
  return n.yield(n.g.concat(parts, *axis));
}

/// Pieces of the given sizes, of one size (the last may be smaller), or of size 1.
static LogicalResult splitToSequence(Node &n) {
  auto axis = n.dimension(n.getInt("axis", 0), n.rank(0));
  if (!axis)
    return failure();
  int64_t size = shapeOf(n[0])[*axis];
  Dims sizes;
  bool keep = true;
  constexpr int64_t mostPieces = 1 << 16;
  if (n.has(1)) {
    auto given = n.constantInts(1, "the sizes of the pieces");
    if (!given)
      return failure();
    if (n.rank(1) == 1) {
      sizes = *given;
    } else {
      if (n.rank(1) != 0)
        return n.invalid("split has rank " + Twine(n.rank(1)) + "; a number or a list is allowed");
      if (given->front() < 1)
        return n.invalid("pieces of size " + Twine(given->front()));
      if (size / given->front() > mostPieces)
        return n.unsupported("more than 2^16 pieces");
      for (int64_t at = 0; at < size; at += given->front())
        sizes.push_back(std::min(given->front(), size - at));
    }
  } else {
    if (size > mostPieces)
      return n.unsupported("more than 2^16 pieces");
    sizes.assign(size, 1);
    keep = n.getInt("keepdims", 1) != 0;
  }
  ModelConverter::List list;
  int64_t at = 0;
  for (int64_t piece : sizes) {
    if (piece < 0 || piece > size - at)
      return n.invalid("the pieces have more elements than dimension " + Twine(*axis));
    Value part = n.g.slice(n[0], *axis, at, piece);
    Dims shape = shapeOf(part);
    if (!keep) {
      shape.erase(shape.begin() + *axis);
      part = n.g.reshape(part, shape);
    }
    list.push_back(part);
    at += piece;
  }
  if (at != size)
    return n.invalid("the pieces have " + Twine(at) + " elements, dimension " + Twine(*axis) +
                     " has " + Twine(size));
  return yieldList(n, std::move(list));
}

ArrayRef<Entry> gpucc::frontend_to_graph::listRules() {
  static const Entry rules[] = {
      {"SequenceEmpty", 11, latest, 0, sequenceEmpty},
      {"SequenceConstruct", 11, latest, 1, sequenceConstruct},
      {"SequenceAt", 11, latest, 2, sequenceAt},
      {"SequenceInsert", 11, latest, 2, sequenceInsert},
      {"SequenceErase", 11, latest, 1, sequenceErase},
      {"SequenceLength", 11, latest, 1, sequenceLength},
      {"ConcatFromSequence", 11, latest, 1, concatFromSequence},
      {"SplitToSequence", 11, latest, 1, splitToSequence},
  };
  return rules;
}
