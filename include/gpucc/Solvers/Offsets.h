//===- Offsets.h - addresses in one arena from lifetimes --------*- C++ -*-===//
//
// What: every buffer gets an offset so that buffers that are alive together do not overlap and the
// arena (the largest end) is small. Dynamic storage allocation; NP-hard, but real instances are
// often solvable at the lower bound "most bytes alive at once".
//
// Why here: the pass that assigns addresses runs last (`15-decisions`, order of passes, step 19)
// and everything before it was paid for in peak bytes; wasting 30 % of them on gaps (what greedy by
// size does on the minimalloc benchmark) would throw that away.
//
// Example. Three buffers, time runs right, half-open lifetimes:
//
//     a: size 4, [0,2)      offset 0     a a . .
//     b: size 4, [1,3)      offset 4     . b b .
//     c: size 4, [2,4)      offset 0     . . c c     arena 8 = lower bound 8
//
// Two forms: lifetimes on one time line (one stream), and a conflict graph (several streams: two
// buffers conflict unless one's last use happens before the other's first write).
//
// Sources: greedy by size/area, first fit (Pisarchyk & Lee, arXiv 2001.03288); the search is in the
// manner of MiniMalloc (Moffitt, ASPLOS'23): canonical solutions in order of offset, dominance,
// section inference, decomposition at cuts, restarts over static orders.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SOLVERS_OFFSETS_H
#define GPUCC_SOLVERS_OFFSETS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpucc::solvers {

/// One buffer: bytes, half-open lifetime [lower, upper), offset must be a multiple of `alignment`.
struct Buffer {
  int64_t size = 0;
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t alignment = 1;
};

/// Buffers on one time line, or (when `useConflicts`) with an explicit conflict graph; the
/// lifetimes are then ignored. `conflicts` holds unordered pairs of buffer indices.
struct OffsetProblem {
  std::vector<Buffer> buffers;
  bool useConflicts = false;
  std::vector<std::pair<int, int>> conflicts;

  /// Empty when well formed, else what is wrong (place, found, allowed, remedy).
  std::string check() const;
  std::string dump() const;
};

/// How long to search. A step is one tentative placement; no clock is read.
struct OffsetOptions {
  int64_t stepBudget = 2'000'000;
  /// Stop as soon as the arena is not larger than this; negative: aim at the lower bound.
  int64_t goodEnough = -1;
};

struct OffsetSolution {
  std::vector<int64_t> offsets; ///< per buffer, bytes
  int64_t arena = 0;            ///< bytes: the largest end
  int64_t lowerBound = 0;       ///< bytes: most bytes alive at once (conflict form: heaviest clique
                                ///< found)
  bool optimal = false;         ///< arena proved least
  int64_t steps = 0;            ///< search steps spent
  std::string method;           ///< which heuristic or search produced it

  std::string dump() const;
};

/// Most bytes alive at once. For the conflict form the weight of the heaviest clique that a greedy
/// sweep finds: still a valid lower bound, not always the best one.
int64_t offsetLowerBound(const OffsetProblem &problem);

/// Best of the greedy orders (no search). O(n * conflicts).
OffsetSolution solveOffsetsGreedy(const OffsetProblem &problem);

/// Greedy first, then search between the lower bound and the best found until the step budget ends.
OffsetSolution solveOffsets(const OffsetProblem &problem, const OffsetOptions &options = {});

/// Offsets within `capacity` bytes, or an empty `offsets` when the budget ended (`optimal` is then
/// true only if the search proved that none exist).
OffsetSolution fitOffsets(const OffsetProblem &problem, int64_t capacity,
                          const OffsetOptions &options = {});

/// Empty when `solution` is legal for `problem`, else the first overlap or misalignment.
std::string verifyOffsets(const OffsetProblem &problem, const OffsetSolution &solution);

} // namespace gpucc::solvers
#endif // GPUCC_SOLVERS_OFFSETS_H
