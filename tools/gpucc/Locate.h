//===- Locate.h - who made a wrong value ------------------------*- C++ -*-===//
//
//   locate(group, planFile, "fc1.weight.accumulator", expected, 17, 1e-6)
//     -> "by 'accumulate' (Launch), in step of stage 0 on rank 1"
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_GPUCC_LOCATE_H
#define GPUCC_TOOLS_GPUCC_LOCATE_H

#include "PlanText.h"
#include "gpucc_rt/RankGroup.h"

namespace gpucc::tool {

/// The command of the plan that writes the tensor last, and the ranks whose part of it differs from
/// `expected` (the whole tensor) by more than `allowed` at element `index`. "" where the plan does
/// not say.
std::string locate(gpucc_rt::RankGroup &group, const PlanFile &plan, const std::string &tensor,
                   const gpucc_rt::Array &expected, int64_t index, double allowed);

/// The part of that which the plan alone says: the last command that writes the tensor, or that
/// piece of it which holds `element` (empty: any piece).
std::string writerOf(const rt::plan::Plan &plan, const std::string &tensor,
                     const std::vector<int64_t> &element);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_LOCATE_H
