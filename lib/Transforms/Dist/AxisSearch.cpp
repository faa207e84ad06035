//===- AxisSearch.cpp - which loops one mesh axis splits ------------------===//
#include "gpucc/Transforms/Dist/AxisSearch.h"

#include "SearchWay.h"

#include "gpucc/Solvers/StableSort.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

using namespace gpucc;

static constexpr double impossible = std::numeric_limits<double>::infinity();

//===-- What a choice demands ---------------------------------------------===//

static int8_t tensorState(const ShardingRule::Tensor &tensor, int factor) {
  for (size_t d = 0; d < tensor.size(); ++d)
    if (!tensor[d].empty() && tensor[d].front() == factor)
      return static_cast<int8_t>(axis::Split + d);
  return axis::Whole;
}

int8_t gpucc::operandState(const ShardingRule &rule, int choice, size_t operand) {
  if (choice <= -2)
    return partialFlows(rule)[-2 - choice][operand] ? axis::Partial : axis::Whole;
  return choice == AxisSolution::none ? axis::Whole : tensorState(rule.operands[operand], choice);
}

int8_t gpucc::resultState(const ShardingRule &rule, int choice, size_t result) {
  if (choice <= -2)
    return axis::Partial;
  if (choice == AxisSolution::none)
    return axis::Whole;
  if (rule.factors[choice].kind == FactorKind::Reduce)
    return rule.factors[choice].reduce == ReduceKind::Sum ? axis::Partial : axis::Other;
  return tensorState(rule.results[result], choice);
}

namespace {
class Search {
public:
  explicit Search(const AxisProblem &p) : p(p) {
    for (const AxisProblem::Op &op : p.ops)
      flows.push_back(partialFlows(*op.rule));
    definingOp.assign(p.values.size(), -1);
    lastUse.assign(p.values.size(), -1);
    for (size_t i = 0; i < p.ops.size(); ++i) {
      for (int r : p.ops[i].results)
        definingOp[r] = static_cast<int>(i);
      for (int v : p.ops[i].operands)
        lastUse[v] = static_cast<int>(i);
    }
    for (const AxisProblem::Output &out : p.outputs)
      lastUse[out.value] = static_cast<int>(p.ops.size());
    dying.resize(p.ops.size() + 1);
    for (size_t v = 0; v < p.values.size(); ++v)
      if (lastUse[v] >= 0 && !p.values[v].isStatic)
        dying[lastUse[v]].push_back(static_cast<int>(v));
  }

  AxisSolution run();

private:
  const AxisProblem &p;
  std::vector<std::vector<std::vector<bool>>> flows;
  std::vector<int> definingOp, lastUse;
  std::vector<std::vector<int>> dying; ///< per op: values that nothing after it uses

  static uint32_t bit(int8_t state) { return 1u << state; }
  double share() const { return static_cast<double>(p.parts - 1) / static_cast<double>(p.parts); }
  double reshardBytes(const AxisProblem::Value &v, int8_t from, int8_t to) const;
  int8_t operandOf(int op, int choice, size_t i) const {
    if (choice <= -2)
      return flows[op][-2 - choice][i] ? axis::Partial : axis::Whole;
    return operandState(*p.ops[op].rule, choice, i);
  }
  bool isZero(int value) const { return definingOp[value] >= 0 && p.ops[definingOp[value]].isZero; }

  int8_t decideStatic(Way &way, int value, int8_t wanted) const;
  int staticChoice(int op, size_t result, int8_t wanted) const;
  double backwardBytes(Way &way, int value, int8_t wanted, bool isNew, bool splitElsewhere) const;
  bool demand(Way &way, int op, int value, int8_t wanted, bool splitElsewhere) const;
  std::vector<int> choices(const Way &way, int op) const;
  bool follows(const Way &way, int op, int choice) const;
  bool allWhole(const Way &way, int op) const;
  bool anySplit(const Way &way, int op) const;
  bool followsSplit(const Way &way, int op, int choice) const;
  bool movesWeight(const Way &way, int op, int choice) const;
  double reductionAhead(int op, int value) const;
  void passDebt(Way &way, int op, int value) const;
  bool apply(Way &way, int op, int choice) const;
  bool finish(Way &way) const;
  void prune(std::vector<Way> &ways, int op) const;
};
} // namespace

//===-- Prices ------------------------------------------------------------===//

/// Bytes one rank sends to bring a value from one state into another.
double Search::reshardBytes(const AxisProblem::Value &v, int8_t from, int8_t to) const {
  if (from == to)
    return 0;
  double b = v.bytes * share();
  bool fromSplit = from >= axis::Split, toSplit = to >= axis::Split;
  if (toSplit && !v.splittable[to - axis::Split])
    return impossible;
  if (to == axis::Partial)
    return from == axis::Whole && v.isScalar ? 0.01 * v.bytes : impossible; // a mask
  if (to == axis::Other)
    return impossible;
  if (from == axis::Whole)
    return 0; // a local slice
  if (fromSplit)
    return toSplit ? b / static_cast<double>(p.parts) : b;
  return toSplit ? b : 2 * b; // reduce-scatter, all-reduce
}

//===-- Static values: decided where they are first used ------------------===//

int Search::staticChoice(int op, size_t result, int8_t wanted) const {
  const AxisProblem::Op &o = p.ops[op];
  if (wanted >= axis::Split) {
    const std::vector<int> &dim = o.rule->results[result][wanted - axis::Split];
    if (!dim.empty() && o.usable[dim.front()] &&
        o.rule->factors[dim.front()].kind == FactorKind::Parallel)
      return dim.front();
  }
  if (wanted == axis::Partial)
    for (size_t i = 0; i < flows[op].size(); ++i)
      if (std::count(flows[op][i].begin(), flows[op][i].end(), true) == 1)
        for (size_t k = 0; k < flows[op][i].size(); ++k)
          if (flows[op][i][k] && isZero(o.operands[k]))
            return -2 - static_cast<int>(i);
  return AxisSolution::none;
}

/// Gives an open static value a state, the wanted one if its rule allows it, and decides what it is
/// computed from. Returns the state it has then.
int8_t Search::decideStatic(Way &way, int value, int8_t wanted) const {
  if (way.state[value] != axis::Open)
    return way.state[value];
  const AxisProblem::Value &v = p.values[value];
  auto settle = [&](int8_t state) {
    way.put(value, state, bit(state));
    way.held += state >= axis::Split ? v.bytes / static_cast<double>(p.parts) : v.bytes;
    return state;
  };
  int op = definingOp[value];
  if (op < 0) { // a free argument
    bool fine = wanted == axis::Whole || (wanted == axis::Partial && v.mayBePartial) ||
                (wanted >= axis::Split && v.maySplit && v.splittable[wanted - axis::Split]);
    return settle(fine ? wanted : axis::Whole);
  }
  const AxisProblem::Op &o = p.ops[op];
  if (o.operands.empty() && o.isZero && wanted == axis::Partial) {
    return settle(axis::Partial);
  }
  size_t index = std::find(o.results.begin(), o.results.end(), value) - o.results.begin();
  int choice = staticChoice(op, index, wanted);
  if (choice >= 0 && wanted >= axis::Split && !v.splittable[wanted - axis::Split])
    choice = AxisSolution::none;
  apply(way, op, choice);
  return way.state[value];
}

//===-- One op ------------------------------------------------------------===//

/// Makes `value` exist in the wanted state; false when that cannot be. `splitElsewhere`: the op
/// splits a loop that this operand does not have, so its gradient will be a partial sum.
bool Search::demand(Way &way, int op, int value, int8_t wanted, bool splitElsewhere) const {
  const AxisProblem::Value &v = p.values[value];
  bool fresh = way.state[value] == axis::Open;
  if (fresh)
    decideStatic(way, value, wanted);
  double best = impossible;
  for (int8_t from = 0; from < 32; ++from)
    if (way.have[value] & bit(from))
      best = std::min(best, reshardBytes(v, from, wanted));
  if (best == impossible && wanted == axis::Partial && isZero(value))
    best = 0;
  if (best == impossible)
    return false;
  int8_t native = way.state[value];
  bool isNew = !(way.have[value] & bit(wanted));
  way.put(value, native, way.have[value] | bit(wanted));
  double added = best;
  if (isNew && wanted == axis::Whole && !fresh)
    way.held += v.bytes;
  if (p.training && !p.ops[op].backward && v.differentiable && !v.isStatic)
    added += backwardBytes(way, value, wanted, isNew, splitElsewhere);
  double use = wanted == axis::Partial ? 0 : std::min(added, way.prepaid[value]);
  if (use > 0)
    way.prepaid.set(value, way.prepaid[value] - use);
  way.bytes += added - use;
  return true;
}

/// What the backward pass will send for the gradient of this use.
double Search::backwardBytes(Way &way, int value, int8_t wanted, bool isNew,
                             bool splitElsewhere) const {
  int8_t native = way.state[value];
  double bytes = 0;
  double b = p.values[value].bytes * share();
  if (splitElsewhere && !(way.paid[value] & 1)) {
    bytes += native >= axis::Split ? b : 2 * b;
    way.paid.set(value, way.paid[value] | 1);
  }
  bool slices =
      isNew && wanted >= axis::Split && (native == axis::Whole || native == axis::Partial);
  if (slices && !(way.paid[value] & 2)) {
    bytes += b;
    way.paid.set(value, way.paid[value] | 2);
  }
  return bytes;
}

bool Search::follows(const Way &way, int op, int choice) const {
  const AxisProblem::Op &o = p.ops[op];
  for (size_t i = 0; i < o.operands.size(); ++i) {
    int8_t wanted = operandOf(op, choice, i);
    if (wanted != axis::Whole && way.state[o.operands[i]] == wanted)
      return true;
  }
  return false;
}

/// The choice keeps an operand split that is split.
bool Search::followsSplit(const Way &way, int op, int choice) const {
  for (size_t i = 0; i < p.ops[op].operands.size(); ++i)
    if (int8_t wanted = operandOf(op, choice, i);
        wanted >= axis::Split && way.state[p.ops[op].operands[i]] == wanted)
      return true;
  return false;
}

bool Search::anySplit(const Way &way, int op) const {
  return std::any_of(p.ops[op].operands.begin(), p.ops[op].operands.end(),
                     [&](int v) { return way.state[v] >= axis::Split; });
}

/// A weight that is split already would have to be resharded.
bool Search::movesWeight(const Way &way, int op, int choice) const {
  const AxisProblem::Op &o = p.ops[op];
  for (size_t i = 0; i < o.operands.size(); ++i)
    if (o.weights[i] && way.state[o.operands[i]] >= axis::Split &&
        operandOf(op, choice, i) != way.state[o.operands[i]])
      return true;
  return false;
}

/// Matrix work on whole tensors: splitting it costs no more than slices.
bool Search::allWhole(const Way &way, int op) const {
  const AxisProblem::Op &o = p.ops[op];
  return o.work > 0 && std::all_of(o.operands.begin(), o.operands.end(), [&](int v) {
           return way.state[v] == axis::Whole || way.state[v] == axis::Open;
         });
}

/// The choices worth trying. Not following anything is always one, unless weights must be split.
std::vector<int> Search::choices(const Way &way, int op) const {
  const AxisProblem::Op &o = p.ops[op];
  std::vector<int> out;
  bool mustSplit = false, wanted = !o.fixed.empty();
  if (p.splitWeights)
    for (bool must : o.mustSplit)
      mustSplit |= must;
  auto touchesWeight = [&](int factor) {
    for (size_t i = 0; i < o.operands.size(); ++i)
      if (o.mustSplit[i] && tensorState(o.rule->operands[i], factor) != axis::Whole)
        return true;
    return false;
  };
  for (int f = 0, n = static_cast<int>(o.rule->factors.size()); f < n; ++f) {
    if (!o.usable[f])
      continue;
    bool free =
        (p.splitActivations && o.work == 0) || wanted || (p.splitWeights && allWhole(way, op));
    if (mustSplit ? touchesWeight(f) : free || follows(way, op, f))
      out.push_back(f);
  }
  if (mustSplit && !out.empty())
    return out;
  if (mustSplit) // the weight cannot be split: the op may still follow its other operands
    for (int f = 0, n = static_cast<int>(o.rule->factors.size()); f < n; ++f)
      if (o.usable[f] && follows(way, op, f))
        out.push_back(f);
  for (size_t i = 0; i < flows[op].size(); ++i)
    if (follows(way, op, -2 - static_cast<int>(i)))
      out.push_back(-2 - static_cast<int>(i));
  out.push_back(AxisSolution::none);
  return out;
}

/// At least this much is sent until a partial sum is whole or in blocks, backward included.
/// Counting it when the sum is made keeps the search from preferring what merely pays later.
double Search::reductionAhead(int op, int value) const {
  double b = p.values[value].bytes * share();
  bool blocks = p.splitActivations && !(p.training && !p.ops[op].backward);
  return blocks ? b : 2 * b;
}

/// A partial sum passes through: its debt goes from the operands to the result.
void Search::passDebt(Way &way, int op, int value) const {
  for (int operand : p.ops[op].operands)
    if (double debt = way.prepaid[operand]; debt > 0) {
      way.bytes -= debt;
      way.prepaid.set(operand, 0);
    }
  double debt = reductionAhead(op, value);
  way.bytes += debt;
  way.prepaid.set(value, debt);
}

bool Search::apply(Way &way, int op, int choice) const {
  const AxisProblem::Op &o = p.ops[op];
  way.choice.set(op, choice);
  bool weightOp = std::find(o.mustSplit.begin(), o.mustSplit.end(), true) != o.mustSplit.end();
  bool mayCut = p.splitActivations || weightOp || o.isStatic || !o.fixed.empty() || o.work > 0 ||
                follows(way, op, choice);
  way.work += (choice >= 0 ? o.work / static_cast<double>(p.parts) : o.work) / p.flopsPerByte;
  for (size_t i = 0; i < o.operands.size(); ++i) {
    int8_t wanted = operandOf(op, choice, i);
    int value = o.operands[i];
    // Slicing an activation that is whole, or scattering a partial one, is sequence parallelism;
    // otherwise only weights and what meets them are cut.
    bool cuts = wanted >= axis::Split && !(way.have[value] & bit(wanted)) &&
                (way.state[value] == axis::Whole || way.state[value] == axis::Partial);
    if (cuts && !mayCut)
      return false;
    if (!demand(way, op, value, wanted, choice >= 0 && wanted == axis::Whole))
      return false;
  }
  for (size_t r = 0; r < o.results.size(); ++r) {
    int value = o.results[r];
    const AxisProblem::Value &v = p.values[value];
    int8_t state = resultState(*o.rule, choice, r);
    if (state >= axis::Split && !v.splittable[state - axis::Split])
      return false;
    int8_t fixed = o.fixed.empty() ? axis::Open : o.fixed[r];
    if (fixed != axis::Open && fixed != state) {
      double bytes = o.onlyFixed ? reshardBytes(v, state, fixed) : impossible;
      if (bytes == impossible)
        return false;
      way.bytes += bytes;
      state = fixed;
    }
    way.put(value, state, bit(state));
    way.held += state >= axis::Split ? v.bytes / static_cast<double>(p.parts) : v.bytes;
    if (state == axis::Partial && !o.isStatic)
      passDebt(way, op, value);
  }
  return true;
}

//===-- The walk ----------------------------------------------------------===//

/// Of ways that look the same from here on keep the cheapest; then the `width` best. The backward
/// pass follows what forward decided: two ways are enough for it.
void Search::prune(std::vector<Way> &ways, int op) const {
  solvers::stableSort(ways, [](const Way &a, const Way &b) { return a.score() < b.score(); });
  size_t width = p.ops[op].backward ? std::min<size_t>(2, p.width) : p.width;
  std::unordered_set<uint64_t> seen;
  std::vector<Way> kept;
  for (Way &way : ways) {
    for (int value : dying[op])
      way.forget(value);
    if (kept.size() < width && seen.insert(way.look).second)
      kept.push_back(std::move(way));
  }
  ways = std::move(kept);
}

/// Outputs in the state of their argument, or at least reduced.
bool Search::finish(Way &way) const {
  for (const AxisProblem::Output &out : p.outputs) {
    if (way.state[out.value] == axis::Open) {
      int8_t like = out.like < 0 ? axis::Whole : way.state[out.like];
      decideStatic(way, out.value, like == axis::Open ? axis::Whole : like);
    }
    int8_t state = way.state[out.value];
    if (out.like >= 0) {
      decideStatic(way, out.like, state);
      int8_t wanted = way.state[out.like];
      way.bytes -= way.prepaid[out.value];
      way.prepaid.set(out.value, 0);
      const AxisProblem::Value &v = p.values[out.value];
      double bytes = isZero(out.value) ? 0 : reshardBytes(v, state, wanted);
      if (bytes == impossible && wanted >= axis::Split)
        bytes = 2 * v.bytes; // another axis has that dimension of the value, but not of the state
      if (bytes == impossible)
        return false;
      way.bytes += bytes;
    } else if (state == axis::Partial || state == axis::Other) {
      way.bytes += reshardBytes(p.values[out.value], state, axis::Whole) - way.prepaid[out.value];
      way.prepaid.set(out.value, 0);
    }
  }
  for (size_t i = 0; i < p.ops.size(); ++i)
    if (p.ops[i].isStatic)
      for (int r : p.ops[i].results)
        if (way.state[r] == axis::Open)
          decideStatic(way, r, axis::Whole);
  for (size_t v = 0; v < p.values.size(); ++v)
    if (way.state[v] == axis::Open)
      way.put(static_cast<int>(v), axis::Whole, bit(axis::Whole));
  return true;
}

AxisSolution Search::run() {
  Way start;
  start.choice = {p.ops.size(), AxisSolution::none};
  start.state = {p.values.size(), axis::Open};
  start.have = {p.values.size(), 0};
  start.paid = {p.values.size(), 0};
  start.prepaid = {p.values.size(), 0.0};
  for (size_t v = 0; v < p.values.size(); ++v)
    if (int8_t state = p.values[v].state; state != axis::Open)
      start.put(static_cast<int>(v), state, bit(state));
  std::vector<Way> ways{std::move(start)};
  AxisSolution solution;
  for (int op = 0, n = static_cast<int>(p.ops.size()); op < n; ++op) {
    if (p.ops[op].isStatic)
      continue;
    std::vector<Way> next;
    for (const Way &way : ways) {
      // Ways that keep what is split, and weights where they are, first; the others only where none
      // of those is possible.
      size_t before = next.size();
      for (bool good : {true, false}) {
        if (next.size() > before)
          break;
        for (int choice : choices(way, op)) {
          bool keeps = (!p.keepSplit || !anySplit(way, op) || followsSplit(way, op, choice)) &&
                       !movesWeight(way, op, choice);
          if (good != keeps)
            continue;
          Way copy = way;
          if (apply(copy, op, choice))
            next.push_back(std::move(copy));
        }
      }
    }
    if (next.empty()) {
      solution.errorOp = op;
      solution.error = "no way to split the op gives the sharding that is demanded of its result";
      return solution;
    }
    prune(next, op);
    ways = std::move(next);
  }
  double best = impossible;
  for (Way &way : ways)
    if (finish(way) && (solution.state.empty() || way.score() < best)) {
      best = way.score();
      solution.choice.clear();
      solution.state.clear();
      for (size_t i = 0; i < p.ops.size(); ++i)
        solution.choice.push_back(way.choice[i]);
      for (size_t v = 0; v < p.values.size(); ++v)
        solution.state.push_back(way.state[v]);
      solution.bytes = way.bytes;
    }
  if (solution.state.empty()) {
    solution.errorOp = static_cast<int>(p.ops.size());
    solution.error = "no result can take the sharding of the state it overwrites";
  }
  return solution;
}

AxisSolution gpucc::searchAxis(const AxisProblem &problem) { return Search(problem).run(); }
