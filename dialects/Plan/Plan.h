//===- Plan.h - the runtime's commands, with addresses ----------*- C++ -*-===//
// See Plan.td.
#ifndef GPUCC_PLAN_PLAN_H
#define GPUCC_PLAN_PLAN_H

#include "dialects/Base/Commands.h"

#include "dialects/Plan/PlanDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"

namespace gpucc::plan {
/// Offsets and slot strides are multiples of this (design: views are 256-byte aligned).
inline constexpr int64_t alignment = 256;
/// Events of a program are numbered below this: the runtime makes one for each number.
inline constexpr int64_t maxEvents = int64_t(1) << 20;

/// What a plan file needs beside verified ops: kernels, weights and stages that programs name
/// exist, programs of one stage agree on their arenas, tensors of one name and role on their type,
/// and commands of different streams that touch the same bytes are ordered by events.
/// gpucc-verify-phase-plan and the writer ask for it.
llvm::LogicalResult verifyModule(mlir::ModuleOp module);
} // namespace gpucc::plan

#endif // GPUCC_PLAN_PLAN_H
