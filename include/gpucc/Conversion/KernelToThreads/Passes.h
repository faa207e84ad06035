//===- Passes.h - kernels as CUDA threads -----------------------*- C++ -*-===//
// See Passes.td.
#ifndef GPUCC_CONVERSION_KERNELTOTHREADS_PASSES_H
#define GPUCC_CONVERSION_KERNELTOTHREADS_PASSES_H

#include "dialects/Kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#include "lib/Conversion/KernelToThreads/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/KernelToThreads/Passes.h.inc"

namespace threads {
/// On the functions that the pass makes: grid and block, i64 arrays of three.
inline constexpr llvm::StringLiteral gridAttr = "kernel.grid";
inline constexpr llvm::StringLiteral blockAttr = "kernel.block";
/// On scf.for: the printer asks the compiler to unroll it (bool).
inline constexpr llvm::StringLiteral unrollAttr = "kernel.unroll";
/// On functions: indices need 64 bits (unit).
inline constexpr llvm::StringLiteral wideIndexAttr = "kernel.wide_index";

/// True for programs and for skeletons that the device has; others need gpucc-expand-skeletons.
bool hasDeviceSkeleton(mlir::Operation *computation);
} // namespace threads
} // namespace gpucc

#endif // GPUCC_CONVERSION_KERNELTOTHREADS_PASSES_H
