//===- Passes.h - one cluster = one kernel ----------------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_FUSION_PASSES_H
#define GPUCC_TRANSFORMS_FUSION_PASSES_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Fusion/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_TRANSFORMS_FUSION_PASSES_H
