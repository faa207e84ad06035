//===- FitPeak.cpp - repetitions that a peak budget needs -----------------===//
//
// Local search over the set of repeated ops. Its measure is the area of live
// bytes above the budget, summed over the runs: unlike the peak it also falls
// when one of several equal peaks falls.
//
//   layers 0..3, all alike, budget for one layer's values and a half: repeating
//   only layer 0 lowers none of the peaks, but the area by a quarter
//
//===----------------------------------------------------------------------===//
#include "RecomputeProblem.h"

#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

std::vector<int64_t> RecomputeProblem::liveBytes(const Outcome &outcome) const {
  solvers::OrderProblem problem = orderProblem(outcome);
  std::vector<int64_t> change(outcome.runs.size() + 1, 0);
  for (const solvers::OrderTensor &t : problem.tensors) {
    int last = t.consumers.empty() ? t.producer : t.consumers.back();
    change[static_cast<size_t>(t.producer)] += t.size;
    change[t.kept ? outcome.runs.size() : static_cast<size_t>(last) + 1] -= t.size;
  }
  change[0] += isStage() ? outcome.crossing : 0;
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

std::vector<int> RecomputeProblem::repeatableAt(const Outcome &outcome, int position) const {
  solvers::OrderProblem problem = orderProblem(outcome);
  std::vector<char> chosen(keepOps.size(), 0);
  auto choose = [&](Operation *op) {
    auto it = keepIndex.find(op);
    if (it != keepIndex.end() && !keep.ops[static_cast<size_t>(it->second)].noRecompute)
      chosen[static_cast<size_t>(it->second)] = 1;
  };
  for (const solvers::OrderTensor &t : problem.tensors) {
    int last = t.consumers.empty() ? t.producer : t.consumers.back();
    if (t.producer <= position && last >= position)
      choose(outcome.runs[static_cast<size_t>(t.producer)].op);
  }
  if (isStage()) // what crosses takes bytes all the time
    for (Value root : crossingRoots(outcome))
      choose(root.getDefiningOp());
  std::vector<int> ops;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i])
      ops.push_back(static_cast<int>(i));
  return ops;
}

Outcome RecomputeProblem::outcomeOf(const std::vector<char> &repeated) const {
  solvers::KeepSolution solution; // only what really runs again
  solution.feasible = true;
  for (const Run &run : listRuns(repeated))
    if (run.again)
      solution.recomputed.push_back(keepIndex.lookup(run.op));
  llvm::sort(solution.recomputed);
  for (int op : solution.recomputed)
    solution.extraCost += keep.ops[static_cast<size_t>(op)].cost;
  return outcome(solution);
}

/// Repeating `op` alone would keep its operands alive instead: `depth` generations of producers
/// that backward does not read anyway are repeated with it (softmax and the product before it).
void RecomputeProblem::repeatWithProducers(int op, int depth, std::vector<char> &repeated) const {
  repeated[static_cast<size_t>(op)] = 1;
  if (depth == 0)
    return;
  for (int t : keep.ops[static_cast<size_t>(op)].reads) {
    const solvers::KeepTensor &tensor = keep.tensors[static_cast<size_t>(t)];
    if (tensor.producer >= 0 && !tensor.needed && !tensor.alwaysKept &&
        !keep.ops[static_cast<size_t>(tensor.producer)].noRecompute)
      repeatWithProducers(tensor.producer, depth - 1, repeated);
  }
}

static double areaAbove(const std::vector<int64_t> &live, int64_t budget) {
  double area = 0;
  for (int64_t bytes : live)
    area += static_cast<double>(std::max<int64_t>(0, bytes - budget));
  return area;
}

Outcome RecomputeProblem::fitPeak(const Outcome &start, int64_t budget) const {
  int64_t evaluations = 1'000'000 / static_cast<int64_t>(start.runs.size() + 1);
  Outcome current = outcomeOf(repeatedOf(start));
  while (current.peak > budget && evaluations > 0) {
    std::vector<int64_t> live = liveBytes(current);
    double area = areaAbove(live, budget);
    int worst = static_cast<int>(llvm::max_element(live) - live.begin());
    std::optional<Outcome> best;
    double bestArea = area;
    std::vector<char> now = repeatedOf(current);
    for (int op : repeatableAt(current, worst))
      for (int depth = 0; depth < (now[static_cast<size_t>(op)] ? 1 : 4); ++depth) {
        if (evaluations-- <= 0)
          break;
        std::vector<char> repeated = now;
        if (now[static_cast<size_t>(op)])
          repeated[static_cast<size_t>(op)] = 0;
        else
          repeatWithProducers(op, depth, repeated);
        Outcome next = outcomeOf(repeated);
        double nextArea = areaAbove(liveBytes(next), budget);
        if (nextArea < bestArea) {
          bestArea = nextArea;
          best = std::move(next);
        }
      }
    if (!best)
      break;
    current = std::move(*best);
  }
  if (current.peak > budget)
    return current;
  std::vector<int> dearest = current.solution.recomputed;
  llvm::stable_sort(dearest, [&](int a, int b) {
    return keep.ops[static_cast<size_t>(a)].cost > keep.ops[static_cast<size_t>(b)].cost;
  });
  for (int op : dearest) {
    std::vector<char> repeated = repeatedOf(current);
    repeated[static_cast<size_t>(op)] = 0;
    Outcome next = outcomeOf(repeated);
    if (next.peak <= budget && next.solution.extraCost < current.solution.extraCost)
      current = std::move(next);
  }
  return current;
}
