//===- LeavesOps.td - constants, weights, counters, random -*- tablegen -*-===//
#ifndef GPUCC_GRAPH_LEAVES
#define GPUCC_GRAPH_LEAVES

include "dialects/Graph/GraphBase.td"

def ConstantOp : Graph_Op<"constant", [ConstantLike, RuleAndLocal]> {
  let summary = "a small tensor known now";
  let description = [{
    Large tensors are weights (`graph.weight`), which planning never reads.

    Example: `%0 = graph.constant dense<1.0> : tensor<4xf32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def WeightDataOp : Op<Graph_Dialect, "weight_data", [Symbol]> {
  let summary = "where the bytes of a weight lie";
  let description = [{
    A module-level table entry: `bytes` bytes at `offset` of file number `file` in the module's
    `graph.files` (array of strings, relative to the model), row-major, little-endian, of `type`.

    Example: `graph.weight_data @fc.weight {file = 0, offset = 4096, bytes = 256} : tensor<8x8xf32>`

    Constraints: (C1) `bytes` is the byte size of `type`. (C2) `file` indexes `graph.files`.
    (C3) `offset` is not negative.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Tensor>:$type, I64Attr:$file,
                       I64Attr:$offset, I64Attr:$bytes);
  let assemblyFormat = "$sym_name attr-dict `:` $type";
  let hasVerifier = 1;
}

def WeightOp : Graph_Op<"weight", [RuleAndLocal, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a weight of the model, by name";
  let description = [{
    `start` (one entry per dimension, may be empty = zeros) and the result type select a block of
    the stored tensor; the recipe is evaluated while the plan is written.

    Example: `%w = graph.weight @fc.weight : tensor<8x8xf32>`

    Constraints: (C1) `key` names a `graph.weight_data`. (C2) the block lies inside the stored
    tensor and has its element type, or both are floats: then each element is rounded once.
  }];
  let arguments = (ins FlatSymbolRefAttr:$key, TypeAttrOf<Tensor>:$type,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$start);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$key attr-dict `:` $type";
}

def IotaOp : Graph_Op<"iota", [RuleAndLocal]> {
  let summary = "the index along one dimension, plus a start";
  let description = [{
    Example: `%0 = graph.iota {type = tensor<2x3xi64>, dim = 1} : () -> tensor<2x3xi64>` is
    [[0,1,2],[0,1,2]]. With the optional operand `start` (a scalar i64) it begins there.

    Constraints: (C1) `dim` is a dimension of the result.
  }];
  let arguments = (ins Optional<ScalarI64>:$start, TypeAttrOf<Tensor>:$type, I64Attr:$dim);
  let results = (outs Tensor:$result);
}

def RngUniformOp : Graph_Op<"rng_uniform", [RuleAndLocal]> {
  let summary = "counter-based uniform numbers in [0, 1)";
  let description = [{
    Philox4x32-10 (Salmon et al., SC 2011). Key = low 32 bits of (`seed`, `ordinal`); counter = (`step`, linear
    index of the element in a tensor of shape `global_shape`), where the element's global index is
    its local one plus `offsets`. So the same numbers appear on any layout and on recomputation.
    The linear index / 4 is the counter's low 64 bits, index mod 4 selects the output word, the
    step fills the high 64 bits; the word's upper 24 bits times 2^-24 is the value.

    Operands: `step` scalar i64; `offsets` one scalar i64 per dimension.

    Constraints: (C1) one offset per dimension of `global_shape`. (C2) the result has as many
    dimensions as `global_shape` and is no larger in any.
  }];
  let arguments = (ins ScalarI64:$step, Variadic<ScalarI64>:$offsets, TypeAttrOf<FloatTensor>:$type,
                       I64Attr:$seed, I64Attr:$ordinal, DenseI64ArrayAttr:$global_shape);
  let results = (outs FloatTensor:$result);
}

#endif // GPUCC_GRAPH_LEAVES
