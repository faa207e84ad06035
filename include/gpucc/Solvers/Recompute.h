//===- Recompute.h - which values to keep, which to compute again *- C++ -*-===//
//
// What: training keeps forward values for the backward pass. Under a memory budget some are dropped
// and computed again, at least extra cost. Three forms, from the most general to the one the
// compiler uses:
//
//   RematProblem  a schedule of computes and drops for a whole graph within `budget` live bytes
//                 (Checkmate's problem, Jain et al., MLSys'20). Exact by A* over live sets.
//   chain         l equal-sized states, s slots: the binomial schedule of revolve (Griewank &
//                 Walther, TOMS 26(1), Alg. 799) with unequal step costs, by dynamic programming.
//   KeepProblem   which forward tensors are alive at the end of forward, within `budget` bytes;
//   what
//                 backward needs and is not kept is recomputed once. Lagrangian minimum cut (the
//                 cut of torch's min-cut partitioner with a price per byte) + branch and bound.
//                 With the positions of the backward uses also for a peak budget
//                 (`solveKeepForPeak`).
//
// Example (KeepProblem): x -> exp -> gelu -> loss; backward needs both results, 100 bytes each.
// Budget 200: keep both, extra 0. Budget 100: keep exp, recompute gelu from it. Budget 0: recompute
// both from x, which is an argument and alive anyway.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SOLVERS_RECOMPUTE_H
#define GPUCC_SOLVERS_RECOMPUTE_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpucc::solvers {

//===----------------------------------------------------------------------===//
// Schedules of computes and drops
//===----------------------------------------------------------------------===//

/// One value per op. Inputs and output of an op are alive together; a drop is free; `outputs` stay
/// once computed and must all be alive at the end. Budget is on the sum of live sizes.
struct RematProblem {
  std::vector<std::vector<int>> predecessors;
  std::vector<double> cost;
  std::vector<int64_t> size;
  std::vector<int> outputs;
  std::string check() const;
  std::string dump() const;
};

struct RematStep {
  int op = 0;
  bool drop = false; ///< false: compute
};

struct RematOptions {
  int64_t stepBudget = 1'000'000; ///< live sets expanded
};

struct RematSolution {
  bool feasible = false;
  std::vector<RematStep> schedule;
  double cost = 0;            ///< of all computes
  int64_t peak = 0;           ///< live bytes
  double lowerBound = 0;      ///< no schedule within the budget is cheaper
  bool optimal = false;       ///< cost proved least, or infeasibility proved
  int64_t minimumBudget = -1; ///< when not feasible: least budget known to be feasible
  bool minimumProved = false;
  int64_t steps = 0;
  std::string dump() const;
};

RematSolution solveRemat(const RematProblem &problem, int64_t budget,
                         const RematOptions &options = {});

/// Empty when the schedule computes all outputs within `budget`, each input alive when read.
std::string verifyRemat(const RematProblem &problem, int64_t budget, const RematSolution &solution);

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// Reversal of a chain of steps: to run step i backward, state i must be in memory. `slots` states
/// fit, the first one included. Returns the least extra forward cost beyond one forward sweep's
/// first use (revolve's t(l, s)), and where checkpoints go in the first sweep.
struct ChainSolution {
  bool feasible = false;
  double extraCost = 0;
  std::vector<int> checkpoints; ///< states stored during the first sweep, state 0 included
};
ChainSolution solveChain(const std::vector<double> &stepCost, int slots);

//===----------------------------------------------------------------------===//
// What to keep at the end of forward
//===----------------------------------------------------------------------===//

struct KeepTensor {
  int64_t size = 0;
  int producer = -1;       ///< forward op, -1: argument, parameter or constant (alive anyway)
  bool needed = false;     ///< backward reads it
  bool alwaysKept = false; ///< alive at the end of forward whatever is chosen (an output): counts
                           ///< zero bytes here
  std::vector<int> backwardUses; ///< positions in the backward order that read it (for `keepPeak`)
};

struct KeepOp {
  double cost = 0; ///< FLOP or seconds; only sums are compared
  std::vector<int> reads;
  bool noRecompute = false; ///< random with state, communication, side effect
};

struct KeepProblem {
  std::vector<KeepTensor> tensors;
  std::vector<KeepOp> ops; ///< forward ops in a topological order
  std::string check() const;
  std::string dump() const;
};

struct KeepOptions {
  int64_t stepBudget = 400; ///< minimum cuts computed
};

struct KeepSolution {
  bool feasible = false;
  std::vector<int> kept;       ///< tensors, ascending (arguments and alwaysKept not listed)
  std::vector<int> recomputed; ///< ops, ascending
  int64_t keptBytes = 0;
  double extraCost = 0;
  double lowerBound = 0; ///< no choice within the budget costs less
  bool optimal = false;
  int64_t minimumBytes = 0; ///< least kept bytes of any choice: the least feasible budget
  int64_t allBytes = 0;     ///< kept bytes without recomputation
  int64_t steps = 0;
  std::string dump() const;
};

KeepSolution solveKeep(const KeepProblem &problem, int64_t budget, const KeepOptions &options = {});

/// Most bytes of kept and recomputed tensors alive at once during backward. A recomputed op runs
/// right before the first backward position that needs one of its results (directly or through
/// another recomputed op) and its results live to their last use. Needs `backwardUses`.
int64_t keepPeak(const KeepProblem &problem, const KeepSolution &solution);

/// Least extra cost with `keepPeak` <= peakBudget, over choices at `points` kept-bytes budgets: few
/// kept bytes do not mean a low peak when long stretches are recomputed at once. When none fits,
/// `feasible` is false and `minimumBytes` is the least peak seen.
KeepSolution solveKeepForPeak(const KeepProblem &problem, int64_t peakBudget, int points = 48,
                              const KeepOptions &options = {});

/// The trade-off at `points` budgets evenly spaced from the minimum to no recomputation.
std::vector<KeepSolution> keepTradeOff(const KeepProblem &problem, int points,
                                       const KeepOptions &options = {});

/// Empty when everything backward needs is kept, an argument, or recomputed from such values, no
/// noRecompute op is recomputed and the sums are right.
std::string verifyKeep(const KeepProblem &problem, int64_t budget, const KeepSolution &solution);

} // namespace gpucc::solvers
#endif // GPUCC_SOLVERS_RECOMPUTE_H
