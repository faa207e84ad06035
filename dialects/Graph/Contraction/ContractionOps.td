//===- ContractionOps.td - products summed over dimensions -*- tablegen -*-===//
#ifndef GPUCC_GRAPH_CONTRACTION
#define GPUCC_GRAPH_CONTRACTION

include "dialects/Graph/GraphBase.td"

def ContractOp : Graph_Op<"contract", [RuleOnly]> {
  let summary = "matrix product over any dimensions";
  let description = [{
    Result dimensions: the batch dimensions in the order of `lhs_batch`, the free ones of lhs, the
    free ones of rhs. Products are accumulated in f32 (f64 for f64, i32 for integers of 32 bits and
    less, i64 else) and rounded once to the result type, which is `out` when given, else the operands'.

    Example, x[8,16] · w[16,4]:
    `%y = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>,
       rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>`

    Constraints: (C1) lists of one kind are equally long, without repetition, in range, and batch
    and contracted dimensions of one operand are disjoint. (C2) paired dimensions have equal sizes.
    (C3) both operands have the same element type.
  }];
  let arguments = (ins Tensor:$lhs, Tensor:$rhs, DenseI64ArrayAttr:$lhs_batch,
                       DenseI64ArrayAttr:$rhs_batch, DenseI64ArrayAttr:$lhs_contract,
                       DenseI64ArrayAttr:$rhs_contract, OptionalAttr<TypeAttr>:$out,
                       DefaultValuedAttr<PrecisionAttr, "::gpucc::graph::Precision::Highest">:$precision);
  let results = (outs Tensor:$result);
  let extraClassDeclaration = [{
    /// Dimensions of lhs (rhs) that are neither batch nor contracted, ascending.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
  }];
}

class Graph_ConvLike<string mnemonic, Trait rule = RuleOnly> : Graph_Op<mnemonic, [rule]>;

defvar ConvGeometry = [{
    Layout: input N,C,spatial…; filter O,C/groups,spatial…; result N,O,spatial…. Spatial lists have
    one entry per spatial dimension (1 to 3); pads are not negative.
}];

def ConvolutionOp : Graph_ConvLike<"convolution"> {
  let summary = "convolution (cross-correlation), 1 to 3 spatial dimensions";
  let description = ConvGeometry # [{
    With `channels_last` (what gpucc-prepare-fusion chooses for a library that computes that way)
    input and result are N,spatial…,C; the filter stays as it is.

    Constraints: (C1) ranks are equal and 3 to 5, lists fit. (C2) C is groups times the filter's
    second dimension and O is a multiple of groups. (C3) strides, dilations ≥ 1, pads ≥ 0, and each
    dilated filter fits into the padded input. (C4) equal element types.
  }];
  let arguments = (ins FloatTensor:$input, FloatTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads_low, DenseI64ArrayAttr:$pads_high,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups, UnitAttr:$channels_last);
  let results = (outs FloatTensor:$result);
}

def ConvolutionInputGradOp : Graph_ConvLike<"convolution_input_grad", RuleAndLocal> {
  let summary = "gradient of a convolution in its input; also transposed convolution";
  let description = ConvGeometry # [{
    `input_shape` is the shape of the result (the convolution's input).

    Constraints: (C1) a convolution of `input_shape` with the filter and these attributes has the
    shape of `grad`.
  }];
  let arguments = (ins FloatTensor:$grad, FloatTensor:$filter, DenseI64ArrayAttr:$input_shape,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads_low,
                       DenseI64ArrayAttr:$pads_high, DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs FloatTensor:$result);
}

def ConvolutionFilterGradOp : Graph_ConvLike<"convolution_filter_grad", RuleAndLocal> {
  let summary = "gradient of a convolution in its filter";
  let description = ConvGeometry # [{
    `filter_shape` is the shape of the result.

    Constraints: (C1) a convolution of `input` with a filter of `filter_shape` and these attributes
    has the shape of `grad`.
  }];
  let arguments = (ins FloatTensor:$input, FloatTensor:$grad, DenseI64ArrayAttr:$filter_shape,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads_low,
                       DenseI64ArrayAttr:$pads_high, DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs FloatTensor:$result);
}

#endif // GPUCC_GRAPH_CONTRACTION
