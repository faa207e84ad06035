//===- Kernels.h - machine code for the kernels of a module -----*- C++ -*-===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_KERNELS_H
#define GPUCC_LIB_PIPELINES_COMPILE_KERNELS_H

#include "gpucc/Pipelines/Compile.h"
#include "gpucc/Target/Plan/PlanWriter.h"

namespace gpucc {

/// Compiles every kernel.func for the target. Errors are diagnostics.
llvm::LogicalResult compileKernels(mlir::ModuleOp module, const CompileOptions &options,
                                   KernelCode &code, std::vector<KernelReport> &reports);

/// Folder of compiled kernels: the option, else $XDG_CACHE_HOME or ~/.cache, gpucc/kernels.
std::string kernelCacheFolder(const CompileOptions &options);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_KERNELS_H
