//===- Passes.td - kernels as vector loops for the CPU -----*- tablegen -*-===//
#ifndef GPUCC_CONVERSION_KERNELTOLOOPS_PASSES
#define GPUCC_CONVERSION_KERNELTOLOOPS_PASSES

include "mlir/Pass/PassBase.td"

def KernelToLoops : Pass<"gpucc-kernel-to-loops", "::mlir::ModuleOp"> {
  let summary = "kernel.program becomes a loop over [begin, end), kernel.loop vectors";
  let description = [{
    Each kernel.func becomes a func.func over flat memrefs (one per view) and begin, end. The scalar
    body is cloned with vector types, `width` points at a time; tails are masked; maps become vector
    loads, broadcasts or gathers by their stride; kept tiles are buffers on the stack; reductions
    follow the fixed tree, so that bits do not depend on `width`. i1 elements are bytes in memory.

    Before:
    ```
    kernel.func @relu(%x: memref<4x64xf32>, %y: memref<4x64xf32>) {
      kernel.program (%r) in (4) { kernel.loop (%c) in (64) { ... x[%r, %c] ... } }
    }
    ```
    After:
    ```
    func.func @relu(%x: memref<256xf32>, %y: memref<256xf32>, %begin: i64, %end: i64) {
      scf.for %r = %begin to %end { scf.for %c = 0 to 64 step 8 {
        %0 = vector.load %x[%r * 64 + %c] : vector<8xf32> ... } }
    }
    ```
    Skeletons must have been expanded (gpucc-expand-skeletons), math functions too
    (gpucc-expand-math).
  }];
  let options = [Option<"width", "width", "int64_t", "8", "Lanes: 4, 8 or 16; never changes bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels lowered">,
    Statistic<"numGathers", "gathers", "Accesses without a constant stride of 0 or 1">];
}

#endif // GPUCC_CONVERSION_KERNELTOLOOPS_PASSES
