//===- Passes.td - from tensors to buffers and commands ----*- tablegen -*-===//
#ifndef GPUCC_CONVERSION_GRAPHTOSCHED_PASSES
#define GPUCC_CONVERSION_GRAPHTOSCHED_PASSES

include "mlir/Pass/PassBase.td"

def GraphToSched : Pass<"gpucc-graph-to-sched", "::mlir::ModuleOp"> {
  let summary = "gives tensors buffers and ops commands, in the order of the functions";
  let description = [{
    One sched.program per stage and profile. Functions become segments; arguments and results become
    io, state and saved buffers and entries of the tensor table; weights and constants are written
    at prepare; every other value gets a scratch buffer, unless it can take the place of an operand
    that dies there (`kernel.launch` says which may) or be computed where a result must lie. State
    is overwritten only after its last reader; otherwise the new value is copied at the end.

    Before:
    ```
    func.func @main(%x: tensor<4xf32> {base.name = "x", base.kind = "input"})
        -> (tensor<4xf32> {base.name = "y", base.kind = "output"}) {
      %0 = kernel.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    After:
    ```
    sched.program @stage0 attributes {...} {
      sched.buffer @in0 io 16
      sched.buffer @out0 io 16
      sched.segment @main { sched.launch @k [#base.view<@in0, 0, 16>, #base.view<@out0, 0, 16>] "rw" {...} }
      sched.script "main" [@main] [0]
    }
    ```
  }];
  let dependentDialects = ["::gpucc::sched::SchedDialect"];
  let statistics = [
    Statistic<"numCommands", "commands", "Commands made">,
    Statistic<"numInPlace", "in-place", "Results that took the buffer of a dying operand">,
    Statistic<"numCopies", "copies", "Copies made for results that could not be computed in place">];
}

def VerifyPhaseSched : Pass<"gpucc-verify-phase-sched", "::mlir::ModuleOp"> {
  let summary = "what the sched phase promises";
  let description = [{
    No function is left. Kernels, weights and stages that programs name exist (constraints "with the module" of
    Commands.td). Every program has a script "main". In each segment scratch is written before it is read, and a
    scratch buffer belongs to one segment. The IR does not change:
    ```
    sched.segment @main { sched.launch @k [#base.view<@in0, 0, 16>, #base.view<@t0, 0, 16>] "rw" {...} ... }
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "commands looked at">];
}

#endif // GPUCC_CONVERSION_GRAPHTOSCHED_PASSES
