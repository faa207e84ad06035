//===- Passes.td - addresses, streams and events -----------*- tablegen -*-===//
#ifndef GPUCC_CONVERSION_SCHEDTOPLAN_PASSES
#define GPUCC_CONVERSION_SCHEDTOPLAN_PASSES

include "mlir/Pass/PassBase.td"

def SchedToPlan : Pass<"gpucc-sched-to-plan", "::mlir::ModuleOp"> {
  let summary = "gives buffers addresses and commands streams and events";
  let description = [{
    Arenas: `state` and `weights` persist, `io` is bound by the caller, `scratch` holds saved buffers
    (one slot per micro-batch in flight) and behind them the scratch of the segments, which share
    the bytes. Scratch offsets come from Solvers/Offsets on happens-before lifetimes.

    Collectives go to the stream `communication`: one event makes it wait for the compute stream
    where it starts, another makes the compute stream wait where the first command touches the
    bytes that the collective reads or writes. A collective that is used at once stays on the
    compute stream.

    Before:
    ```
    sched.buffer @t0 scratch 512
    sched.segment @main { sched.launch @k [#base.view<@x, 0, 512>, #base.view<@t0, 0, 512>] "rw" {name = "a"} ... }
    ```
    After:
    ```
    plan.arena @scratch 512
    plan.buffer @t0 in @scratch at 0 512
    plan.segment @main { plan.launch @k [...] "rw" {name = "a", stream = 0} ... }
    ```
  }];
  let dependentDialects = ["::gpucc::plan::PlanDialect"];
  let options = [
    Option<"stepBudget", "step-budget", "int64_t", "200000", "steps of the offset search per segment">,
    Option<"overlap", "overlap", "bool", "true", "put collectives on a stream of their own">];
  let statistics = [
    Statistic<"numEvents", "events", "Events between streams">,
    Statistic<"scratchBytes", "scratch-bytes", "Bytes of the scratch arenas">,
    Statistic<"lowerBoundBytes", "lower-bound-bytes", "Most scratch bytes alive at once">];
}

def VerifyPhasePlan : Pass<"gpucc-verify-phase-plan", "::mlir::ModuleOp"> {
  let summary = "what the plan phase promises";
  let description = [{
    No sched.program is left. Kernels, weights and stages that programs name exist; programs of a stage have the
    same arenas; a tensor is one type everywhere; commands of different streams that touch the same bytes (also
    those of different buffers that share an arena's bytes) are ordered by events, and a segment ends when all its
    streams have. The IR does not change:
    ```
    plan.event_record 0 on 0   plan.event_wait 0 on 1   plan.collective "all_reduce" {stream = 1, ...}
    ```
  }];
}

#endif // GPUCC_CONVERSION_SCHEDTOPLAN_PASSES
