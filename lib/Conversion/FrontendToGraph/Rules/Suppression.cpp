//===- Suppression.cpp - NonMaxSuppression --------------------------------===//
//
// Greedy, in rounds, for all classes of all images at once: [G = batches ·
// classes, N boxes]. A round takes the best active box of each line and makes
// inactive what overlaps it:
//
//   scores   .9 .8 .7    boxes 0 and 1 overlap     round 0 takes 0, drops 1
//                                                  round 1 takes 2
//                                                  round 2 has nothing left: not valid
//
// Rounds are unrolled (their kernels are the same), as many as a class may have
// boxes; of all (line, round) the valid ones are packed to the front, which is
// ONNX' order: by batch, class, and score.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/ModelConverter.h"
#include "lib/Conversion/FrontendToGraph/Rules/Varying.h"

#include <limits>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// A round is about 30 ops.
static constexpr int64_t maxRounds = 512;

namespace {
/// Corners with low <= high and areas, each [G, N].
struct Boxes {
  Value low[2], high[2], area;
};

class Suppression {
public:
  Suppression(Node &n) : n(n), g(n.g) {
    batches = shapeOf(n[1])[0], classes = shapeOf(n[1])[1], count = shapeOf(n[1])[2];
    lines = batches * classes;
  }

  LogicalResult run(int64_t rounds) {
    readBoxes();
    readScores();
    if (g.failed())
      return failure();
    SmallVector<Value> places, valid;
    for (int64_t round = 0; round < rounds && !g.failed(); ++round) {
      Value best =
          g.create<ArgReduceOp>(ReductionKind::Max, g.select(active, scores, worst()), 1, false);
      Value at = flat(best); // into the lines one behind the other
      valid.push_back(g.reshape(pick(active, at), {lines, 1}));
      places.push_back(g.reshape(best, {lines, 1}));
      if (round + 1 < rounds)
        suppress(best, at);
    }
    return g.failed() ? failure() : finish(places, valid, rounds);
  }

private:
  Value worst() { return g.splatLike(scores, -std::numeric_limits<double>::infinity()); }
  Value flat(Value place) {
    Value line = g.iota({lines}, 0, elementOf(place));
    return g.add(g.binary(BinaryKind::Mul, line, double(count)), place);
  }
  Value pick(Value x, Value at) { return g.gather(g.reshape(x, {lines * count}), at, 0); }

  /// [B, N, 4] as four values of [G, N]: low and high corners, in either order in the model.
  void readBoxes() {
    bool center = n.getInt("center_point_box", 0) != 0;
    auto part = [&](int64_t i) {
      Value x = g.reshape(g.slice(n[0], 2, i, 1), {batches, 1, count});
      return g.reshape(g.broadcastTo(x, {batches, classes, count}), {lines, count});
    };
    for (int64_t d = 0; d < 2 && !g.failed(); ++d) {
      Value a = part(d), b = part(d + 2);
      if (center) {
        Value half = g.binary(BinaryKind::Mul, b, 0.5);
        boxes.low[d] = g.sub(a, half);
        boxes.high[d] = g.add(a, half);
      } else {
        boxes.low[d] = g.binary(BinaryKind::Min, a, b);
        boxes.high[d] = g.binary(BinaryKind::Max, a, b);
      }
    }
    if (!g.failed())
      boxes.area = g.mul(g.sub(boxes.high[0], boxes.low[0]), g.sub(boxes.high[1], boxes.low[1]));
  }

  /// Active are boxes above the score's threshold; none where max_output says so at run time.
  void readScores() {
    scores = g.reshape(n[1], {lines, count});
    active = g.splat(RankedTensorType::get({lines, count}, g.builder.getI1Type()), 1);
    if (n.has(4))
      active = g.compare(CompareKind::Gt, scores, scalar(4));
    if (const Varying *own = n.varying(1) ? n.varying(1) : n.varying(0))
      active = g.binary(BinaryKind::And, active, realEntries(g, {lines, count}, 1, own->count));
    threshold = n.has(3) ? scalar(3) : g.scalar(elementOf(scores), 0);
  }
  Value scalar(unsigned i) { return g.convert(g.reshape(n[i], {}), elementOf(scores)); }

  /// Makes the box at `best` inactive, and what overlaps it by more than the threshold.
  void suppress(Value best, Value at) {
    auto chosen = [&](Value x) { return g.reshape(pick(x, at), {lines, 1}); };
    Value overlap;
    for (int64_t d = 0; d < 2; ++d) {
      Value high = g.binary(BinaryKind::Min, chosen(boxes.high[d]), boxes.high[d]);
      Value low = g.binary(BinaryKind::Max, chosen(boxes.low[d]), boxes.low[d]);
      Value length = g.binary(BinaryKind::Max, g.sub(high, low), 0.0);
      overlap = overlap ? g.mul(overlap, length) : length;
    }
    Value own = chosen(boxes.area);
    Value all = g.sub(g.add(own, boxes.area), overlap);
    Value drop = g.compare(CompareKind::Gt, g.div(overlap, all), threshold);
    // Boxes without an area overlap nothing.
    for (Value area : {own, boxes.area})
      drop =
          g.binary(BinaryKind::And, drop, g.compare(CompareKind::Gt, area, g.splatLike(area, 0)));
    Value itself = g.compare(CompareKind::Eq, g.iota({lines, count}, 1, elementOf(best)),
                             g.reshape(best, {lines, 1}));
    active = g.binary(BinaryKind::And, active,
                      g.unary(UnaryKind::Not, g.binary(BinaryKind::Or, drop, itself)));
  }

  /// Rows (batch, class, box) of the valid (line, round), in front.
  LogicalResult finish(ArrayRef<Value> places, ArrayRef<Value> valid, int64_t rounds) {
    Type index = g.builder.getI64Type();
    int64_t bound = lines * rounds;
    Value mask = g.concat(valid, 1), box = g.concat(places, 1);
    if (auto most = limit()) { // of boxes per class, known at run time only
      Value below = g.compare(CompareKind::Lt, g.iota({lines, rounds}, 1, index), most);
      mask = g.binary(BinaryKind::And, mask, below);
    }
    if (g.failed())
      return failure();
    Places kept = placesOf(g, g.reshape(mask, {bound}));
    if (g.failed())
      return failure();
    Value line = g.binary(BinaryKind::Div, kept.at, double(rounds));
    Value boxes = g.gather(g.reshape(g.convert(box, index), {bound}), kept.at, 0);
    SmallVector<Value> columns;
    for (Value column : {g.binary(BinaryKind::Div, line, double(classes)),
                         g.binary(BinaryKind::Rem, line, double(classes)), boxes})
      columns.push_back(g.reshape(column, {bound, 1}));
    if (failed(n.yield(g.concat(columns, 1))))
      return failure();
    n.setVarying(0, 0, kept.count, n.self());
    return success();
  }

  Value limit() {
    return n.has(2) && !n.constant(2) ? g.convert(g.reshape(n[2], {}), g.builder.getI64Type())
                                      : Value();
  }

  Node &n;
  GraphBuilder &g;
  int64_t batches, classes, count, lines;
  Boxes boxes;
  Value scores, active, threshold;
};
} // namespace

/// Whether boxes and scores fit; rank and sizes.
static LogicalResult checkShapes(Node &n) {
  Dims boxes = shapeOf(n[0]), scores = shapeOf(n[1]);
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    return n.invalid("it takes boxes [batches, N, 4] and scores [batches, classes, N]");
  for (unsigned i = 2; i < n.size(); ++i)
    if (n.has(i) && (elementsOf(shapeOf(n[i])) != 1 || isFloat(n[i]) != (i > 2)))
      return n.invalid("operand " + Twine(i) + " must be one " +
                       (i > 2 ? "number" : "whole number"));
  const Varying *own = n.varying(0), *other = n.varying(1);
  bool fine = !own || own->dim == 1;
  fine &= !other || other->dim == 2;
  fine &= !own || !other || own->count == other->count;
  for (unsigned i = 2; i < n.size(); ++i)
    fine &= !n.varying(i);
  return fine ? success()
              : n.unsupported("the sizes of its operands depend on values of a run, along other "
                              "dimensions than that of the boxes, or by several counts");
}

static LogicalResult nonMaxSuppression(Node &n) {
  if (failed(refuseTraining(n)) || failed(checkShapes(n)))
    return failure();
  Dims scores = shapeOf(n[1]);
  int64_t rounds = n.has(2) ? scores[2] : 0; // without a limit: 0, says the operator
  if (auto most = n.has(2) ? n.constant(2) : std::nullopt)
    rounds = std::clamp<int64_t>(most->getInt(0), 0, rounds);
  if (elementsOf(scores) == 0 || rounds == 0)
    return n.yield(n.g.splat(RankedTensorType::get({0, 3}, n.g.builder.getI64Type()), 0));
  if (rounds > maxRounds)
    return n.unsupported("a class may have " + Twine(rounds) +
                         " boxes (the smaller of max_output_boxes_per_class, where it is known "
                         "while compiling, and of the number of boxes); gpucc goes up to " +
                         Twine(maxRounds) + ": give it a constant, or fewer boxes (TopK)");
  return Suppression(n).run(rounds);
}

ArrayRef<Entry> gpucc::frontend_to_graph::suppressionRules() {
  static const Entry rules[] = {
      {"NonMaxSuppression", 10, latest, 2, nonMaxSuppression},
  };
  return rules;
}
