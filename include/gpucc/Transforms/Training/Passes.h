//===- Passes.h - from a forward graph to a training step -------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_TRAINING_PASSES_H
#define GPUCC_TRANSFORMS_TRAINING_PASSES_H

#include "dialects/Graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Training/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_TRANSFORMS_TRAINING_PASSES_H
