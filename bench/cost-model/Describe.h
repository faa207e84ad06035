//===- Describe.h - parts of a run's description ----------------*- C++ -*-===//
#ifndef GPUCC_BENCH_COSTMODEL_DESCRIBE_H
#define GPUCC_BENCH_COSTMODEL_DESCRIBE_H

#include "Row.h"
#include "Stacks.h"

namespace gpucc::bench {

/// Degrees, batches, ZeRO, recomputation, schedule and recipe. Machine and workload are set. Empty,
/// or why they cannot be described.
std::string describeLayout(Run &run, const Row &row, const Stack &stack);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_DESCRIBE_H
