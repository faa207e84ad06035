//===- Control.cpp - If, Loop, Scan ---------------------------------------===//
//
// Programs are static, so control flow is resolved here: a constant condition
// picks a branch, one that is computed at run time evaluates both and selects;
// Scan is unrolled, and Loop up to its number of rounds: rounds after its
// condition (computed at run time) has failed change nothing.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/ModelConverter.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

/// Rounds that are unrolled at most.
static constexpr int64_t maxRounds = 1024;

static Region *body(Node &n, StringRef name) {
  for (auto [region, attr] : llvm::zip(n.op.getBodies(), n.op.getBodyNames()))
    if (cast<StringAttr>(attr).getValue() == name)
      return &region;
  return nullptr;
}

static LogicalResult ifThenElse(Node &n) {
  Region *then = body(n, "then_branch"), *otherwise = body(n, "else_branch");
  if (!then || !otherwise)
    return n.invalid("then_branch or else_branch is missing");
  if (auto condition = n.constant(0)) {
    if (condition->numElements() != 1)
      return n.invalid("its condition must be one value");
    auto values = n.model.convertBody(condition->getInt(0) ? *then : *otherwise, {});
    return values ? n.yield(*values) : failure();
  }
  auto yes = n.model.convertBody(*then, {}, /*conditional=*/true),
       no = n.model.convertBody(*otherwise, {}, /*conditional=*/true);
  if (!yes || !no)
    return failure();
  if (yes->size() != no->size() || elementsOf(shapeOf(n[0])) != 1)
    return n.invalid("its branches have different numbers of results");
  Value condition = n.g.reshape(n[0], {});
  SmallVector<Value> results;
  for (auto [a, b] : llvm::zip(*yes, *no)) {
    if (a.getType() != b.getType()) {
      n.model.needValue(n[0]);
      return n.unsupported("its branches give different shapes and its condition is computed at "
                           "run time");
    }
    results.push_back(n.g.select(condition, a, b));
  }
  return n.yield(results);
}

/// Stacks one value per round as a new first dimension.
static Value stack(GraphBuilder &g, ArrayRef<Value> rounds, int64_t dim) {
  SmallVector<Value> wide;
  for (Value round : rounds)
    wide.push_back(g.insertDims(round, {dim}));
  return g.concat(wide, dim);
}

namespace {
/// A Loop being unrolled. Its condition is known, or a value: then `running` says whether the loop
/// still goes on, every round is computed, and carried values change only while it does.
struct Unrolled {
  explicit Unrolled(Node &n) : n(n) {}
  Node &n;
  int64_t most = INT64_MAX; ///< rounds at most
  bool go = true;           ///< known: another round may follow
  Value running;            ///< i1 scalar, or null: it is known
  SmallVector<Value> carried;

  /// Takes in a condition; false after an error.
  bool follow(Value condition) {
    auto known = n.g.constantOf(condition);
    if (auto weight = condition.getDefiningOp<graph::WeightOp>())
      known = n.model.reader.read(weight);
    if (known) {
      go &= known->numElements() == 1 && known->getInt(0) != 0;
      return true;
    }
    if (most > maxRounds || elementsOf(shapeOf(condition)) != 1) {
      n.model.needValue(condition);
      (void)n.unsupported("its condition is computed at run time and the number of rounds has no "
                          "known bound");
      return false;
    }
    Value now = n.g.reshape(condition, {});
    running = running ? n.g.binary(BinaryKind::And, running, now) : now;
    return true;
  }
  /// How many rows are scanned depends on the condition, and on nothing else that is unknown.
  LogicalResult unknownRows() {
    n.model.needValue(running);
    return n.unsupported("scan results whose number is known at run time only");
  }
  /// The carried values after a round.
  bool advance(ArrayRef<Value> next) {
    for (auto [value, fresh] : llvm::zip(carried, next)) {
      if (running && value.getType() != fresh.getType()) {
        (void)n.unsupported(
            "a carried value changes its shape and its condition is computed at run "
            "time");
        return false;
      }
      value = running ? n.g.select(running, fresh, value) : fresh;
    }
    return true;
  }
};
} // namespace

/// What the operands M and condition say; nothing after an error.
static std::optional<Unrolled> startOf(Node &n) {
  Unrolled l(n);
  if (n.has(0)) {
    auto count = n.constantInts(0, "the number of rounds");
    if (!count)
      return std::nullopt;
    l.most = count->empty() ? 0 : count->front();
  }
  l.carried.assign(n.all().begin() + std::min<size_t>(2, n.size()), n.all().end());
  if (llvm::any_of(l.carried, [](Value v) { return !v; })) {
    (void)n.unsupported("a carried value that is absent");
    return std::nullopt;
  }
  if (n.has(1) && !l.follow(n[1]))
    return std::nullopt;
  return l;
}

/// A loop without rounds: carried values stay, scanned ones have no rows of the shape that a round
/// on the first values would give (whose ops nothing reads).
static LogicalResult nothingScanned(Node &n, Region &rounds, ArrayRef<Value> carried,
                                    size_t scans) {
  SmallVector<Value> arguments{n.g.scalar(n.g.builder.getI64Type(), 0),
                               n.g.scalar(n.g.builder.getI1Type(), 1)};
  llvm::append_range(arguments, carried);
  auto values = n.model.convertBody(rounds, arguments);
  if (!values)
    return failure();
  if (values->size() != 1 + carried.size() + scans)
    return n.invalid("its body has another number of results than the loop");
  SmallVector<Value> results(carried);
  for (Value row : ArrayRef(*values).take_back(scans)) {
    Dims shape = shapeOf(row);
    shape.insert(shape.begin(), 0);
    results.push_back(n.g.splat(RankedTensorType::get(shape, typeOf(row).getElementType()), 0));
  }
  return n.yield(results);
}

/// Operands M, condition, carried...; the body takes (i, condition, carried...) and gives
/// (condition, carried..., scanned...).
static LogicalResult loop(Node &n) {
  Region *rounds = body(n, "body");
  if (!rounds)
    return n.invalid("its body is missing");
  auto l = startOf(n);
  if (!l)
    return failure();
  size_t scans = n.numResults() - std::min<size_t>(n.numResults(), l->carried.size());
  SmallVector<SmallVector<Value>> scanned(scans);
  Type index = n.g.builder.getI64Type();
  for (int64_t i = 0; i < l->most && l->go; ++i) {
    if (i >= maxRounds)
      return n.unsupported("more than " + llvm::Twine(maxRounds) + " rounds");
    if (l->running && scans)
      return l->unknownRows();
    SmallVector<Value> arguments{n.g.scalar(index, double(i)),
                                 n.g.scalar(n.g.builder.getI1Type(), 1)};
    llvm::append_range(arguments, l->carried);
    auto values = n.model.convertBody(*rounds, arguments, bool(l->running));
    if (!values)
      return failure();
    if (values->size() != 1 + l->carried.size() + scans)
      return n.invalid("its body has another number of results than the loop");
    ArrayRef<Value> results(*values);
    if (!l->advance(results.slice(1, l->carried.size())) || !l->follow(results.front()))
      return failure();
    for (size_t s = 0; s < scans; ++s)
      scanned[s].push_back(results[1 + l->carried.size() + s]);
  }
  if (l->running && scans)
    return l->unknownRows();
  if (scans && scanned.front().empty())
    return nothingScanned(n, *rounds, l->carried, scans);
  SmallVector<Value> results(l->carried);
  for (auto &rows : scanned)
    results.push_back(stack(n.g, rows, 0));
  return n.yield(results);
}

namespace {
/// Axis and direction per scanned operand or result.
struct ScanSide {
  Dims axes, directions;
};
ScanSide side(Node &n, StringRef axes, StringRef directions, size_t count) {
  ScanSide s{n.getInts(axes).value_or(Dims(count, 0)),
             n.getInts(directions).value_or(Dims(count, 0))};
  s.axes.resize(count, 0);
  s.directions.resize(count, 0);
  return s;
}
} // namespace

/// States..., scanned operands...; the body gives states..., scanned results...
static LogicalResult scan(Node &n) {
  Region *rounds = body(n, "body");
  int64_t inputs = n.getInt("num_scan_inputs", 0), states = int64_t(n.size()) - inputs;
  if (!rounds || inputs < 1 || states < 0)
    return n.invalid("its body or num_scan_inputs is missing");
  if (llvm::any_of(n.all(), [](Value v) { return !v; }))
    return n.invalid("one of its operands is missing");
  ScanSide in = side(n, "scan_input_axes", "scan_input_directions", inputs);
  int64_t length = -1;
  for (int64_t i = 0; i < inputs; ++i) {
    auto dim = n.dimension(in.axes[i], n.rank(states + i));
    if (!dim)
      return failure();
    in.axes[i] = *dim;
    length = typeOf(n[states + i]).getDimSize(*dim);
  }
  if (length > maxRounds)
    return n.unsupported("more than " + llvm::Twine(maxRounds) + " rounds");
  SmallVector<Value> state(n.all().take_front(states));
  size_t outputs = n.numResults() - std::min<size_t>(n.numResults(), states);
  SmallVector<SmallVector<Value>> scanned(outputs);
  for (int64_t r = 0; r < length; ++r) {
    SmallVector<Value> arguments(state);
    for (int64_t i = 0; i < inputs; ++i) {
      Value x = n[states + i];
      Value row = n.g.slice(x, in.axes[i], in.directions[i] ? length - 1 - r : r, 1);
      if (n.g.failed())
        return failure();
      Dims shape = shapeOf(x);
      shape.erase(shape.begin() + in.axes[i]);
      arguments.push_back(n.g.reshape(row, shape));
    }
    auto values = n.model.convertBody(*rounds, arguments);
    if (!values)
      return failure();
    if (values->size() != size_t(states) + outputs)
      return n.invalid("its body has another number of results than the scan");
    state.assign(values->begin(), values->begin() + states);
    for (size_t o = 0; o < outputs; ++o)
      scanned[o].push_back((*values)[states + o]);
  }
  ScanSide out = side(n, "scan_output_axes", "scan_output_directions", outputs);
  SmallVector<Value> results(state);
  for (size_t o = 0; o < outputs; ++o) {
    if (scanned[o].empty())
      return n.unsupported("scan results of no rounds");
    auto dim = n.dimension(out.axes[o], rankOf(scanned[o][0]) + 1);
    if (!dim)
      return failure();
    if (out.directions[o])
      std::reverse(scanned[o].begin(), scanned[o].end());
    results.push_back(stack(n.g, scanned[o], *dim));
  }
  return n.yield(results);
}

ArrayRef<Entry> gpucc::frontend_to_graph::controlRules() {
  static const Entry rules[] = {
      {"If", 1, latest, 1, ifThenElse},
      {"Loop", 1, latest, 0, loop},
      {"Scan", 9, latest, 1, scan},
  };
  return rules;
}
