//===- KernelText.h - kernels of an IR file as CUDA text --------*- C++ -*-===//
#ifndef GPUCC_TOOLS_TRANSLATE_KERNELTEXT_H
#define GPUCC_TOOLS_TRANSLATE_KERNELTEXT_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace gpucc {
/// Prints every kernel.func of the file as a CUDA kernel with its launch. Exit code of the tool.
int printKernels(llvm::StringRef file, llvm::raw_ostream &os);
} // namespace gpucc

#endif // GPUCC_TOOLS_TRANSLATE_KERNELTEXT_H
