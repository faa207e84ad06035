//===- Passes.td - from a forward graph to a training step -*- tablegen -*-===//
#ifndef GPUCC_TRANSFORMS_TRAINING_PASSES
#define GPUCC_TRANSFORMS_TRAINING_PASSES

include "mlir/Pass/PassBase.td"

def FreezeParameters : Pass<"gpucc-freeze-parameters", "::mlir::ModuleOp"> {
  let summary = "marks parameters that the optimizer leaves alone";
  let description = [{
    Parameters that are scalars, not floats, or named by a pattern (`*` and `?` as in a shell) get
    `trainable = false`. A pattern that names nothing is an error.

    Before: `%w: tensor<4x4xf32> {base.name = "emb.weight", base.state = #base.state<param>, ...}`
    After (`patterns=emb.*`): `... base.state = #base.state<param, trainable = false> ...`
  }];
  let options = [ListOption<"patterns", "patterns", "std::string", "names with * and ?">];
  let statistics = [Statistic<"numFrozen", "frozen", "Parameters left alone">,
                    Statistic<"numTrainable", "trainable", "Parameters trained">];
}

def MixedPrecision : Pass<"gpucc-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "runs products in low precision, sensitive ops in f32";
  let description = [{
    By the policy of lib/Transforms/Training/PrecisionPolicy.h: `bf16` and `mixed-bf16` round the
    operands of matrix products, convolutions, attention and embeddings to bf16 (`f16`: to f16), sums,
    exponentials, normalizations and losses stay in f32, other ops follow their activations. `tf32`
    only marks matrix products. Runs before differentiate, so that backward inherits the types;
    gradients are accumulated in f32, and add-optimizer keeps an f32 master of every parameter that is
    low-precision state. Inputs and outputs keep their types.

    Before:
    ```
    func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32> {base.state = #base.state<param>, ...}) {
      %y = graph.contract %x, %w ... -> tensor<8x4xf32>
    ```
    After (`precision=mixed-bf16`):
    ```
    func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xbf16> {base.state = #base.state<param>, ...}) {
      %0 = graph.convert %x to bf16
      %1 = graph.contract %0, %w ... -> tensor<8x4xbf16>
      %y = graph.convert %1 to f32
    ```
  }];
  let options = [Option<"precision", "precision", "std::string", "\"f32\"",
                        "f32, tf32, bf16, f16 or mixed-bf16">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
  let statistics = [Statistic<"numLow", "low-ops", "Ops in low precision (tf32: products marked)">,
                    Statistic<"numParameters", "low-parameters", "Parameters that became low-precision state">];
}

def NumberSamples : Pass<"gpucc-number-samples", "::mlir::ModuleOp"> {
  let summary = "gives random ops the number of their first sample within the step";
  let description = [{
    Each execution of @main sees one micro-batch. Offset 0 of `graph.dropout` and `graph.rng_uniform`
    becomes `micro` (a counter that @step increments) times the size of dimension 0, so that the random
    numbers of a step do not depend on the split into micro-batches.

    Before: `graph.dropout %x, %step, %zero, %zero {...} : (tensor<8x16xf32>, ...)`
    After: `graph.dropout %x, %step, %offset, %zero`, `%offset = graph.binary mul %micro, %8`
  }];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
  let statistics = [Statistic<"numShifted", "shifted", "Random ops that got an offset">];
}

def Differentiate : Pass<"gpucc-differentiate", "::mlir::ModuleOp"> {
  let summary = "turns @main into @step: loss, backward, accumulation";
  let description = [{
    Appends the loss of the first output (or of `output`), walks backward from it through
    DifferentiableOpInterface and adds each trainable parameter's gradient to its accumulator. Losses
    and gradients are sums over the labels that count; `loss.accumulator` and `count.accumulator`
    hold numerator and denominator of the mean. Ops of the backward part carry `base.backward`.

    Before:
    ```
    func.func @main(%x: ..., %w: ... {base.state = #base.state<param>}) -> (%y ...)
    ```
    After:
    ```
    func.func @step(%x, %w, %labels, %micro, %loss_acc, %count_acc, %w_acc)
        -> (%y, %micro + 1, %loss_acc + loss, %count_acc + count, %w_acc + dw) attributes {base.segment = "step"}
    ```
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross-entropy\"", "cross-entropy, mse, output:NAME (a mean over samples) or output-sum:NAME (a sum)">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "label that does not count (cross-entropy)">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
  let statistics = [Statistic<"numGradients", "gradients", "Parameters with a gradient">,
                    Statistic<"numBackwardOps", "backward-ops", "Ops of the backward part">];
}

def AddOptimizer : Pass<"gpucc-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "adds @update: mean gradient, clipping, schedule, optimizer";
  let description = [{
    Divides the accumulated gradients by the accumulated count, clips them by their global norm,
    updates every trainable parameter in place and zeroes the accumulators. The learning rate follows
    from the step counter inside the graph:

      constant
      warmup:W            lr * (k + 1) / W for k < W, then lr
      cosine:W:T[:MIN]    as warmup, then MIN + (lr - MIN) * (1 + cos(pi (k - W) / (T - W))) / 2, MIN from T on

    sgd (with momentum): d = g + weight_decay * p; m' = momentum * m + d; p' = p - lr * m'.
    adamw (Loshchilov and Hutter 2019): p' = p (1 - lr weight_decay) - lr m^ / (sqrt(v^) + eps).

    Metrics: loss, lr, grad_norm (before clipping), f32 scalars.

    Before: `func.func @step(...)`; after: the same and
    ```
    func.func @update(%w, %w_acc, %w_m, %w_v, %step, ...) -> (%w', zeros, %m', %v', %step + 1, ..., %loss, %lr, %norm)
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"sgd\"", "sgd or adamw">,
    Option<"learningRate", "lr", "double", "0.01", "learning rate">,
    Option<"momentum", "momentum", "double", "0.0", "sgd: factor of the old direction">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "pull toward zero">,
    Option<"beta1", "beta1", "double", "0.9", "adamw">,
    Option<"beta2", "beta2", "double", "0.999", "adamw">,
    Option<"epsilon", "epsilon", "double", "1e-8", "adamw">,
    Option<"clipNorm", "clip-norm", "double", "0.0", "greatest global norm of the gradient; 0: no clipping">,
    Option<"schedule", "lr-schedule", "std::string", "\"constant\"", "constant, warmup:W or cosine:W:T[:MIN]">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
  let statistics = [Statistic<"numUpdated", "updated", "Parameters updated">];
}

def VerifyPhaseTrain : Pass<"gpucc-verify-phase-train", "::mlir::ModuleOp"> {
  let summary = "what the train phase promises of a training step";
  let description = [{
    Functions are `@step` (base.segment "step") and `@update` ("update"); a state has one type and role in both;
    every gradient accumulator is overwritten by both, so that it is zero when a step begins; metrics come
    from the update only. A module without training (no base.segment) promises nothing. The IR does not change:
    ```
    func.func @step(...) attributes {base.segment = "step"}  func.func @update(...) attributes {base.segment = "update"}
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "arguments and results looked at">];
}

#endif // GPUCC_TRANSFORMS_TRAINING_PASSES
