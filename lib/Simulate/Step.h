//===- Step.h - what the files of this folder share -----------------------===//
#ifndef GPUCC_LIB_SIMULATE_STEP_H
#define GPUCC_LIB_SIMULATE_STEP_H

#include "gpucc/Simulate/StepCost.h"

namespace gpucc::simulate {

/// Of a collective or send beside whole products, what is waited for: it takes multiprocessors from
/// them.
constexpr double wholeExposed = 0.1;

/// DualPipe holds the model twice, each copy for half of the micro-batches.
inline bool hasTwoCopies(const workload::Layout &layout) {
  return layout.schedule == solvers::ScheduleKind::DualPipe && layout.pp > 1;
}

/// Fills `memory`, `fullest`, `memoryLimit` and `fits` of a cost that has its chunks. `schedule`:
/// its rows are run for what they keep at once; null: by the schedules' closed forms.
void addMemory(StepCost &cost, const cost::Machine &machine, const workload::Workload &workload,
               const workload::Layout &layout, const cost::Calibration &calibration,
               const solvers::PipelineSchedule *schedule);

} // namespace gpucc::simulate
#endif // GPUCC_LIB_SIMULATE_STEP_H
