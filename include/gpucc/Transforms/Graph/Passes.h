//===- Passes.h - whole-tensor rewrites -------------------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_GRAPH_PASSES_H
#define GPUCC_TRANSFORMS_GRAPH_PASSES_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_TRANSFORMS_GRAPH_PASSES_H
