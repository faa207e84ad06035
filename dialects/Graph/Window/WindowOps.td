//===- WindowOps.td - pooling ------------------------------*- tablegen -*-===//
#ifndef GPUCC_GRAPH_WINDOW
#define GPUCC_GRAPH_WINDOW

include "dialects/Graph/GraphBase.td"

def PoolOp : Graph_Op<"pool", [RuleOnly]> {
  let summary = "max or average over windows of the spatial dimensions";
  let description = [{
    Input N,C,spatial…. Padding never wins a max (a window of padding only gives -inf). An average
    divides by the number of elements inside, or, with `count_include_pad`, of those inside or in
    the padding `pads_low`/`pads_high`; `extra_high` lengthens the last dimension for ceil-mode
    windows and never counts.

    Constraints: (C1) lists have one entry per spatial dimension (rank - 2, 1 to 3). (C2) window,
    strides, dilations ≥ 1, pads ≥ 0; the dilated window fits.
  }];
  let arguments = (ins PoolKindAttr:$kind, FloatTensor:$x, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads_low,
                       DenseI64ArrayAttr:$pads_high, DenseI64ArrayAttr:$extra_high,
                       DenseI64ArrayAttr:$dilations, UnitAttr:$count_include_pad);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
}

def PoolGradOp : Graph_Op<"pool_grad", [RuleOnly]> {
  let summary = "gradient of pool in its input";
  let description = [{
    For max the gradient of a window goes to its first greatest element (row-major; first NaN if
    there is one). Attributes are those of `graph.pool`.

    Constraints: (C1) `grad` has the shape of the pool of `x`.
  }];
  let arguments = (ins PoolKindAttr:$kind, FloatTensor:$x, FloatTensor:$grad,
                       DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads_low, DenseI64ArrayAttr:$pads_high,
                       DenseI64ArrayAttr:$extra_high, DenseI64ArrayAttr:$dilations,
                       UnitAttr:$count_include_pad);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$kind $x `,` $grad attr-dict `:` functional-type(operands, results)";
}

#endif // GPUCC_GRAPH_WINDOW
