//===- Passes.td - from a program to programs of ranks -----*- tablegen -*-===//
#ifndef GPUCC_TRANSFORMS_DIST_PASSES
#define GPUCC_TRANSFORMS_DIST_PASSES

include "mlir/Pass/PassBase.td"

def Propagate : Pass<"gpucc-propagate", "::mlir::ModuleOp"> {
  let summary = "gives every value a sharding, from pins";
  let description = [{
    `dp` splits the batch dimension of inputs and labels; `tp` splits the weights of matrix work so that
    few bytes are sent (AxisSearch.h: columns then rows, as Megatron-LM does, comes out of it); `sp` also
    splits activations between them along another dimension; `zero=1` splits optimizer state and update
    over dp: gradients are reduce-scattered, parameters gathered. Values with `dist.sharding`, and
    dist.constraint ops, are obeyed.

    Before, with dp=2:
    ```
    func.func @main(%x: tensor<8x16xf32> {base.kind = "input"}, %w: tensor<16x4xf32> {base.kind = "state", ...}) {
      %0 = graph.contract %x, %w {...} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    ```
    After:
    ```
    dist.mesh @mesh <["dp" = 2]>
    func.func @main(%x: tensor<8x16xf32> {dist.sharding = #dist.sharding<[{"dp"}, {} ]>}, ...) {
      %0 = graph.contract %x, %w {..., dist.sharding = [#dist.sharding<[{"dp"}, {} ]>]} : ...
    ```
  }];
  let options = [
    Option<"dataParallel", "dp", "int64_t", "1", "data parallel ranks">,
    Option<"tensorParallel", "tp", "int64_t", "1", "tensor parallel ranks">,
    Option<"stages", "pp", "int64_t", "1", "pipeline stages">,
    Option<"sequence", "sp", "std::string", "\"off\"", "on: split activations between tensor parallel regions">,
    Option<"zero", "zero", "int", "0", "1: split optimizer state over dp">,
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches per optimizer step (accumulation included)">,
    Option<"reduce", "reduce-gradients", "std::string", "\"auto\"", "step, update or auto: when gradients are reduced over dp">,
    Option<"beam", "beam", "int64_t", "16", "ways the search keeps">
  ];
  let statistics = [
    Statistic<"numReshards", "reshards", "dist.reshard ops made">,
    Statistic<"numSplit", "split-parameters", "parameters that tensor parallelism splits">,
    Statistic<"numWhole", "whole-parameters", "parameters that tensor parallelism leaves whole">,
    Statistic<"sentBytes", "sent-bytes", "bytes one rank sends per micro-batch and update">
  ];
  let dependentDialects = ["::gpucc::dist::DistDialect", "::gpucc::graph::GraphDialect"];
}

def SplitFusedProjections : Pass<"gpucc-split-fused-projections", "::mlir::ModuleOp"> {
  let summary = "splits a weight whose product is only ever used in slices";
  let description = [{
    Before differentiation, under tensor parallelism: columns of a fused weight cannot be split over ranks
    so that each has its own heads of query, key and value, and its product would be gathered again. The
    pieces are state of their own, named `<initializer>@<first column>`, with `start` in their #base.state,
    `base.source_name` and `base.source_shape`: saved state has one tensor under the initializer's name.

    Before:
    ```
    %0 = graph.contract %x, %w ... -> tensor<8x48xf32>
    %q = graph.slice %0 {start = array<i64: 0, 0>, sizes = array<i64: 8, 16>, ...}
    %k = graph.slice %0 {start = array<i64: 0, 16>, ...}   %v = ...
    ```
    After:
    ```
    %q = graph.contract %x, %w0 ... -> tensor<8x16xf32>   // %w0: base.name = "w@0", start = [0, 0]
    %k = graph.contract %x, %w1 ...                        // %w1: base.name = "w@16", start = [0, 16]
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "say which weights were split">];
  let statistics = [Statistic<"numSplit", "split", "projections split">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def NumberOps : Pass<"gpucc-number-ops", "::mlir::ModuleOp"> {
  let summary = "numbers the ops of each function, to find them again after partitioning";
  let description = [{
    Puts `dist.origin = 0, 1, …` on the ops of every function, in order. Copies that cut-stages and
    partition make keep the number, so the evaluator can compare value by value.
  }];
  let statistics = [Statistic<"numOps", "ops", "ops numbered">];
  let dependentDialects = ["::gpucc::dist::DistDialect"];
}

def Partition : Pass<"gpucc-partition", "::mlir::ModuleOp"> {
  let summary = "turns functions of global values into the functions that one rank executes";
  let description = [{
    Types become those of a rank's block, each op is rebuilt by its own local form, and each
    dist.reshard becomes the cheapest known sequence of collectives and local slices (Reshard.h).
    All ranks of a stage execute the same function; offsets enter by dist.axis_index. Arguments and
    results keep `dist.sharding`: the plan cuts weights and state by it.

    Before, on <["dp" = 2]>:
    ```
    %1 = dist.reshard %0 on @mesh from <[{} ], partial = ["dp"] sum> to <[{"dp"} ]> : tensor<8xf32>
    ```
    After:
    ```
    %1 = dist.reduce_scatter sum %0 on @mesh over ["dp"] dim 0 : tensor<8xf32> -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"keepShardings", "keep-shardings", "bool", "false",
           "keep dist.sharding and dist.origin on ops, for the evaluator">
  ];
  let statistics = [
    Statistic<"numCollectives", "collectives", "collectives in the local functions">,
    Statistic<"numSlices", "slices", "local slices by axis index">
  ];
  let dependentDialects = ["::gpucc::dist::DistDialect", "::gpucc::graph::GraphDialect"];
}

def PrepareCollectives : Pass<"gpucc-prepare-collectives", "::mlir::ModuleOp"> {
  let summary = "brings collectives to the form of communicators: outermost blocks";
  let description = [{
    Before:
    ```
    %1 = dist.all_gather %0 on @mesh over ["tp"] dim 1 : tensor<8x16xf32> -> tensor<8x32xf32>
    ```
    After:
    ```
    %1 = graph.reshape %0 {shape = array<i64: 1, 8, 16>} : ...
    %2 = dist.all_gather %1 on @mesh over ["tp"] dim 0 : tensor<1x8x16xf32> -> tensor<2x8x16xf32>
    %3 = graph.transpose %2 {permutation = array<i64: 1, 0, 2>} : ...
    %4 = graph.reshape %3 {shape = array<i64: 8, 32>} : ...
    ```
  }];
  let statistics = [Statistic<"numRewritten", "rewritten", "collectives that got a transpose">];
  let dependentDialects = ["::gpucc::dist::DistDialect", "::gpucc::graph::GraphDialect"];
}

def AssignStages : Pass<"gpucc-assign-stages", "::mlir::ModuleOp"> {
  let summary = "gives every forward op a pipeline stage";
  let description = [{
    Runs on the forward graph, before differentiation (which copies the stage to the ops it makes). Cuts the
    ops, in their order, into `pp` ranges so that the largest range has as few flops as possible; among cuts
    within `slack` of that, those across which the fewest bytes travel. Ops on weights and constants only
    belong to no stage; they go where they are used. Ops that have `dist.stage` keep it.

    Before: `%0 = graph.contract ...  %9 = graph.contract ...`
    After: `%0 = graph.contract ... {dist.stage = 0 : i64}  %9 = graph.contract ... {dist.stage = 1 : i64}`
  }];
  let options = [
    Option<"stages", "pp", "int64_t", "1", "pipeline stages">,
    Option<"slack", "slack", "double", "0.1", "how much larger than necessary a stage may be, to send less">
  ];
  let statistics = [Statistic<"crossingBytes", "crossing-bytes", "bytes of activations that cross a cut">];
  let dependentDialects = ["::gpucc::dist::DistDialect"];
}

def CutStages : Pass<"gpucc-cut-stages", "::mlir::ModuleOp"> {
  let summary = "cuts step and update into functions of pipeline stages, and writes their scripts";
  let description = [{
    `@step` becomes `@stage<s>_forward` and `@stage<s>_backward` (`@stage0_step` when the mesh has no axis "pp"),
    `@update` becomes `@stage<s>_update`. Values that cross stages become dist.send and dist.recv; values that
    backward needs from forward are results and arguments with equal `dist.saved`. The module gets `dist.scripts` and
    `dist.slots` by the schedule, checked for deadlock by Solvers/Schedules.

    After, with two stages and 1F1B:
    ```
    module attributes {dist.scripts = [[#dist.action<@stage0_forward, 0, slot = 0>, ...], [...]], dist.slots = [2, 1]}
    ```
  }];
  let options = [
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches per optimizer step">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "1f1b or gpipe">
  ];
  let statistics = [
    Statistic<"numSends", "sends", "values sent from stage to stage">,
    Statistic<"numSaved", "saved", "values saved from forward to backward">,
    Statistic<"numStageReductions", "stage-reductions", "all-reduces between stages in the update">
  ];
  let dependentDialects = ["::gpucc::dist::DistDialect", "::gpucc::graph::GraphDialect"];
}

def BucketCollectives : Pass<"gpucc-bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "combines all-reduces of one kind into few large ones";
  let description = [{
    Before fusion, so that packing and unpacking fuse. A bucket is sent when it holds `bucket-bytes`, or when a
    result is needed.

    Before:
    ```
    %a = dist.all_reduce sum %0 on @mesh over ["dp"] : tensor<4xf32>
    %b = dist.all_reduce sum %1 on @mesh over ["dp"] : tensor<2x3xf32>
    ```
    After:
    ```
    %p = graph.concat %0, %1' {dim = 0} : (tensor<4xf32>, tensor<6xf32>) -> tensor<10xf32>
    %r = dist.all_reduce sum %p on @mesh over ["dp"] : tensor<10xf32>
    ```
    followed by slices of %r.
  }];
  let options = [Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400", "largest bucket (25 MiB)">];
  let statistics = [Statistic<"numCombined", "combined", "all-reduces that went into buckets">,
                    Statistic<"numBuckets", "buckets", "buckets of at least two">];
  let dependentDialects = ["::gpucc::dist::DistDialect", "::gpucc::graph::GraphDialect"];
}

def OverlapCollectives : Pass<"gpucc-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "puts other work between a collective and its first use";
  let description = [{
    Collectives go up behind their operands; where only bookkeeping uses the result (accumulators), it goes to the
    end of the function, and the collective is marked `dist.async`: it runs beside what stands between.

    Before: `%r = dist.all_reduce %g; %a = add %acc, %r; %h = contract …`
    After: `%r = dist.all_reduce %g {dist.async}; %h = contract …; %a = add %acc, %r`
  }];
  let statistics = [Statistic<"numOverlapped", "overlapped", "collectives with work beside them">];
  let dependentDialects = ["::gpucc::dist::DistDialect"];
}

def LowerStageReductions : Pass<"gpucc-lower-stage-reductions", "::mlir::ModuleOp"> {
  let summary = "turns reductions between stages into messages and adds";
  let description = [{
    For plans, whose communicators join the ranks of one stage or of two.

    Before, in stage 0 of 2: `%1 = dist.all_reduce sum %0 on @mesh over ["pp"] channel 4 : tensor<f32>`
    After:
    ```
    dist.send %0 to 1 channel 4 : tensor<f32>
    %r = dist.recv from 1 channel 4 : tensor<f32>
    %1 = graph.binary add %0, %r : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ```
  }];
  let statistics = [Statistic<"numLowered", "lowered", "reductions between stages">];
  let dependentDialects = ["::gpucc::dist::DistDialect", "::gpucc::graph::GraphDialect"];
}

def VerifyCollectives : Pass<"gpucc-verify-collectives", "::mlir::ModuleOp"> {
  let summary = "proves that all ranks communicate in one order and cannot deadlock";
  let description = [{
    Replays what every rank sends, receives and reduces in one optimizer step, in the order of the stages' scripts
    (CollectiveReplay.h). Changes nothing; an error names the ops and ranks. Before and after are the same IR.
  }];
  let statistics = [Statistic<"numEvents", "events", "communications replayed, over all ranks">];
  let dependentDialects = ["::gpucc::dist::DistDialect"];
}

def VerifyPlanCollectives : Pass<"gpucc-verify-plan-collectives", "::mlir::ModuleOp"> {
  let summary = "proves of the finished plan that ranks communicate in one order and cannot deadlock";
  let description = [{
    What gpucc-verify-collectives proves of functions, again on the commands that will run, after ordering,
    streams and scripts: replays the script "main" of every rank of every stage, for each profile. Changes nothing;
    an error names commands, segments and ranks. Before and after are the same IR.
  }];
  let statistics = [Statistic<"numEvents", "events", "communications replayed, over all ranks">];
  let dependentDialects = ["::gpucc::plan::PlanDialect"];
}

def VerifyPhaseDist : Pass<"gpucc-verify-phase-dist", "::mlir::ModuleOp"> {
  let summary = "what the dist phase promises";
  let description = [{
    Functions are what one rank executes: no dist.reshard or dist.constraint and no sharding on an op is left,
    collectives have the form of communicators (blocks along the outermost dimension, no reduction between
    stages), what a function saves for another has a reader of the same type, and scripts run functions of their
    stage. Order of communications is gpucc-verify-collectives' part. The IR does not change:
    ```
    %1 = dist.all_gather %0 on @mesh over ["tp"] dim 0 : tensor<1x8x16xf32> -> tensor<2x8x16xf32>
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "ops looked at">];
  let dependentDialects = ["::gpucc::dist::DistDialect"];
}

#endif // GPUCC_TRANSFORMS_DIST_PASSES
