//===- PopularLayouts.h - what people use, against the answer ----*- C++ -*-===//
#ifndef GPUCC_LIB_PLANNER_POPULARLAYOUTS_H
#define GPUCC_LIB_PLANNER_POPULARLAYOUTS_H

#include "gpucc/Planner/LayoutSearch.h"

namespace gpucc::planner {

/// "+12.3 %: pipeline bubble +0.31 s, tensor-parallel traffic +0.20 s (tp 16 crosses nodes)".
std::string compareChoices(const Choice &other, const Choice &best, const SearchProblem &problem);

/// Fills `result.popular`.
void judgePopular(const SearchProblem &problem, simulate::BlockCache &cache, SearchResult &result);

} // namespace gpucc::planner
#endif // GPUCC_LIB_PLANNER_POPULARLAYOUTS_H
