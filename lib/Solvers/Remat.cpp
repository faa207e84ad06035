//===- Remat.cpp - schedules of computes and drops ------------------------===//
//
// State of the search: the set of live values. A* with the cost of the closure of what is still
// needed (each such op runs at least once more): consistent, hence the first goal popped is
// optimal. Example: f0 f1 f2 g2 g1 g0 with 4 slots costs 6, no op twice; the closure bound is exact
// there.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Recompute.h"
#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <sstream>
#include <tuple>
#include <unordered_map>

namespace gpucc::solvers {

std::string RematProblem::check() const {
  std::ostringstream out;
  size_t n = predecessors.size();
  if (cost.size() != n || size.size() != n) {
    out << "found " << n << " ops, " << cost.size() << " costs and " << size.size()
        << " sizes; allowed one of each per op";
    return out.str();
  }
  for (size_t v = 0; v < n; ++v) {
    if (cost[v] < 0 || size[v] < 0) {
      out << "op " << v << ": found cost " << cost[v] << " and size " << size[v]
          << "; allowed both >= 0";
      return out.str();
    }
    for (int p : predecessors[v])
      if (p < 0 || p >= static_cast<int>(v)) {
        out << "op " << v << ": found predecessor " << p << ", allowed 0.." << v
            << " (exclusive); number the ops in a topological order";
        return out.str();
      }
  }
  for (int o : outputs)
    if (o < 0 || o >= static_cast<int>(n)) {
      out << "output " << o << ": allowed 0.." << static_cast<int>(n) - 1;
      return out.str();
    }
  return "";
}

std::string RematProblem::dump() const {
  std::ostringstream out;
  for (size_t v = 0; v < predecessors.size(); ++v) {
    out << v << " cost " << cost[v] << " size " << size[v] << " <-";
    for (int p : predecessors[v])
      out << ' ' << p;
    out << (std::count(outputs.begin(), outputs.end(), static_cast<int>(v)) ? " output\n" : "\n");
  }
  return out.str();
}

std::string RematSolution::dump() const {
  std::ostringstream out;
  if (!feasible) {
    out << "infeasible" << (optimal ? "" : " (not proved)") << "; least feasible budget "
        << minimumBudget << (minimumProved ? "" : " (upper bound)") << '\n';
    return out.str();
  }
  out << "cost " << cost << ", lower bound " << lowerBound << (optimal ? ", optimal" : "")
      << ", peak " << peak << ":";
  for (const RematStep &step : schedule)
    out << (step.drop ? " -" : " ") << step.op;
  out << '\n';
  return out.str();
}

std::string verifyRemat(const RematProblem &problem, int64_t budget,
                        const RematSolution &solution) {
  std::ostringstream out;
  std::vector<char> live(problem.cost.size(), 0);
  int64_t bytes = 0;
  double cost = 0;
  for (size_t i = 0; i < solution.schedule.size(); ++i) {
    auto [op, drop] = solution.schedule[i];
    if (drop != (live[op] != 0)) {
      out << "step " << i << ": " << (drop ? "drops a dead" : "computes a live") << " value " << op;
      return out.str();
    }
    for (int p : problem.predecessors[op])
      if (!drop && !live[p]) {
        out << "step " << i << ": op " << op << " reads " << p << ", which is not alive";
        return out.str();
      }
    live[op] = !drop;
    bytes += drop ? -problem.size[op] : problem.size[op];
    cost += drop ? 0 : problem.cost[op];
    if (bytes > budget) {
      out << "step " << i << ": " << bytes << " bytes are alive, allowed " << budget;
      return out.str();
    }
  }
  for (int o : problem.outputs)
    if (!live[o]) {
      out << "output " << o << " is not alive at the end";
      return out.str();
    }
  if (std::abs(cost - solution.cost) > 1e-9 * std::max(1.0, cost)) {
    out << "found cost " << solution.cost << ", the schedule costs " << cost;
    return out.str();
  }
  return "";
}

namespace {

/// A* (by cost within a budget) or bottleneck search (by peak, any budget) over live sets, n <= 64.
class LiveSetSearch {
public:
  explicit LiveSetSearch(const RematProblem &problem) : p(problem) {
    n = static_cast<int>(p.cost.size());
    for (int v = 0; v < n; ++v) {
      uint64_t mask = 0;
      for (int u : p.predecessors[v])
        mask |= bit(u);
      predMask.push_back(mask);
    }
    for (int o : p.outputs)
      outputMask |= bit(o);
  }

  /// Least cost within `budget`; `result.optimal` is false when the steps ran out.
  void byCost(int64_t budget, int64_t maxSteps, RematSolution &result) {
    run(budget, false, maxSteps, result);
  }
  void byPeak(int64_t maxSteps, RematSolution &result) {
    run(std::numeric_limits<int64_t>::max(), true, maxSteps, result);
  }
  double closureCost(uint64_t live) const {
    double sum = 0;
    uint64_t needed = outputMask & ~live;
    for (int v = n - 1; v >= 0; --v)
      if (needed & bit(v)) {
        sum += p.cost[v];
        needed |= predMask[v] & ~live;
      }
    return sum;
  }

private:
  static uint64_t bit(int v) { return uint64_t(1) << v; }
  struct Record {
    double value; ///< cost so far, or peak so far
    int64_t bytes;
    uint64_t parent;
    int move; ///< v: compute v, ~v: drop v
    bool closed;
  };

  void run(int64_t budget, bool bottleneck, int64_t maxSteps, RematSolution &result) {
    std::unordered_map<uint64_t, Record> records;
    using Entry = std::tuple<double, double, uint64_t>; // estimate, remaining, live set
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
    auto reach = [&](uint64_t live, double value, int64_t bytes, uint64_t parent, int move) {
      auto [it, isNew] = records.try_emplace(live, Record{value, bytes, parent, move, false});
      if (!isNew) {
        if (it->second.closed || it->second.value <= value)
          return;
        it->second = {value, bytes, parent, move, false};
      }
      double rest = closureCost(live);
      queue.push({bottleneck ? value : value + rest, rest, live});
    };
    reach(0, 0, 0, 0, 0);
    result.optimal = false;
    while (!queue.empty()) {
      auto [estimate, rest, live] = queue.top();
      queue.pop();
      Record &record = records[live];
      if (record.closed)
        continue;
      record.closed = true;
      Record here = record;
      if ((live & outputMask) == outputMask) {
        result.optimal = result.feasible = true;
        unwind(records, live, result);
        return;
      }
      if (++result.steps > maxSteps) {
        result.lowerBound = bottleneck ? 0 : estimate;
        return;
      }
      for (int v = 0; v < n; ++v) {
        if (live & bit(v)) {
          if (!(outputMask & bit(v)))
            reach(live & ~bit(v), here.value, here.bytes - p.size[v], live, ~v);
          continue;
        }
        if ((predMask[v] & live) != predMask[v])
          continue;
        int64_t bytes = here.bytes + p.size[v];
        if (bytes > budget)
          continue;
        double value =
            bottleneck ? std::max(here.value, static_cast<double>(bytes)) : here.value + p.cost[v];
        reach(live | bit(v), value, bytes, live, v);
      }
    }
    result.optimal = true; // everything reachable was seen: infeasible
  }

  void unwind(const std::unordered_map<uint64_t, Record> &records, uint64_t live,
              RematSolution &result) const {
    result.schedule.clear();
    result.cost = 0;
    result.peak = 0;
    while (live != 0) {
      const Record &record = records.at(live);
      bool drop = record.move < 0;
      int op = drop ? ~record.move : record.move;
      result.schedule.push_back({op, drop});
      result.cost += drop ? 0 : p.cost[op];
      result.peak = std::max(result.peak, record.bytes);
      live = record.parent;
    }
    std::reverse(result.schedule.begin(), result.schedule.end());
  }

  const RematProblem &p;
  int n = 0;
  std::vector<uint64_t> predMask;
  uint64_t outputMask = 0;
};

/// For graphs beyond the exact search: run ops in their order, evict when the budget is hit (what
/// is used furthest in the future per cost of getting it back), rematerialise recursively. The idea
/// of DTR (Kirisame et al., ICLR'21), with the future known.
class EvictingSchedule {
public:
  EvictingSchedule(const RematProblem &problem, int64_t budget, int score)
      : p(problem), budget(budget), score(score) {
    n = static_cast<int>(p.cost.size());
    uses.resize(n);
    for (int v = 0; v < n; ++v)
      for (int u : p.predecessors[v])
        uses[u].push_back(v);
    isOutput.assign(n, 0);
    for (int o : p.outputs)
      isOutput[o] = 1;
    live.assign(n, 0);
    pinned.assign(n, 0);
  }

  bool run(RematSolution &result, int64_t maxSteps) {
    std::vector<char> needed(n, 0);
    for (int v = n - 1; v >= 0; --v) {
      needed[v] = isOutput[v];
      for (int u : uses[v])
        needed[v] |= needed[u];
    }
    for (now = 0; now < n; ++now)
      if (needed[now] && !live[now] && !compute(now, result, maxSteps, 0))
        return false;
    result.feasible = true;
    return true;
  }

private:
  int nextUse(int v) const {
    auto it = std::lower_bound(uses[v].begin(), uses[v].end(), now);
    return it == uses[v].end() ? std::numeric_limits<int>::max() : *it;
  }

  bool compute(int v, RematSolution &result, int64_t maxSteps, int depth) {
    if (++result.steps > maxSteps || depth > n)
      return false;
    for (int u : p.predecessors[v])
      ++pinned[u];
    bool fine = true;
    for (int u : p.predecessors[v])
      if (fine && !live[u])
        fine = compute(u, result, maxSteps, depth + 1);
    while (fine && bytes + p.size[v] > budget)
      fine = evict(result);
    if (fine && !live[v]) {
      live[v] = 1;
      bytes += p.size[v];
      result.peak = std::max(result.peak, bytes);
      result.cost += p.cost[v];
      result.schedule.push_back({v, false});
    }
    for (int u : p.predecessors[v])
      --pinned[u];
    return fine;
  }

  bool evict(RematSolution &result) {
    int victim = -1;
    double best = -1;
    for (int u = 0; u < n; ++u) {
      if (!live[u] || pinned[u] || isOutput[u])
        continue;
      int use = nextUse(u);
      double distance = use == std::numeric_limits<int>::max() ? 1e12 : use - now + 1;
      double bytesOf = static_cast<double>(p.size[u]) + 1e-9, back = p.cost[u] + 1e-9;
      double value = distance > 1e11 ? 1e18 * bytesOf
                     : score == 0    ? distance
                     : score == 1    ? bytesOf / back
                     : score == 2    ? distance * bytesOf / back
                                     : distance / back;
      if (value > best) {
        best = value;
        victim = u;
      }
    }
    if (victim < 0)
      return false;
    live[victim] = 0;
    bytes -= p.size[victim];
    result.schedule.push_back({victim, true});
    return true;
  }

  const RematProblem &p;
  int64_t budget;
  int score, n = 0, now = 0;
  int64_t bytes = 0;
  std::vector<std::vector<int>> uses;
  std::vector<char> live, isOutput;
  std::vector<int> pinned;
};

RematSolution heuristicRemat(const RematProblem &problem, int64_t budget) {
  RematSolution best;
  for (int score = 0; score < 4; ++score) {
    RematSolution result;
    int64_t maxSteps = 2000 + 200 * static_cast<int64_t>(problem.cost.size());
    EvictingSchedule schedule(problem, budget, score);
    if (schedule.run(result, maxSteps) && (!best.feasible || result.cost < best.cost))
      best = result;
  }
  return best;
}

/// Least budget at which the heuristic succeeds, by bisection: an upper bound.
int64_t heuristicMinimum(const RematProblem &problem) {
  int64_t high = 0, low = 0;
  for (size_t v = 0; v < problem.size.size(); ++v) {
    int64_t here = problem.size[v];
    for (int u : problem.predecessors[v])
      here += problem.size[u];
    low = std::max(low, here);
    high += problem.size[v];
  }
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (heuristicRemat(problem, middle).feasible)
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

} // namespace

RematSolution solveRemat(const RematProblem &problem, int64_t budget, const RematOptions &options) {
  RematSolution result;
  bool small = problem.cost.size() <= 64;
  if (small) {
    LiveSetSearch search(problem);
    search.byCost(budget, options.stepBudget, result);
    if (result.feasible)
      result.lowerBound = result.cost;
    if (!result.feasible && result.optimal) {
      RematSolution least;
      search.byPeak(options.stepBudget, least);
      result.minimumProved = least.feasible;
      result.minimumBudget = least.feasible ? least.peak : heuristicMinimum(problem);
    }
    if (result.optimal)
      return result;
  }
  double bound = result.lowerBound;
  RematSolution quick = heuristicRemat(problem, budget);
  quick.steps += result.steps;
  double once = 0; // every op an output depends on runs at least once
  std::vector<char> needed(problem.cost.size(), 0);
  for (int o : problem.outputs)
    needed[o] = 1;
  for (int v = static_cast<int>(needed.size()) - 1; v >= 0; --v)
    if (needed[v]) {
      once += problem.cost[v];
      for (int u : problem.predecessors[v])
        needed[u] = 1;
    }
  quick.lowerBound = std::max(bound, once);
  quick.optimal = quick.feasible && quick.cost <= quick.lowerBound;
  if (!quick.feasible)
    quick.minimumBudget = heuristicMinimum(problem);
  return quick;
}

ChainSolution solveChain(const std::vector<double> &stepCost, int slots) {
  ChainSolution result;
  int l = static_cast<int>(stepCost.size());
  if (slots < 1)
    return result;
  result.feasible = true;
  if (l == 0)
    return result;
  std::vector<double> prefix(l + 1, 0);
  for (int i = 0; i < l; ++i)
    prefix[i + 1] = prefix[i] + stepCost[i];
  // best[s][i][j]: reverse steps i..j-1 with state i stored and s slots, state i's included.
  auto index = [&](int i, int j) { return static_cast<size_t>(i) * (l + 1) + j; };
  std::vector<std::vector<double>> best(slots + 1, std::vector<double>((l + 1) * (l + 1), 0));
  std::vector<std::vector<int>> split(slots + 1, std::vector<int>((l + 1) * (l + 1), -1));
  for (int s = 1; s <= slots; ++s)
    for (int length = 2; length <= l; ++length)
      for (int i = 0; i + length <= l; ++i) {
        int j = i + length;
        double value = 0;
        if (s == 1) { // restart from state i before every backward step
          for (int k = i + 1; k < j; ++k)
            value += prefix[k] - prefix[i];
        } else {
          value = std::numeric_limits<double>::infinity();
          for (int k = i + 1; k < j; ++k) {
            double v = prefix[k] - prefix[i] + best[s - 1][index(k, j)] + best[s][index(i, k)];
            if (v < value) {
              value = v;
              split[s][index(i, j)] = k;
            }
          }
        }
        best[s][index(i, j)] = value;
      }
  result.extraCost = best[slots][index(0, l)];
  result.checkpoints = {0};
  for (int i = 0, s = slots; s >= 2 && split[s][index(i, l)] >= 0; --s) {
    i = split[s][index(i, l)];
    result.checkpoints.push_back(i);
  }
  return result;
}

} // namespace gpucc::solvers
