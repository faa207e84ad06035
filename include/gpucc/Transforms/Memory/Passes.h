//===- Passes.h - recompute, order: less memory -----------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_MEMORY_PASSES_H
#define GPUCC_TRANSFORMS_MEMORY_PASSES_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc::base {
/// On ops of backward that repeat an op of forward: unit attribute.
inline constexpr llvm::StringLiteral recomputeAttr = "base.recompute";
/// On the module: a JSON string, what insert-recompute chose and the trade-off.
inline constexpr llvm::StringLiteral recomputeReportAttr = "base.recompute_report";
} // namespace gpucc::base

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Memory/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_TRANSFORMS_MEMORY_PASSES_H
