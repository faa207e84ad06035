//===- Enumerate.h - the optimum by looking at everything -------*- C++ -*-===//
//
//   int64_t looked = 0;
//   EXPECT_NEAR(planLayout(problem).cost.seconds, enumerate(problem, looked), 1e-12);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_PLANNER_ENUMERATE_H
#define GPUCC_TEST_PLANNER_ENUMERATE_H

#include "gpucc/Planner/Plan.h"

namespace gpucc::planner::test {

/// The least time over all candidates and all op choices; -1 when nothing fits.
inline double enumerate(const PlanProblem &problem, int64_t &looked) {
  std::string error;
  double best = -1;
  for (const Candidate &c : enumerateCandidates(problem, error)) {
    LayoutProblem layout = buildLayoutProblem(problem, c);
    std::vector<int> choice(layout.nodes.size(), 0);
    while (true) {
      LayoutCost cost = evaluateLayout(problem, c, layout, choice);
      ++looked;
      if (cost.fits && (best < 0 || cost.seconds < best))
        best = cost.seconds;
      size_t k = 0;
      while (k < choice.size() && ++choice[k] == static_cast<int>(layout.nodes[k].seconds.size()))
        choice[k++] = 0;
      if (k == choice.size())
        break;
    }
  }
  return best;
}

} // namespace gpucc::planner::test

#endif // GPUCC_TEST_PLANNER_ENUMERATE_H
