//===- Passes.h - a graph as a planning problem -----------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_PLANNING_PASSES_H
#define GPUCC_TRANSFORMS_PLANNING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Planning/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_TRANSFORMS_PLANNING_PASSES_H
