//===- Host.h - kernels as machine code for the CPU -------------*- C++ -*-===//
//
//   host::HostImage image;                      // module: kernel.func @softmax ...
//   if (failed(host::compileHostImage(module, {.cpuLevel = "x86-64-v3"}, image))) return failure();
//   image.bytes                                 // an ELF shared library, ready for a plan or
//   dlopen image.kernels[0] == {"softmax", programs 8, grain 1}
//
// Each kernel is a symbol `void k(void **args, int64_t begin, int64_t end)`: args[i] is the address
// of view i, programs [begin, end) run. Results do not depend on the level. Skeletons become plain
// loops. The library needs nothing but libm (for f64 functions) and memset/memcpy.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TARGET_HOST_HOST_H
#define GPUCC_TARGET_HOST_HOST_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace gpucc::host {

struct HostOptions {
  /// "x86-64-v2" (no fused multiply-add unit: slow), "x86-64-v3" (AVX2), "x86-64-v4" (AVX-512).
  std::string cpuLevel = "x86-64-v3";
  /// The linker; empty = ld.lld-22, ld.lld or ld, whichever is found first.
  std::string linker;
  /// Not empty: the file that receives the LLVM IR before code generation.
  std::string dumpLlvmIr;
};

struct HostKernelInfo {
  std::string symbol;
  int64_t programs = 1;
  int64_t grain = 1; ///< fewest programs worth a thread
};

struct HostImage {
  std::string bytes;
  std::vector<HostKernelInfo> kernels; ///< in the order of the module
};

/// The best level that this machine runs, "" when it is none of the above.
std::string getNativeCpuLevel();
/// Lanes of f32 vectors of a level: 4, 8, 16; 0 for an unknown level.
int64_t getVectorWidth(llvm::StringRef cpuLevel);

/// Compiles all kernel.func of the module, which is not changed. Emits an error and fails when a
/// level or a linker is missing or an operation has no code.
mlir::LogicalResult compileHostImage(mlir::ModuleOp module, const HostOptions &options,
                                     HostImage &image);

/// Dialects and interfaces that compilation needs; call it on the context's registry before.
void registerHostTarget(mlir::DialectRegistry &registry);

} // namespace gpucc::host

#endif // GPUCC_TARGET_HOST_HOST_H
