//===- Cost.h - facts to seconds and bytes ----------------------*- C++ -*-===//
//
// What: the three questions of the cost model in one include: how long an op takes on a device
// (OpCost.h), how long a collective takes on a group of ranks (Collectives.h), how many bytes a
// rank needs (Memory.h). Pure functions of facts, a Machine and a Calibration.
//
// Example: `opSeconds(machine, facts)` is the time of one kernel of a compiled plan, launch from a
// CUDA Graph included, which is what the per-op planner adds up.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_COST_H
#define GPUCC_COSTMODEL_COST_H

#include "gpucc/CostModel/Collectives.h"
#include "gpucc/CostModel/Memory.h"
#include "gpucc/CostModel/OpCost.h"

namespace gpucc::cost {

/// Seconds of one kernel with these (local) facts, launch included; 0 for an op without work (a
/// view). `tf32`: f32 matrix operands may use tf32 units.
double opSeconds(const Machine &machine, const OpFacts &facts, bool tf32 = false);

/// Share of the matrix peak (already times matrixEfficiency) that m x n x k times batch reaches.
double matrixUtilization(const DeviceKind &device, int64_t m, int64_t n, int64_t k, int64_t batch,
                         DType type);

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_COST_H
