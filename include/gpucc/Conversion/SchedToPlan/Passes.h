//===- Passes.h - addresses, streams and events -----------------*- C++ -*-===//
#ifndef GPUCC_CONVERSION_SCHEDTOPLAN_PASSES_H
#define GPUCC_CONVERSION_SCHEDTOPLAN_PASSES_H

#include "dialects/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/SchedToPlan/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_CONVERSION_SCHEDTOPLAN_PASSES_H
