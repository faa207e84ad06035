//===- Passes.h - kernels, before the two lowerings part --------*- C++ -*-===//
// See Passes.td. Order: expand-skeletons (where the target has none), collapse-loops, expand-math;
// expand-sines behind the lowering to loops or threads.
#ifndef GPUCC_TRANSFORMS_KERNEL_PASSES_H
#define GPUCC_TRANSFORMS_KERNEL_PASSES_H

#include "dialects/Kernel/Kernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#include "lib/Transforms/Kernel/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Kernel/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_TRANSFORMS_KERNEL_PASSES_H
