//===- KernelText.h - Texts embedded when gpucc is built ---------*- C++ -*-===//
//
// `kernelHeaders()` (Toolchain.h) are lib/Target/Cuda/Skeletons/*.cuh; `simtHeaders()` are device.h
// and image.cpp of runtime/emulation/simt. CMake writes both into one generated source file.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TARGET_CUDA_TOOLCHAIN_KERNELTEXT_H
#define GPUCC_LIB_TARGET_CUDA_TOOLCHAIN_KERNELTEXT_H

#include "gpucc/Target/Cuda/Toolchain.h"

namespace gpucc::cuda {
const std::vector<KernelHeader> &simtHeaders();
} // namespace gpucc::cuda

#endif
