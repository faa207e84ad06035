//===- Passes.td - kernels as CUDA threads -----------------*- tablegen -*-===//
#ifndef GPUCC_CONVERSION_KERNELTOTHREADS_PASSES
#define GPUCC_CONVERSION_KERNELTOTHREADS_PASSES

include "mlir/Pass/PassBase.td"

def KernelToThreads : Pass<"gpucc-kernel-to-threads", "::mlir::ModuleOp"> {
  let summary = "kernel.program becomes blocks, kernel.loop strided chunks per thread";
  let description = [{
    Each kernel.func becomes a func.func over flat memrefs whose attributes `kernel.grid`,
    `kernel.block` say how to launch it, and whose body is the closed list of operations that the
    CUDA printer knows. A thread takes `vec` neighbouring points at a time: accesses of stride 1 that
    are aligned move them at once, the rest one by one. Tiles that are read at their own point only
    stay in registers, others go to shared memory with a barrier. Reductions follow the fixed tree.
    A program that is one loop without results is spread over blocks regardless of its programs.

    Before: `kernel.program (%r) in (8) { kernel.loop (%c) in (1024) -> (add f32) { ... } }`

    After (threads 256, vec 4):
    ```
    %t = gpu.thread_id x ; %r = gpu.block_id x
    %0 = vector.load %x[%r * 1024 + %t * 4] : vector<4xf32> ; acc[v] = acc[v] + %0[v]
    %sum = kernel.group_reduce <add> %acc over 256 packed 1
    ```
    Skeletons stay, with their epilogues lowered.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels lowered">,
    Statistic<"numWide", "wide", "Accesses that move several elements at once">,
    Statistic<"numNarrow", "narrow", "Accesses of one element at a time">];
}

#endif // GPUCC_CONVERSION_KERNELTOTHREADS_PASSES
