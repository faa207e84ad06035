//===- ReductionOps.td - many elements to one --------------*- tablegen -*-===//
#ifndef GPUCC_GRAPH_REDUCTION
#define GPUCC_GRAPH_REDUCTION

include "dialects/Graph/GraphBase.td"

def ReduceOp : Graph_Op<"reduce", [RuleOnly, HasScalarBody]> {
  let summary = "combines all elements along dimensions; the dimensions disappear";
  let description = [{
    Sums of f16 and bf16 are accumulated in f32 and rounded once. The sum of nothing is -0.0 for
    floats (0 for integers), max of nothing -inf (the least integer), prod of nothing 1.
    The order of the sum is the reduction tree of docs/bits.md.

    Example: `%y = graph.reduce sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>`

    Constraints: (C1) `dims` is ascending, without repetition, in range. (C2) `and`, `or` need i1 or
    integers; the rest floats or integers.
  }];
  let arguments = (ins ReductionKindAttr:$kind, Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
}

def ArgReduceOp : Graph_Op<"arg_reduce", [RuleOnly]> {
  let summary = "index of the greatest (max) or least (min) element along one dimension";
  let description = [{
    NaN counts as greatest for max and least for min. Of equals, NaN among them, the first is taken, the last
    with `select_last`. Yields i64.

    Constraints: (C1) `dim` is in range and not empty. (C2) `kind` is max or min.
  }];
  let arguments = (ins ReductionKindAttr:$kind, Tensor:$x, I64Attr:$dim, UnitAttr:$select_last);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
}

def ScanOp : Graph_Op<"scan", [RuleOnly]> {
  let summary = "running combination along one dimension (cumulative sum)";
  let description = [{
    Constraints: (C1) `dim` is in range. (C2) `kind` is sum, prod, max or min.
  }];
  let arguments = (ins ReductionKindAttr:$kind, Tensor:$x, I64Attr:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
}

#endif // GPUCC_GRAPH_REDUCTION
