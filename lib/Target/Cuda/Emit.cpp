//===- Emit.cpp - kernels as CUDA C++ text --------------------------------===//
#include "gpucc/Target/Cuda/Emit.h"

#include "gpucc/Conversion/KernelToThreads/Passes.h"
#include "gpucc/Transforms/Kernel/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::cuda;

void cuda::registerCudaTarget(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, kernel::KernelDialect, arith::ArithDialect,
                  math::MathDialect, func::FuncDialect, gpu::GPUDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect>();
}

/// Kernel to threads, then what makes the text short.
static void addPasses(OpPassManager &pm, bool hasSkeleton) {
  OpPassManager &kernels = pm.nest<kernel::FuncOp>();
  if (!hasSkeleton) {
    ExpandSkeletonsOptions options;
    options.attentionRows = 1; // tiles of one row fit into shared memory
    kernels.addPass(createExpandSkeletons(options));
  }
  kernels.addPass(createCollapseLoops());
  kernels.addPass(createExpandMath());
  pm.addPass(createKernelToThreads());
  pm.addNestedPass<func::FuncOp>(createExpandSines());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
}

FailureOr<CudaKernel> cuda::emitCuda(kernel::FuncOp kernel) {
  DialectRegistry registry;
  registerCudaTarget(registry);
  kernel.getContext()->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  module->push_back(kernel->clone());
  PassManager pm(kernel.getContext());
  addPasses(pm, threads::hasDeviceSkeleton(kernel.getComputation()));
  if (failed(pm.run(*module)))
    return failure();
  auto function = *module->getOps<func::FuncOp>().begin();
  CudaKernel result;
  result.name = toIdentifier(kernel.getName());
  llvm::raw_string_ostream stream(result.text);
  if (failed(printCuda(function, stream)))
    return failure();
  llvm::copy(function->getAttrOfType<DenseI64ArrayAttr>(threads::gridAttr).asArrayRef(),
             result.grid.begin());
  llvm::copy(function->getAttrOfType<DenseI64ArrayAttr>(threads::blockAttr).asArrayRef(),
             result.block.begin());
  return result;
}
