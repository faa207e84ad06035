//===- Passes.td - clusters become kernels -----------------*- tablegen -*-===//
#ifndef GPUCC_CONVERSION_GRAPHTOKERNEL_PASSES
#define GPUCC_CONVERSION_GRAPHTOKERNEL_PASSES

include "mlir/Pass/PassBase.td"

def OutlineKernels : Pass<"gpucc-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "turns each graph.cluster into a kernel.func and a kernel.launch";
  let description = [{
    Equal clusters (same ops, attributes and types, whatever they are called in the model) share one
    kernel. Names of the model stay on the kernel's arguments, taken from the first launch.

    Before:
    ```
    %0 = graph.cluster loop (%a = %x : tensor<4096xf32>) -> tensor<4096xf32> {
      %1 = graph.unary neg %a : (tensor<4096xf32>) -> tensor<4096xf32>
      graph.yield %1 : tensor<4096xf32>
    }
    ```
    After:
    ```
    kernel.func @neg_0(%x: memref<4096xf32>, %y: memref<4096xf32>) {
      kernel.program () in () {
        kernel.loop (%c) in (4096) {
          %0 = kernel.load %x[%c] : memref<4096xf32>
          %1 = arith.negf %0 : f32
          kernel.store %1, %y[%c] : memref<4096xf32>
        }
      }
    }
    %0 = kernel.launch @neg_0(%x) {inplace = array<i64: 0, 0>} : (tensor<4096xf32>) -> tensor<4096xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"host\"",
                        "host or cuda: sizes of programs and tiles; never the bits">];
  let statistics = [
    Statistic<"numLaunches", "launches", "clusters replaced by launches">,
    Statistic<"numKernels", "kernels", "kernels made: launches without repetition">,
    Statistic<"numInplace", "inplace-pairs", "pairs of input and output that may share memory">];
  let dependentDialects = ["::gpucc::kernel::KernelDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def VerifyPhaseKernel : Pass<"gpucc-verify-phase-kernel", "::mlir::ModuleOp"> {
  let summary = "what the kernel phase promises";
  let description = [{
    No cluster is left: function bodies hold kernel.launch, views, constants, weights, library products and dist
    ops; every kernel.func is launched, and writes exactly the views that its launches have as outputs. The IR does
    not change:
    ```
    %0 = kernel.launch @neg_0(%x) {inplace = array<i64: 0, 0>} : (tensor<4096xf32>) -> tensor<4096xf32>
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "ops and kernels looked at">];
}

#endif // GPUCC_CONVERSION_GRAPHTOKERNEL_PASSES
