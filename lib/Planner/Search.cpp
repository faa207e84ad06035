//===- Search.cpp - every candidate, its best op choices, the answer ------===//
//
// For each candidate the op choices come from the assignment solver: first for time alone; if that
// does not fit, with a price per byte found by bisection (the Lagrangian relaxation of the memory
// limit). Candidates are looked at in a fixed order and compared by (seconds, bytes, text), so the
// answer does not depend on timing.
//
// Large problems skip what cannot win: more recomputation once less of it fits, and more
// accumulation steps on one stage once fewer fit (smaller kernels, the same work).
//
//===----------------------------------------------------------------------===//
#include "Strategies.h"
#include "gpucc/Facts/Text.h"
#include "gpucc/Planner/Plan.h"
#include "gpucc/Solvers/StableSort.h"
#include <algorithm>
#include <cstdio>
#include <limits>
#include <tuple>

namespace gpucc::planner {

namespace {

struct Inner {
  LayoutProblem layout;
  AssignSolution solution;
};

class Search {
public:
  Search(const PlanProblem &problem, const PlanOptions &options) : p(problem), options(options) {
    exhaustive = problem.ops.size() <= 256;
  }

  PlanResult run() {
    result.error = p.check();
    if (result.error.empty())
      result.error = p.machine.check();
    if (!result.error.empty())
      return result;
    std::vector<Candidate> candidates = enumerateCandidates(p, result.error);
    // Candidates that share the inner problem stand together, so that it is solved once.
    solvers::stableSort(candidates,
                        [](const Candidate &a, const Candidate &b) { return key(a) < key(b); });
    for (const Candidate &c : candidates)
      if (!skip(c))
        consider(c);
    spendLessMemory();
    if (result.error.empty())
      conclude();
    return result;
  }

private:
  using Key = std::tuple<int64_t, int64_t, int64_t, int, int>;
  static Key key(const Candidate &c) {
    return {c.tp, c.dp, c.microBatches, c.zero, static_cast<int>(c.recompute)};
  }

  /// Whether `c` does the work of `other` plus more: never faster.
  static bool doesMoreThan(const Candidate &c, const Candidate &other) {
    bool sameMesh =
        other.dp == c.dp && other.tp == c.tp && other.pp == c.pp && other.zero == c.zero;
    bool sameRuns =
        other.microBatches == c.microBatches || (c.pp == 1 && other.microBatches < c.microBatches);
    return sameMesh && sameRuns && other.recompute <= c.recompute;
  }

  /// Large problems only: `c` cannot win against something that was looked at.
  bool skip(const Candidate &c) const {
    if (exhaustive)
      return false;
    for (const auto &[other, fastest, fits] : seen)
      if (doesMoreThan(c, other) && (fits || fastest >= bestSeconds))
        return true;
    return false;
  }

  const Inner &solved(const Candidate &c) {
    if (!cached || key(c) != cachedKey) {
      inner.layout = buildLayoutProblem(p, c);
      AssignOptions assign = options.assign;
      if (order.size() != inner.layout.assign.nodes.size() || c.tp != orderTp) {
        order = eliminationOrder(inner.layout.assign);
        orderTp = c.tp;
      }
      assign.order = order;
      inner.solution = solveAssign(inner.layout.assign, assign);
      result.steps += inner.solution.steps;
      cached = true;
      cachedKey = key(c);
    }
    return inner;
  }

  void consider(const Candidate &c) {
    ++result.candidates;
    const Inner &best = solved(c);
    Considered item{c, evaluateLayout(p, c, best.layout, best.solution.choice),
                    best.solution.optimal, ""};
    std::vector<int> choice = best.solution.choice;
    double fastest = item.cost.seconds; // of all op choices, whatever they need
    if (item.cost.fits && c.pp > 1)
      balance(c, best.layout, item, choice);
    record(item, choice);
    seen.push_back({c, fastest, item.cost.fits});
  }

  void record(const Considered &item, const std::vector<int> &choice) {
    if (!item.cost.fits) {
      result.rejected.push_back(item);
      return;
    }
    result.alternatives.push_back(item);
    fitting.push_back({item.candidate, choice});
    bestSeconds = std::min(bestSeconds, item.cost.seconds);
  }

  /// Layouts whose fastest op choices do not fit, the most promising first: others may.
  void spendLessMemory() {
    std::vector<Considered> waiting = std::move(result.rejected);
    result.rejected.clear();
    solvers::stableSort(waiting, [](const Considered &a, const Considered &b) {
      return a.cost.seconds < b.cost.seconds;
    });
    for (Considered &item : waiting) {
      std::vector<int> choice;
      const Candidate &c = item.candidate;
      if (c.tp > 1 && (exhaustive || item.cost.seconds < bestSeconds)) {
        fitWithPrice(c, item, choice);
        if (item.cost.fits && c.pp > 1)
          refine(c, buildLayoutProblem(p, c), item, choice);
      }
      record(item, choice);
    }
  }

  /// Few op choices in all: look at every one. False: too many.
  bool tryAll(const Candidate &c, const LayoutProblem &layout, Considered &item,
              std::vector<int> &choice) {
    double count = 1;
    for (const LayoutNode &node : layout.nodes)
      count *= static_cast<double>(std::max<size_t>(1, node.seconds.size()));
    if (count > static_cast<double>(p.lookAtAll))
      return false;
    std::vector<int> next(layout.nodes.size(), 0);
    for (size_t k = 0; k < next.size();) {
      LayoutCost cost = evaluateLayout(p, c, layout, next);
      ++result.steps;
      if (cost.fits && cost.seconds < item.cost.seconds * (1 - 1e-12)) {
        item.cost = cost;
        choice = next;
      }
      for (k = 0; k < next.size(); next[k++] = 0)
        if (++next[k] < static_cast<int>(layout.nodes[k].seconds.size()))
          break;
    }
    return true;
  }

  /// A pipelined step is about the sum over the stages plus (micro-batches - 1) times the slowest:
  /// solve once more with each stage weighted as if it were the slowest, and refine what comes out.
  void balance(const Candidate &c, const LayoutProblem &layout, Considered &item,
               std::vector<int> &choice) {
    if (tryAll(c, layout, item, choice))
      return;
    const Considered start = item;
    refine(c, layout, item, choice);
    if (layout.nodes.size() > 256)
      return;
    for (int64_t slow = 0; slow < c.pp; ++slow) {
      auto isSlow = [&](int node) {
        const std::vector<int> &first = start.cost.firstSegment;
        return std::upper_bound(first.begin(), first.end(), layout.nodes[node].segment) -
                   first.begin() - 1 ==
               slow;
      };
      AssignProblem weighted = layout.assign;
      double weight = static_cast<double>(c.microBatches);
      for (size_t i = 0; i < weighted.nodes.size(); ++i)
        for (double &seconds : weighted.nodes[i].cost)
          seconds *= isSlow(static_cast<int>(i)) ? weight : 1;
      for (AssignEdge &edge : weighted.edges)
        for (double &seconds : edge.cost)
          seconds *= isSlow(edge.from) ? weight : 1;
      AssignOptions assign = options.assign;
      assign.order = order;
      AssignSolution solved = solveAssign(weighted, assign);
      result.steps += solved.steps;
      Considered other = start;
      other.cost = evaluateLayout(p, c, layout, solved.choice);
      if (other.cost.fits)
        refine(c, layout, other, solved.choice);
      if (other.cost.fits && other.cost.seconds < item.cost.seconds) {
        item.cost = other.cost;
        choice = solved.choice;
      }
    }
  }

  /// With stages the step is a maximum, not a sum: walk from the sum's optimum by changing one
  /// node, or two neighbours, while the evaluated step gets faster. Small problems only.
  void refine(const Candidate &c, const LayoutProblem &layout, Considered &item,
              std::vector<int> &choice) {
    item.optimal = false;
    size_t n = layout.nodes.size();
    if (n > 256)
      return;
    auto tryChoice = [&](std::vector<int> &next) {
      LayoutCost cost = evaluateLayout(p, c, layout, next);
      ++result.steps;
      if (!cost.fits || cost.seconds >= item.cost.seconds * (1 - 1e-12))
        return false;
      item.cost = cost;
      choice = next;
      return true;
    };
    auto choices = [&](int node) { return static_cast<int>(layout.nodes[node].seconds.size()); };
    bool improved = true;
    for (int sweep = 0; improved && sweep < 20; ++sweep) {
      improved = false;
      for (int i = 0; i < static_cast<int>(n); ++i)
        for (int s = 0; s < choices(i); ++s) {
          std::vector<int> next = choice;
          next[i] = s;
          improved |= tryChoice(next);
        }
      if (improved || n > 64)
        continue;
      for (int i = 0; i < static_cast<int>(n); ++i)
        for (int j = i + 1; j < static_cast<int>(n); ++j)
          for (int s = 0; s < choices(i); ++s)
            for (int t = 0; t < choices(j); ++t) {
              std::vector<int> next = choice;
              next[i] = s;
              next[j] = t;
              improved |= tryChoice(next);
            }
    }
  }

  /// Raise the price of memory until the layout fits; keep the cheapest that does.
  void fitWithPrice(const Candidate &c, Considered &item, std::vector<int> &choice) {
    LayoutProblem layout = buildLayoutProblem(p, c); // bytes in flight depend on pp
    double low = 0, high = 10 * item.cost.seconds / std::max(1.0, item.cost.memory.total());
    for (int round = 0; round < 8; ++round) {
      double price = round == 0 ? high * 1000 : (low + high) / 2;
      AssignOptions assign = options.assign;
      assign.memoryPrice = price;
      assign.order = order;
      AssignSolution s = solveAssign(layout.assign, assign);
      result.steps += s.steps;
      LayoutCost cost = evaluateLayout(p, c, layout, s.choice);
      bool better = cost.fits && (!item.cost.fits || cost.seconds < item.cost.seconds);
      if (better) {
        item.cost = cost;
        item.optimal = false;
        choice = s.choice;
      }
      if (round == 0 && !cost.fits) {
        if (cost.memory.total() < item.cost.memory.total())
          item.cost = cost; // the least it needs
        return;
      }
      if (round > 0)
        (cost.fits ? high : low) = price;
    }
  }

  static bool before(const Considered &a, const Considered &b) {
    double am = a.cost.memory.total(), bm = b.cost.memory.total();
    return std::tie(a.cost.seconds, am) < std::tie(b.cost.seconds, bm);
  }

  void conclude() {
    solvers::stableSort(result.alternatives, before);
    solvers::stableSort(result.rejected, [](const Considered &a, const Considered &b) {
      return a.cost.memory.total() < b.cost.memory.total();
    });
    if (result.alternatives.empty()) {
      result.error = noFit();
      return;
    }
    result.best = result.alternatives.front().candidate;
    result.cost = result.alternatives.front().cost;
    for (const auto &[c, choice] : fitting)
      if (c == result.best)
        fill(c, choice);
    for (Considered &item : result.alternatives)
      item.reason = reasonFor(item);
    for (Considered &item : result.rejected)
      item.reason = reasonFor(item);
    addWellKnown();
    if (!p.pins.sp)
      result.best.sp = result.best.tp > 1 && result.usesSequence(p);
    if (static_cast<int>(result.alternatives.size()) > options.maxAlternatives)
      result.alternatives.resize(options.maxAlternatives);
    if (static_cast<int>(result.rejected.size()) > options.maxAlternatives)
      result.rejected.resize(options.maxAlternatives);
  }

  static std::string ms(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f ms", seconds * 1e3);
    return text;
  }

  static std::pair<const char *, double> largestPart(const cost::RankMemory &m) {
    std::pair<const char *, double> largest{"parameters", m.parameters};
    for (auto part : {std::pair<const char *, double>{"gradients", m.gradients},
                      {"optimizer state", m.optimizer},
                      {"activations", m.activations},
                      {"workspace", m.workspace},
                      {"communication buffers", m.communication}})
      if (part.second > largest.second)
        largest = part;
    return largest;
  }

  std::string noFit() const {
    const Considered &least = result.rejected.front();
    auto [part, bytes] = largestPart(least.cost.memory);
    return "no layout fits: the leanest (" + least.candidate.dump() + ") needs " +
           bytesText(least.cost.memory.total()) + " per rank, allowed " +
           bytesText(p.memoryPerRank()) + "; the largest part is " + part + " with " +
           bytesText(bytes) + "; use more ranks, a smaller batch, or free the pins (" +
           dump(p.pins) + ")";
  }

  std::string reasonFor(const Considered &item) const {
    if (item.candidate == result.best)
      return "";
    const LayoutCost &a = item.cost, &b = result.cost;
    if (!a.fits) {
      auto [part, bytes] = largestPart(a.memory);
      return "needs " + bytesText(a.memory.total()) + " of " + bytesText(p.memoryPerRank()) +
             ", most of it " + part + " (" + bytesText(bytes) + ")";
    }
    char percent[32];
    std::snprintf(percent, sizeof percent, "%.1f %%", 100 * (a.seconds / b.seconds - 1));
    std::string reason = std::string(percent) + " slower";
    std::pair<const char *, double> worst{"compute", a.computeSeconds - b.computeSeconds};
    for (auto part : {std::pair<const char *, double>{"communication", a.communicationSeconds -
                                                                           b.communicationSeconds},
                      {"pipeline bubble", a.bubbleSeconds - b.bubbleSeconds}})
      if (part.second > worst.second)
        worst = part;
    if (worst.second > 0)
      reason += ", mostly " + std::string(worst.first) + " (+" + ms(worst.second) + ")";
    double memory = a.memory.total() - b.memory.total();
    if (memory > 0)
      reason += ", and " + bytesText(memory) + " more memory";
    else if (memory < 0)
      reason += ", saves " + bytesText(-memory) + " of memory";
    return reason;
  }

  void addWellKnown() {
    struct Named {
      const char *name;
      bool (*is)(const Candidate &);
    };
    static const Named named[] = {
        {"data parallel", [](const Candidate &c) { return c.tp == 1 && c.pp == 1 && c.zero == 0; }},
        {"data parallel with ZeRO-1",
         [](const Candidate &c) { return c.tp == 1 && c.pp == 1 && c.zero == 1; }},
        {"tensor parallel", [](const Candidate &c) { return c.dp == 1 && c.pp == 1; }},
        {"pipeline", [](const Candidate &c) { return c.dp == 1 && c.tp == 1 && c.pp > 1; }},
        {"data x tensor parallel",
         [](const Candidate &c) { return c.dp > 1 && c.tp > 1 && c.pp == 1; }}};
    for (const Named &n : named) {
      const Considered *found = nullptr;
      for (const auto *list : {&result.alternatives, &result.rejected})
        for (const Considered &item : *list)
          if (!found && n.is(item.candidate))
            found = &item;
      if (!found)
        continue;
      Considered item = *found;
      item.reason = std::string(n.name) + ": " + (item.reason.empty() ? "chosen" : item.reason);
      result.wellKnown.push_back(item);
    }
  }

  void fill(const Candidate &c, const std::vector<int> &choice) {
    LayoutProblem layout = buildLayoutProblem(p, c);
    result.mesh.axes = {{"dp", c.dp}, {"tp", c.tp}};
    AssignOptions assign = options.assign;
    assign.order = order.size() == layout.assign.nodes.size() ? order : std::vector<int>();
    result.lowerBoundSeconds = solveAssign(layout.assign, assign).lowerBound;
    result.ops.resize(p.ops.size());
    for (size_t op = 0; op < p.ops.size(); ++op) {
      const LayoutNode &node = layout.nodes[layout.nodeOfOp[op]];
      const Strategy &s = node.strategies[choice[layout.nodeOfOp[op]]];
      PlannedOp &planned = result.ops[op];
      planned.tpFactor = s.tpFactor;
      const std::vector<int> &first = result.cost.firstSegment;
      planned.stage = static_cast<int>(std::upper_bound(first.begin(), first.end(), node.segment) -
                                       first.begin() - 1);
      for (size_t i = 0; i < s.operandTp.size(); ++i)
        planned.operands.push_back(sharding(p.ops[op].operands[i], s.operandDp[i], s.operandTp[i]));
      for (size_t i = 0; i < s.resultTp.size(); ++i)
        planned.results.push_back(sharding(p.ops[op].results[i], s.resultDp[i], s.resultTp[i]));
    }
    result.states.resize(p.tensors.size());
    for (size_t t = 0; t < p.tensors.size(); ++t)
      if (int node = layout.nodeOfTensor[t]; node >= 0 && p.tensors[t].isState)
        result.states[t] = sharding(static_cast<int>(t), replicatedLayout,
                                    layout.nodes[node].layouts[choice[node]]);
  }

  Sharding sharding(int tensor, int dp, int tp) const {
    Sharding s = Sharding::replicated(p.tensors[tensor].shape.size());
    auto add = [&](int layout, const char *axis) {
      if (layout == partialLayout)
        s.partial.push_back(axis);
      else if (layout >= 0)
        s.dims[layout].push_back(axis);
    };
    add(dp, "dp");
    add(tp, "tp");
    return s;
  }

  const PlanProblem &p;
  const PlanOptions &options;
  PlanResult result;
  bool exhaustive = true, cached = false;
  Key cachedKey;
  Inner inner;
  std::vector<int> order;
  int64_t orderTp = 0;
  struct Seen {
    Candidate candidate;
    double fastest;
    bool fits;
  };
  std::vector<Seen> seen;
  std::vector<std::pair<Candidate, std::vector<int>>> fitting;
  double bestSeconds = std::numeric_limits<double>::infinity();
};

} // namespace

PlanResult planLayout(const PlanProblem &problem, const PlanOptions &options) {
  return Search(problem, options).run();
}

} // namespace gpucc::planner
