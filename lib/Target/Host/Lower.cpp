//===- Lower.cpp - kernel.func to the llvm dialect ------------------------===//
#include "gpucc/Conversion/KernelToLoops/Passes.h"
#include "gpucc/Transforms/Kernel/Passes.h"
#include "lib/Target/Host/Pieces.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace gpucc;

/// On kernels: the same work on every target.
static void addKernelPasses(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<kernel::FuncOp>();
  kernels.addPass(createExpandSkeletons());
  kernels.addPass(createCollapseLoops());
  kernels.addPass(createExpandMath());
}

namespace {
/// expm1 and log1p of f64 as calls of the library, before the conversion to LLVM would write them
/// as exp(x) - 1 and log(1 + x), which lose every digit near zero.
struct KeepSmallResults : PassWrapper<KeepSmallResults, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepSmallResults)

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    // Nothing else: a vector fma left to these patterns would become scalar calls.
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<math::ExpM1Op, math::Log1pOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

/// Vector loops to the llvm dialect. Views become bare pointers.
static void addLoweringPasses(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  // bf16 by integer arithmetic: the instruction that converts to it flushes denormals.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(std::make_unique<KeepSmallResults>());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass()); // takes vectors apart: before vectors are lowered
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions func;
  func.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(func));
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

LogicalResult host::prepareKernels(ModuleOp module) {
  PassManager pm(module.getContext());
  addKernelPasses(pm);
  return pm.run(module);
}

LogicalResult host::lowerToLlvmDialect(ModuleOp module, int64_t width) {
  PassManager pm(module.getContext());
  KernelToLoopsOptions loops;
  loops.width = width;
  pm.addPass(createKernelToLoops(loops));
  pm.addNestedPass<func::FuncOp>(createExpandSines());
  addLoweringPasses(pm);
  return pm.run(module);
}
