//===- KeepPeak.cpp - what recomputation does to the backward peak --------===//
//
// Example: chain a -> b -> c, 10 bytes each, backward reads c at 0, b at 1, a at 2. Keep all:
// peak 30. Keep a only: b and c are computed before position 0 (c needs b): again 30. Kept bytes
// fell, the peak did not; that is why budgets on peaks are checked by this simulation.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Recompute.h"
#include <algorithm>
#include <limits>
#include <map>

namespace gpucc::solvers {

int64_t keepPeak(const KeepProblem &problem, const KeepSolution &solution) {
  constexpr int never = std::numeric_limits<int>::max();
  size_t numTensors = problem.tensors.size();
  std::vector<int> first(numTensors, never), last(numTensors, -1);
  std::vector<char> kept(numTensors, 0);
  for (int t : solution.kept)
    kept[t] = 1;
  for (size_t t = 0; t < numTensors; ++t)
    for (int use : problem.tensors[t].backwardUses) {
      first[t] = std::min(first[t], use);
      last[t] = std::max(last[t], use);
    }
  std::vector<std::vector<int>> made(problem.ops.size());
  for (size_t t = 0; t < numTensors; ++t)
    if (problem.tensors[t].producer >= 0)
      made[problem.tensors[t].producer].push_back(static_cast<int>(t));
  std::map<int, int64_t> change; // position -> bytes born there minus bytes that died before it
  auto live = [&](int t, int from) {
    if (problem.tensors[t].alwaysKept || last[t] < from)
      return;
    change[from] += problem.tensors[t].size;
    change[last[t] + 1] -= problem.tensors[t].size;
  };
  // Readers come later in the order, so their times are known when an op is reached backwards.
  for (auto it = solution.recomputed.rbegin(); it != solution.recomputed.rend(); ++it) {
    int when = never;
    for (int t : made[*it])
      if (!kept[t])
        when = std::min(when, first[t]);
    if (when == never)
      continue;
    for (int t : problem.ops[*it].reads) {
      first[t] = std::min(first[t], when);
      last[t] = std::max(last[t], when);
    }
    for (int t : made[*it])
      if (!kept[t])
        live(t, when);
  }
  for (int t : solution.kept)
    live(t, -1);
  int64_t bytes = 0, peak = 0;
  for (auto [position, delta] : change) {
    bytes += delta;
    peak = std::max(peak, bytes);
  }
  return peak;
}

KeepSolution solveKeepForPeak(const KeepProblem &problem, int64_t peakBudget, int points,
                              const KeepOptions &options) {
  KeepSolution best;
  int64_t leastPeak = std::numeric_limits<int64_t>::max();
  KeepOptions quick = options;
  quick.stepBudget = std::min<int64_t>(options.stepBudget, 60);
  for (const KeepSolution &candidate : keepTradeOff(problem, points, quick)) {
    if (!candidate.feasible)
      continue;
    int64_t peak = keepPeak(problem, candidate);
    leastPeak = std::min(leastPeak, peak);
    if (peak <= peakBudget && (!best.feasible || candidate.extraCost < best.extraCost))
      best = candidate;
  }
  best.optimal = best.feasible && best.extraCost == 0;
  best.lowerBound = 0;
  if (!best.feasible)
    best.minimumBytes = leastPeak;
  return best;
}

} // namespace gpucc::solvers
