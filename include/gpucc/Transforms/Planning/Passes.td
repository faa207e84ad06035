//===- Passes.td - a graph as a planning problem -----------*- tablegen -*-===//
#ifndef GPUCC_TRANSFORMS_PLANNING_PASSES
#define GPUCC_TRANSFORMS_PLANNING_PASSES

include "mlir/Pass/PassBase.td"

def MarkSegments : Pass<"gpucc-mark-segments", "::mlir::ModuleOp"> {
  let summary = "numbers the parts of the forward graph between which a pipeline may be cut";
  let description = [{
    A segment ends where one value alone leads on (after the residual addition of a block, after a layer of a
    chain) and holds at least one matrix op. Where a model has no such place, every matrix op begins a
    segment. The number stands on forward ops as `dist.stage`, which differentiation hands on to the ops
    it makes: run this on a trial copy of the module, before differentiation.

    Before: `%0 = graph.contract %x, %w0 ...  %1 = graph.contract %0, %w1 ...`
    After: `%0 = graph.contract ... {dist.stage = 0 : i64}  %1 = graph.contract ... {dist.stage = 1 : i64}`
  }];
  let statistics = [Statistic<"numSegments", "segments", "segments found">];
}

def PrintPlanProblem : Pass<"gpucc-print-plan-problem", "::mlir::ModuleOp"> {
  let summary = "prints the planning problem of a module (after gpucc-mark-segments and the training passes)";
  let description = [{
    Changes nothing. One line per op of the problem, as `F0 name(operands) -> results`: phase, segment.

    Before and after are the same IR; printed is e.g.
    ```
    batch 8, 2 segments, 1 ranks of h100-sxm5-80gb
    F0 fc1(x, fc1.weight) -> fc1
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"h100-8\"", "machine of the problem">,
    Option<"json", "json", "bool", "false", "print the whole problem as JSON">
  ];
  let statistics = [Statistic<"numOps", "ops", "ops of the problem">];
}

#endif // GPUCC_TRANSFORMS_PLANNING_PASSES
