//===- Passes.h - kernels as vector loops for the CPU -----------*- C++ -*-===//
// See Passes.td.
#ifndef GPUCC_CONVERSION_KERNELTOLOOPS_PASSES_H
#define GPUCC_CONVERSION_KERNELTOLOOPS_PASSES_H

#include "dialects/Kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#include "lib/Conversion/KernelToLoops/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/KernelToLoops/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_CONVERSION_KERNELTOLOOPS_PASSES_H
