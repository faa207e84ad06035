//===- Passes.h - clusters become kernels -----------------------*- C++ -*-===//
#ifndef GPUCC_CONVERSION_GRAPHTOKERNEL_PASSES_H
#define GPUCC_CONVERSION_GRAPHTOKERNEL_PASSES_H

#include "dialects/Kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/GraphToKernel/Passes.h.inc"
} // namespace gpucc

#endif // GPUCC_CONVERSION_GRAPHTOKERNEL_PASSES_H
