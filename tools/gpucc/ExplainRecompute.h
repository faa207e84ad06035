//===- ExplainRecompute.h - what a memory limit led to ----------*- C++ -*-===//
//
//   memory limit  6.10 MiB per rank (--memory-budget 0.7 of 9142272); planned 6.05 MiB
//     without recomputation 8.72 MiB; planned 2 times
//     @step: 14 ops run again in backward, +21.4 % FLOP, about +9.8 % time
//       forward keeps for backward   4.00 MiB -> 2.25 MiB
//       ...
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_EXPLAINRECOMPUTE_H
#define GPUCC_TOOLS_EXPLAINRECOMPUTE_H

#include <nlohmann/json_fwd.hpp>

namespace gpucc::tool {

/// Prints the "memory limit" of a plan's explanation (lib/Pipelines/Compile/FitBudget.h).
void printMemoryLimit(const nlohmann::json &limit);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_EXPLAINRECOMPUTE_H
