//===- Passes.td - one cluster = one kernel ----------------*- tablegen -*-===//
#ifndef GPUCC_TRANSFORMS_FUSION_PASSES
#define GPUCC_TRANSFORMS_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def PrepareFusion : Pass<"gpucc-prepare-fusion", "::mlir::func::FuncOp"> {
  let summary = "rewrites ops into the forms that fusion and code generation know";
  let description = [{
    Composites become their expansions (attention stays where the target has an emitter for it),
    an index of a maximum becomes two reductions, a reduction of very many elements to few becomes
    two in a row (its extents alone decide, so bits do not depend on the target), transposes vanish
    into the dimension lists of matrix products, tiny products become multiply and sum. For a
    library that computes so, convolutions and what surrounds them get their channels innermost.

    Before:
    ```
    %0 = graph.reduce sum %x {dims = array<i64: 0>} : (tensor<1048576xf32>) -> tensor<f32>
    ```
    After:
    ```
    %0 = graph.reshape %x {shape = array<i64: 1024, 1024>} : (tensor<1048576xf32>) -> tensor<1024x1024xf32>
    %1 = graph.reduce sum %0 {dims = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    %2 = graph.reduce sum %1 {dims = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"host\"",
                        "host or cuda: which products are library calls, who emits attention">];
  let statistics = [
    Statistic<"numExpanded", "composites-expanded", "composites replaced by their expansion">,
    Statistic<"numEmpty", "empty-tensors", "ops on tensors without elements that became constants">,
    Statistic<"numSplit", "reductions-split", "reductions made in two steps">,
    Statistic<"numChannelsLast", "channels-last", "convolutions with channels innermost">,
    Statistic<"numFoldedTransposes", "transposes-folded", "transposes folded into products">,
    Statistic<"numSmallProducts", "small-products", "products turned into multiply and sum">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def Fuse : Pass<"gpucc-fuse", "::mlir::func::FuncOp"> {
  let summary = "forms graph.cluster regions: one cluster, one kernel";
  let description = [{
    Every graph op ends in a cluster, but views (reshape), constants, weights, and what the target
    leaves to a library (`contract` and `convolution` on the host). Collectives pass through.

    Before:
    ```
    %0 = graph.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.binary add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```
    %0 = graph.cluster loop (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %1 = graph.unary exp %a : (tensor<4xf32>) -> tensor<4xf32>
      %2 = graph.binary add %1, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"host\"",
           "host or cuda: what goes to a library, what may join a product">,
    Option<"maxOps", "max-ops", "unsigned", "96", "ops in one cluster at most">,
    Option<"maxViews", "max-views", "unsigned", "24", "operands and results of one cluster at most">,
    Option<"remarks", "remarks", "bool", "false", "say why a producer was not fused">];
  let statistics = [
    Statistic<"numOps", "ops", "graph ops looked at">,
    Statistic<"numClusteredOps", "clustered-ops", "graph ops that ended in clusters">,
    Statistic<"numClusters", "clusters", "clusters made">,
    Statistic<"numLoop", "loop", "clusters of kind loop">,
    Statistic<"numReduction", "reduction", "clusters of kind reduction">,
    Statistic<"numProduct", "product", "clusters around a matrix product, convolution or attention">,
    Statistic<"numCopies", "copies", "cheap producers copied into a consumer">];
  let dependentDialects = ["::gpucc::graph::GraphDialect"];
}

def VerifyPhaseFuse : Pass<"gpucc-verify-phase-fuse", "::mlir::ModuleOp"> {
  let summary = "what the fuse phase promises";
  let description = [{
    Function bodies hold clusters, views (reshape), constants, weights, products and convolutions that the target
    leaves to a library, and dist ops; the ops in a cluster are graph ops, none of them again a cluster. The IR
    does not change:
    ```
    %0 = graph.cluster loop (%a = %x : tensor<4xf32>) -> tensor<4xf32> { ... }
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "ops looked at">];
}

#endif // GPUCC_TRANSFORMS_FUSION_PASSES
