//===- RecomputeReport.h - what was chosen, as JSON -------------*- C++ -*-===//
//
// One object per step, which the plan keeps and `gpucc explain` prints:
//
//   {"function": "@step", "stage": 0, "feasible": true,
//    "saved_bytes": 4096, "without": POINT, "chosen": POINT,
//    "step_flops": 1e6, "added_time": 0.18,          share of the step's time, by the pass's
//    roofline "repeated": [{"kind": "loop cluster", "ops": 3, "bytes": 12288, "flops": 5e4}],
//    "largest": [{"name": "gelu_3", "kind": "loop cluster", "bytes": 4096, "flops": 2e4}],
//    "trade_off": [POINT, ...]}
//   POINT: {"device_bytes", "activation_bytes", "peak_bytes", "added_flops", "added_time",
//           "repeated_ops"}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_MEMORY_RECOMPUTEREPORT_H
#define GPUCC_LIB_TRANSFORMS_MEMORY_RECOMPUTEREPORT_H

#include "StageMemory.h"

namespace gpucc::memory {

struct Choice {
  const Outcome *before, *chosen;
  const std::vector<Outcome> *curve; ///< by extra cost
  bool feasible = true;              ///< false: the least there is, above the budget
};

std::string describe(const StageMemory &stage, const StepUnit &unit, const Choice &choice);

} // namespace gpucc::memory

#endif // GPUCC_LIB_TRANSFORMS_MEMORY_RECOMPUTEREPORT_H
