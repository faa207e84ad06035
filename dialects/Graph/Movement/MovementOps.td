//===- MovementOps.td - the same elements elsewhere --------*- tablegen -*-===//
#ifndef GPUCC_GRAPH_MOVEMENT
#define GPUCC_GRAPH_MOVEMENT

include "dialects/Graph/GraphBase.td"

def ReshapeOp : Graph_Op<"reshape", [RuleAndLocal]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    Example: `%y = graph.reshape %x {shape = array<i64: 2, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>`

    Constraints: (C1) `shape` has as many elements as the operand.
  }];
  let arguments = (ins Tensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs Tensor:$result);
}

def TransposeOp : Graph_Op<"transpose", [RuleOnly]> {
  let summary = "permutes dimensions: result dimension i is operand dimension permutation[i]";
  let description = [{
    Constraints: (C1) `permutation` is one of 0…rank-1.
  }];
  let arguments = (ins Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Tensor:$result);
}

def BroadcastOp : Graph_Op<"broadcast", [RuleAndLocal]> {
  let summary = "repeats elements along new or size-1 dimensions";
  let description = [{
    Operand dimension i becomes result dimension `dims[i]`; it has that size or is 1.

    Example: `%y = graph.broadcast %b {shape = array<i64: 8, 4>, dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>`

    Constraints: (C1) `dims` has one entry per operand dimension, ascending, in range. (C2) each
    operand dimension is 1 or the size of its result dimension.
  }];
  let arguments = (ins Tensor:$x, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$dims);
  let results = (outs Tensor:$result);
}

def SliceOp : Graph_Op<"slice", [RuleAndLocal]> {
  let summary = "elements start[d] + i * strides[d], i < sizes[d]; strides may be negative";
  let description = [{
    The optional operands `offsets` (one scalar i64 per dimension) are added to `start`; they are
    clamped so that the block stays inside.

    Constraints: (C1) lists have one entry per dimension, offsets none or one per dimension.
    (C2) strides are not 0; sizes are not negative; first and last element lie inside.
  }];
  let arguments = (ins Tensor:$x, Variadic<ScalarI64>:$offsets, DenseI64ArrayAttr:$start,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Tensor:$result);
}

def PadOp : Graph_Op<"pad", [RuleAndLocal]> {
  let summary = "adds elements around (low, high) and between (interior)";
  let description = [{
    `value` (a scalar) fills with mode constant; the other modes read the operand and take no
    value. Modes reflect, edge and wrap need interior 0.

    Constraints: (C1) lists have one entry per dimension, none negative. (C2) `value` is present
    exactly for mode constant and has the operand's element type. (C3) interior is 0 unless
    constant; reflect pads less than the dimension; edge and wrap need a non-empty dimension.
  }];
  let arguments = (ins PadKindAttr:$mode, Tensor:$x, Optional<Tensor>:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$mode operands attr-dict `:` functional-type(operands, results)";
}

def ConcatOp : Graph_Op<"concat", [RuleOnly]> {
  let summary = "puts tensors one behind the other along one dimension";
  let description = [{
    Constraints: (C1) at least one operand, equal element types and ranks. (C2) sizes are equal
    except along `dim`, which is in range.
  }];
  let arguments = (ins Variadic<Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Tensor:$result);
}

def GatherOp : Graph_Op<"gather", [RuleOnly]> {
  let summary = "whole slices of `data` along `dim`, picked by indices";
  let description = [{
    Result shape: data dims before `dim`, the dims of indices, data dims after. An index i < 0
    counts from the end; out of range reads the nearest valid slice (gpucc-check-indices refuses
    indices that are known while compiling).

    Constraints: (C1) `dim` is in range of data and not empty.
  }];
  let arguments = (ins Tensor:$data, IndicesTensor:$indices, I64Attr:$dim);
  let results = (outs Tensor:$result);
}

def ScatterOp : Graph_Op<"scatter", [RuleOnly]> {
  let summary = "the inverse of gather: combines updates into a copy of data";
  let description = [{
    `updates` has the shape that gather(data, indices, dim) would have. `kind` sum, prod, max, min combines with what is
    there, in row-major order of the updates; without a kind the last update wins. Out-of-range
    indices are dropped.

    Constraints: (C1) `dim` is in range of data. (C2) updates' shape and type fit. (C3) `kind` is
    neither and nor or.
  }];
  let arguments = (ins Tensor:$data, IndicesTensor:$indices, Tensor:$updates, I64Attr:$dim,
                       OptionalAttr<ReductionKindAttr>:$kind);
  let results = (outs Tensor:$result);
}

#endif // GPUCC_GRAPH_MOVEMENT
