//===- Passes.h - from a program to programs of ranks -----------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_DIST_PASSES_H
#define GPUCC_TRANSFORMS_DIST_PASSES_H

#include "dialects/Dist/Dist.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_PASSES_H
