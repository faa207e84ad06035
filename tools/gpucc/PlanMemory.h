//===- PlanMemory.h - how well a plan's arenas are used ---------*- C++ -*-===//
//
// The scratch arena cannot be smaller than what is alive at once. This is computed from the plan's
// commands alone, so it checks the compiler's own figure instead of repeating it:
//
//   [0] launch a -> b     b alive 0..1
//   [1] launch b -> c     c alive 1..2      alive at [1]: b + c, the bound
//   [2] launch c -> out
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_GPUCC_PLANMEMORY_H
#define GPUCC_TOOLS_GPUCC_PLANMEMORY_H

#include "plan_generated.h"

#include <cstdint>

namespace gpucc::tool {

/// The most bytes of `arena` (an index into the stage's arenas) that are alive at once under any
/// profile, each buffer rounded up to the arena's alignment. A buffer that several segments touch,
/// or with more than one slot, is alive throughout. No arena can be smaller; a larger one has gaps.
uint64_t maxLiveBytes(const rt::plan::Plan &plan, uint32_t stage, uint32_t arena);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_PLANMEMORY_H
