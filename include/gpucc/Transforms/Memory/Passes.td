//===- Passes.td - recompute, order: less memory -----------*- tablegen -*-===//
#ifndef GPUCC_TRANSFORMS_MEMORY_PASSES
#define GPUCC_TRANSFORMS_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def InsertRecompute : Pass<"gpucc-insert-recompute", "::mlir::ModuleOp"> {
  let summary = "drops forward values and computes them again in backward, within a budget";
  let description = [{
    Chooses which values stay alive from forward to backward so that the budget holds at least extra
    time (Solvers/Recompute.h), clones the ops of the others (whole clusters and library calls) in
    front of their first reader in backward, and lets backward read the clones. The clones are the
    same kernels on the same values: results keep their bits. Collectives are never run again;
    random ops are, with the same counters. Run no CSE afterwards.

    `memory-budget` is about all device bytes of a rank: state, inputs, outputs, constants and the
    arena of the largest function. `activation-budget` is about the values alive from forward to
    backward only. Each is a number of bytes (`12GiB`, `300MB`, `4096`) or a ratio (`0.5`) of what the
    program needs without recomputation (of the fullest stage). A budget that no choice reaches is an
    error that names the least one; with `least-otherwise` the choice that comes nearest is taken and
    the report says `"feasible":false`.

    Forward and backward of a pipeline stage are two functions that hand over saved values, one copy
    per micro-batch in flight (`dist.slots`). They are looked at together: a value that is not kept is
    no longer saved, its op runs again in backward, and what it reads becomes an argument there.

    The choice, and the trade-off at other budgets, stand on the module as JSON in
    `base.recompute_report`.

    Before (`activation-budget=0.5`):
    ```
    %a = graph.cluster loop (%x) {exp}
    %b = graph.cluster loop (%a) {gelu}
    %l = graph.cluster reduction (%b) {sum}
    %g = graph.cluster loop (%b, %a, ...) {...} attributes {base.backward}
    ```
    After:
    ```
    %a = graph.cluster loop (%x) {exp}
    %b = graph.cluster loop (%a) {gelu}
    %l = graph.cluster reduction (%b) {sum}
    %c = graph.cluster loop (%x) {exp} attributes {base.backward, base.recompute}
    %g = graph.cluster loop (%b, %c, ...) {...} attributes {base.backward}
    ```
  }];
  let options = [
    Option<"memoryBudget", "memory-budget", "std::string", "\"\"", "all device bytes per rank, or a ratio of the peak">,
    Option<"activationBudget", "activation-budget", "std::string", "\"\"", "bytes alive from forward to backward, or a ratio">,
    Option<"leastOtherwise", "least-otherwise", "bool", "false", "take the least there is when no choice holds the budget">,
    Option<"points", "points", "unsigned", "24", "budgets looked at between the least and the most">,
    Option<"remarks", "remarks", "bool", "false", "say what was chosen">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
  let statistics = [
    Statistic<"numCloned", "cloned", "ops that run again in backward">,
    Statistic<"bytesBefore", "activation-bytes-before", "bytes alive from forward to backward before">,
    Statistic<"bytesAfter", "activation-bytes-after", "bytes alive from forward to backward after">,
    Statistic<"peakBefore", "peak-before", "peak bytes of values in the function before">,
    Statistic<"peakAfter", "peak-after", "peak bytes of values in the function after">];
}

def Order : Pass<"gpucc-order", "::mlir::func::FuncOp"> {
  let summary = "orders ops for the least peak of live bytes";
  let description = [{
    A list of ops is one of many legal orders; the peak of live bytes depends on it. Solvers/Order.h
    finds the best on small functions and a good one, with a bound, on large ones. Collectives keep
    their order among each other (all ranks must agree), and an op that overwrites state stays behind
    the readers of the old state. The order is changed only where that lowers the peak.

    Before: four values of 40 bytes, each reduced to 4 bytes; peak 160:
    ```
    %a = ...; %b = ...; %ra = graph.reduce sum %a; %rb = graph.reduce sum %b; ...
    ```
    After, peak 48: `%a = ...; %ra = graph.reduce sum %a; %b = ...; %rb = graph.reduce sum %b; ...`
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "say peaks before and after and the bound">];
  let statistics = [
    Statistic<"numMoved", "moved", "functions whose order changed">,
    Statistic<"peakBefore", "peak-before", "greatest peak in bytes before">,
    Statistic<"peakAfter", "peak-after", "greatest peak in bytes after">,
    Statistic<"peakBound", "peak-bound", "greatest lower bound in bytes">];
}

#endif // GPUCC_TRANSFORMS_MEMORY_PASSES
