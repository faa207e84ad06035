//===- Passes.h - from tensors to buffers and commands ----------*- C++ -*-===//
#ifndef GPUCC_CONVERSION_GRAPHTOSCHED_PASSES_H
#define GPUCC_CONVERSION_GRAPHTOSCHED_PASSES_H

#include "dialects/Sched/Sched.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/GraphToSched/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_CONVERSION_GRAPHTOSCHED_PASSES_H
