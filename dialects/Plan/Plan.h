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
} // namespace gpucc::plan

#endif // GPUCC_PLAN_PLAN_H
