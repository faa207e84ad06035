//===- Emit.h - kernels as CUDA C++ text ------------------------*- C++ -*-===//
//
//   FailureOr<cuda::CudaKernel> k = cuda::emitCuda(kernelFunc);
//   k->text    // #include "gk.cuh" ... extern "C" __global__ void ... softmax(const float *x,
//   float *y) k->name, k->grid, k->block     // how to launch it; parameters are the views, in
//   order
//
// The text is complete but for the headers of Toolchain.h, which compiles it. One text for all
// architectures. A skeleton that the device has no template for (integers, f64, 3-d convolutions)
// becomes plain loops.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TARGET_CUDA_EMIT_H
#define GPUCC_TARGET_CUDA_EMIT_H

#include "dialects/Kernel/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>
#include <string>

namespace gpucc::cuda {

struct CudaKernel {
  std::string name; ///< the symbol
  std::string text;
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  int64_t sharedBytes = 0; ///< dynamic; what the text declares itself does not count
};

/// The kernel is not changed. Emits an error and fails when something has no code.
mlir::FailureOr<CudaKernel> emitCuda(kernel::FuncOp kernel);

/// Dialects that emission needs, to be registered with the context.
void registerCudaTarget(mlir::DialectRegistry &registry);

/// Prints what gpucc-kernel-to-threads made. Fails with an error at an operation outside its closed
/// list.
mlir::LogicalResult printCuda(mlir::func::FuncOp function, llvm::raw_ostream &os);
/// A C identifier from any name.
std::string toIdentifier(llvm::StringRef name);

} // namespace gpucc::cuda

#endif // GPUCC_TARGET_CUDA_EMIT_H
