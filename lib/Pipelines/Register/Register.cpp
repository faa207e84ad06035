//===- Register.cpp - all dialects and passes, for the tools --------------===//
#include "gpucc/Pipelines/Register.h"

#include "dialects/Base/Base.h"
#ifdef GPUCC_HAS_ConversionGraphToKernel
#include "gpucc/Conversion/GraphToKernel/Passes.h"
#endif
#ifdef GPUCC_HAS_TransformsFusion
#include "gpucc/Transforms/Fusion/Passes.h"
#endif
#ifdef GPUCC_HAS_Dist
#include "dialects/Dist/Dist.h"
#endif
#ifdef GPUCC_HAS_Frontend
#include "dialects/Frontend/Frontend.h"
#endif
#include "dialects/Graph/Graph.h"
#ifdef GPUCC_HAS_Kernel
#include "dialects/Kernel/Kernel.h"
#endif
#include "dialects/Plan/Plan.h"
#include "dialects/Sched/Sched.h"
#include "gpucc/Conversion/GraphToSched/Passes.h"
#include "gpucc/Conversion/SchedToPlan/Passes.h"
#ifdef GPUCC_HAS_TransformsMemory
#include "gpucc/Transforms/Memory/Passes.h"
#endif
#ifdef GPUCC_HAS_TransformsPlanning
#include "gpucc/Transforms/Planning/Passes.h"
#endif
#include "gpucc/Transforms/Training/Passes.h"
#ifdef GPUCC_HAS_ConversionKernelToThreads
#include "gpucc/Conversion/KernelToLoops/Passes.h"
#include "gpucc/Conversion/KernelToThreads/Passes.h"
#include "gpucc/Transforms/Kernel/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#endif
#ifdef GPUCC_HAS_ConversionFrontendToGraph
#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#endif
#ifdef GPUCC_HAS_TransformsDist
#include "gpucc/Transforms/Dist/Passes.h"
#endif
#ifdef GPUCC_HAS_TransformsGraph
#include "gpucc/Transforms/Graph/Passes.h"
#endif
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void gpucc::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<base::BaseDialect, graph::GraphDialect, plan::PlanDialect, sched::SchedDialect>();
#ifdef GPUCC_HAS_Frontend
  registry.insert<frontend::FrontendDialect>();
#endif
#ifdef GPUCC_HAS_Dist
  registry.insert<dist::DistDialect>();
#endif
#ifdef GPUCC_HAS_Kernel
  registry.insert<kernel::KernelDialect>();
#endif
#ifdef GPUCC_HAS_ConversionKernelToThreads
  registry.insert<mlir::gpu::GPUDialect>();
#endif
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
}

void gpucc::registerAllPasses() {
  mlir::registerTransformsPasses();
#ifdef GPUCC_HAS_TransformsGraph
  registerTransformsGraphPasses();
#endif
#ifdef GPUCC_HAS_ConversionFrontendToGraph
  registerConversionFrontendToGraphPasses();
#endif
#ifdef GPUCC_HAS_TransformsFusion
  registerTransformsFusionPasses();
#endif
#ifdef GPUCC_HAS_ConversionGraphToKernel
  registerConversionGraphToKernelPasses();
#endif
  registerConversionGraphToSchedPasses();
  registerConversionSchedToPlanPasses();
  registerTransformsTrainingPasses();
#ifdef GPUCC_HAS_TransformsMemory
  registerTransformsMemoryPasses();
#endif
#ifdef GPUCC_HAS_TransformsDist
  registerTransformsDistPasses();
#endif
#ifdef GPUCC_HAS_TransformsPlanning
  registerTransformsPlanningPasses();
#endif
#ifdef GPUCC_HAS_ConversionKernelToThreads
  registerTransformsKernelPasses();
  registerConversionKernelToLoopsPasses();
  registerConversionKernelToThreadsPasses();
#endif
}
