//===- KernelCompiler.h - All kernels of a plan for all architectures -*- C++ -*-===//
//
// Puts NVRTC and the simt compiler behind one call: kernel texts in, code per architecture out, in
// parallel, identical texts once, from the disk cache where possible. The result does not depend on
// the number of jobs. Example:
//
//   cuda::KernelCompilerOptions options;
//   options.architectures = {"sm_80", "sm_90a", "compute_90", "simt"};
//   options.cacheFolder = cache;
//   std::string error;
//   auto compiler = cuda::KernelCompiler::open(options, error);   // null: a compiler is missing
//   cuda::CompiledKernels out = compiler->compile({gelu, softmax, gelu});
//   if (!out.error.empty()) fail(out.error);
//   out.code[1][3].bytes                                          // softmax as a simt image
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TARGET_CUDA_KERNELCOMPILER_H
#define GPUCC_TARGET_CUDA_KERNELCOMPILER_H

#include "gpucc/Target/Cuda/Toolchain.h"

namespace gpucc::cuda {

struct KernelCompilerOptions {
  /// "sm_90a": cubin; "compute_90": PTX; "simt": an image for the emulated device.
  std::vector<std::string> architectures;
  std::string cacheFolder; ///< required for simt
  std::string nvrtc;       ///< library or folder, empty = search
  std::vector<std::string> nvrtcSearchFolders;
  std::string clang; ///< for simt, empty = search
  unsigned jobs = 0; ///< compilations at a time, 0 = one per core
};

struct CompiledKernels {
  std::string error;                   ///< the first failure, with the compiler's messages
  std::vector<std::vector<Code>> code; ///< [text][architecture]
  unsigned compiled = 0, fromCache = 0, shared = 0; ///< shared: text equal to an earlier one
};

class KernelCompiler {
public:
  static std::shared_ptr<KernelCompiler> open(const KernelCompilerOptions &options,
                                              std::string &error);
  CompiledKernels compile(const std::vector<std::string> &texts) const;

private:
  KernelCompiler() = default;
  Code compileOne(const std::string &text, const std::string &architecture) const;
  KernelCompilerOptions options;
  std::shared_ptr<NvrtcLibrary> nvrtc;
  std::shared_ptr<SimtCompiler> simt;
};

} // namespace gpucc::cuda

#endif
