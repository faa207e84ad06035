//===- RegionsOps.td - ops that hold graphs ----------------*- tablegen -*-===//
#ifndef GPUCC_GRAPH_REGIONS
#define GPUCC_GRAPH_REGIONS

include "dialects/Graph/GraphBase.td"

def ClusterOp : Op<Graph_Dialect, "cluster", [
    IsolatedFromAbove, Pure, SingleBlock,
    DeclareOpInterfaceMethods<EvaluateOpInterface>, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "ops that become one kernel";
  let description = [{
    The body sees only its arguments. `results` of the body's graph.yield are the cluster's.
    A cluster is made after differentiation and partition, so it needs neither a derivative nor a
    sharding rule.

    Example:
    ```
    %y = graph.cluster loop (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = graph.unary exp %a : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %0 : tensor<4xf32>
    }
    ```
    Constraints: (C1) the body has one argument per operand, of its type. (C2) graph.yield yields
    one value per result, of its type. (C3) the body holds only graph ops without regions.
  }];
  let arguments = (ins ClusterKindAttr:$kind, Variadic<Tensor>:$inputs);
  let results = (outs Variadic<Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ClusterOp"]>]> {
  let summary = "ends the body of a region op";
  let arguments = (ins Variadic<Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // GPUCC_GRAPH_REGIONS
