//===- Passes.td - whole-tensor rewrites -------------------*- tablegen -*-===//
#ifndef GPUCC_TRANSFORMS_GRAPH_PASSES
#define GPUCC_TRANSFORMS_GRAPH_PASSES

include "mlir/Pass/PassBase.td"

def FoldConstants : Pass<"gpucc-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "evaluates ops whose operands are constants";
  let description = [{
    By the op's own `evaluate`, so that folding is right when evaluation is. Weights are not
    constants: nothing is read from their files. Results larger than `max-elements` stay ops, except
    splats that stay splats.

    Before:
    ```
    %0 = graph.constant dense<2.0> : tensor<4xf32>
    %1 = graph.unary exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```
    %1 = graph.constant dense<7.389056> : tensor<4xf32>
    ```
  }];
  let options = [Option<"maxElements", "max-elements", "int64_t", "4096",
                        "largest result that becomes a constant">];
  let statistics = [Statistic<"numFolded", "folded", "ops replaced by a constant">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def FoldWeights : Pass<"gpucc-fold-weights", "::mlir::func::FuncOp"> {
  let summary = "batch normalizations with known statistics go into the convolution before them";
  let description = [{
    For inference: weights are read from the model's files, and the new filters are constants of
    the plan. A normalization behind anything else becomes one product and one sum per element.
    Weights that cannot be read are left alone.

    Before:
    ```
    %w = graph.weight @w : tensor<8x3x3x3xf32>
    %0 = graph.convolution %x, %w {...} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
    %y, %m, %v = graph.batch_norm %0, %scale, %bias, %mean, %variance {...} : ...
    ```
    After:
    ```
    %w = graph.constant dense<...> : tensor<8x3x3x3xf32>
    %0 = graph.convolution %x, %w {...} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
    %b = graph.constant dense<...> : tensor<8xf32>
    %1 = graph.broadcast %b {dims = array<i64: 1>, shape = array<i64: 1, 8, 6, 6>} : (tensor<8xf32>) -> tensor<1x8x6x6xf32>
    %y = graph.binary add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
    ```
  }];
  let options = [Option<"folder", "folder", "std::string", "\"\"",
                        "the model's folder: what names of weight files are relative to">];
  let statistics = [Statistic<"numFolded", "folded", "normalizations folded into filters">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def CheckIndices : Pass<"gpucc-check-indices", "::mlir::func::FuncOp"> {
  let summary = "refuses indices that are known and outside what they pick from";
  let description = [{
    `graph.gather` is defined for every index (the nearest slice), so that kernels need no error path; ONNX says
    that such an index is an error. Where the indices depend on no input, this pass says so. The IR does not
    change. A table of 4 positions and a profile of 6:
    ```
    %i = graph.iota {dim = 0 : i64} : tensor<6xi64>
    %p = graph.gather %table, %i {dim = 0 : i64} : (tensor<4x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
    // error: index 4 (element [4] of the indices) is outside dimension 0, which has 4 entries
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "gathers looked at">];
}

def SimplifyGraph : Pass<"gpucc-simplify-graph", "::mlir::func::FuncOp"> {
  let summary = "identities that hold for every value, NaN, infinities and -0 included";
  let description = [{
    Movement that undoes or repeats itself is joined; neutral operands vanish; constants go to the
    right; a division by a power of two becomes a product; transposes enter the dimension lists of
    matrix products. What is *not* done because it is not always true: x*0 -> 0 and x-x -> 0
    (NaN, inf), x+0 -> x (-0), pow(x, 0.5) -> sqrt (-inf).

    Before:
    ```
    %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %1 = graph.contract %x, %0 {..., lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : ...
    ```
    After:
    ```
    %1 = graph.contract %x, %w {..., lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : ...
    ```
  }];
  let statistics = [Statistic<"numRewritten", "rewritten", "identities applied">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def RaiseComposites : Pass<"gpucc-raise-composites", "::mlir::func::FuncOp"> {
  let summary = "finds softmax, norms, GELU, SiLU, rotary and attention that an exporter took apart";
  let description = [{
    Derivatives, sharding rules and kernels are better on composites. A group of ops is raised only
    when it computes the same on every input, and when nothing outside reads a value inside (a second
    user, or the function's result). Run after simplify-graph, which brings the forms together.

    `softmax(q·k + mask)·v` becomes attention only when no row of the mask can be all -inf: there
    softmax gives NaN and attention zero. That is shown by evaluating masks that depend on no
    input, and taken as given for masks computed from integers with finite factors (an
    attention_mask of zeros and ones). A mask that is a float input is not raised.

    Before:
    ```
    %0 = graph.unary logistic %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.binary mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```
    %1 = graph.silu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "false",
                        "say what was raised, and what looked like a composite but was not one">];
  let statistics = [Statistic<"numRaised", "raised", "composites made">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def DecomposeComposites : Pass<"gpucc-decompose-composites", "::mlir::func::FuncOp"> {
  let summary = "replaces composites by their expansion";
  let description = [{
    After their rules and derivatives were used; `keep` lists the ops that have an emitter.

    Before:
    ```
    %0 = graph.silu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```
    %0 = graph.unary logistic %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.binary mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [ListOption<"keep", "keep", "std::string",
                            "names of composites that stay: attention,softmax">];
  let statistics = [Statistic<"numExpanded", "expanded", "composites expanded">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def VerifyPhaseGraph : Pass<"gpucc-verify-phase-graph", "::mlir::ModuleOp"> {
  let summary = "what the graph phase promises";
  let description = [{
    No frontend op is left; functions hold graph ops only; arguments and results have a name and a
    kind; an alias names a state argument of the same type and name; weights have an entry in the
    table. The IR does not change:
    ```
    func.func @main(%x: tensor<4xf32> {base.name = "x", base.kind = "input"})
        -> (tensor<4xf32> {base.name = "y", base.kind = "output"}) { ... }
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "ops looked at">];
}

#endif // GPUCC_TRANSFORMS_GRAPH_PASSES
