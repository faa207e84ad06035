//===- CompositesOps.td - ops that are several simpler ones *- tablegen -*-===//
//
// Each has a decomposition; Evaluate, Differentiable and Cost default to it
// (Decomposition.h) unless the op knows better.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_COMPOSITES
#define GPUCC_GRAPH_COMPOSITES

include "dialects/Graph/GraphBase.td"

class Graph_Composite<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat(traits, [HasDecomposition])>;

def SoftmaxOp : Graph_Composite<"softmax", [RuleOnly]> {
  let summary = "exp(x - max) / sum along one dimension, or its logarithm";
  let description = [{
    A row of -inf only is NaN, as is a row with NaN or +inf.

    Constraints: (C1) `dim` is in range and not empty.
  }];
  let arguments = (ins FloatTensor:$x, I64Attr:$dim, UnitAttr:$log);
  let results = (outs FloatTensor:$result);
}

def LayerNormOp : Graph_Composite<"layer_norm", [RuleOnly, AttrSizedOperandSegments]> {
  let summary = "(x - mean) / sqrt(var + epsilon) * scale + bias over the last dimensions";
  let description = [{
    Statistics over dimensions `begin`…, biased variance, in f32 at least. `scale` and `bias` have
    the shape of those dimensions.

    Constraints: (C1) `begin` is in range. (C2) scale and bias have the shape of the normalized
    dimensions and the type of x. (C3) epsilon is not negative.
  }];
  let arguments = (ins FloatTensor:$x, Optional<FloatTensor>:$scale, Optional<FloatTensor>:$bias,
                       I64Attr:$begin, F64Attr:$epsilon);
  let results = (outs FloatTensor:$result);
}

def RmsNormOp : Graph_Composite<"rms_norm", [RuleOnly]> {
  let summary = "x / sqrt(mean(x²) + epsilon) * scale over the last dimensions";
  let description = [{
    Constraints: (C1) `begin` is in range. (C2) scale has the shape of the normalized dimensions.
    (C3) epsilon is not negative.
  }];
  let arguments = (ins FloatTensor:$x, Optional<FloatTensor>:$scale, I64Attr:$begin, F64Attr:$epsilon);
  let results = (outs FloatTensor:$result);
}

def BatchNormOp : Graph_Composite<"batch_norm", [RuleOnly]> {
  let summary = "normalizes dimension 1 over all others, with or without running statistics";
  let description = [{
    With `training`: batch statistics (biased variance) normalize; the running ones become
    `momentum * old + (1 - momentum) * batch`, as ONNX defines it (the batch variance there is the
    biased one). Without: the running statistics normalize and are returned unchanged.
    scale, bias, mean, var are 1-D of size C.

    Results: y, new mean, new variance.

    Constraints: (C1) x has rank ≥ 2; the others are 1-D of its second dimension.
  }];
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, FloatTensor:$bias, FloatTensor:$mean,
                       FloatTensor:$variance, F64Attr:$epsilon, F64Attr:$momentum, UnitAttr:$training);
  let results = (outs FloatTensor:$result, FloatTensor:$new_mean, FloatTensor:$new_variance);
}

def GeluOp : Graph_Composite<"gelu", [Elementwise, SameOperandsAndResultShape, RuleOnly, HasScalarBody]> {
  let summary = "x * Phi(x), by erf or by the tanh formula";
  let description = [{
    Hendrycks and Gimpel 2016. (C0) no constraint beyond the types.
  }];
  let arguments = (ins GeluKindAttr:$form, FloatTensor:$x);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$form $x attr-dict `:` functional-type(operands, results)";
}

def SiluOp : Graph_Composite<"silu", [Elementwise, SameOperandsAndResultShape, RuleOnly, HasScalarBody]> {
  let summary = "x * logistic(x)";
  let arguments = (ins FloatTensor:$x);
  let results = (outs FloatTensor:$result);
}

def MishOp : Graph_Composite<"mish", [Elementwise, SameOperandsAndResultShape, RuleOnly, HasScalarBody]> {
  let summary = "x * tanh(log(1 + exp(x)))";
  let description = [{ Misra 2019. With w = exp(x): x * w(w + 2) / (w(w + 2) + 2); above 20 the fraction is 1. }];
  let arguments = (ins FloatTensor:$x);
  let results = (outs FloatTensor:$result);
}

def AttentionOp : Graph_Composite<"attention", [RuleOnly]> {
  let summary = "softmax(scale · Q·Kᵀ + bias, causal mask) · V";
  let description = [{
    q [B,H,S,D], k [B,K,T,D], v [B,K,T,E]; H is a multiple of K (grouped queries: query head h uses
    k/v head h / (H/K)). `bias` broadcasts to [B,H,S,T] (each dimension equal or 1). With `causal`
    row s sees columns t ≤ s + (T - S). A row that sees nothing (all -inf) is zero.

    Constraints: (C1) ranks are 4 and sizes fit. (C2) H is a multiple of K. (C3) bias broadcasts.
  }];
  let arguments = (ins FloatTensor:$q, FloatTensor:$k, FloatTensor:$v, Optional<FloatTensor>:$bias,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs FloatTensor:$result);
}

def RopeOp : Graph_Composite<"rope", [RuleOnly]> {
  let summary = "rotary position embedding of the last dimension";
  let description = [{
    x [B,H,S,D], cos and sin [S,R/2] or [B,S,R/2] with R ≤ D even: the first R elements of the last dimension are
    rotated, the rest kept. Pairs are (i, i + R/2), or (2i, 2i+1) with `interleaved`:
    (a, b) → (a cos - b sin, b cos + a sin).  Su et al. 2021.

    Constraints: (C1) ranks and sizes fit.
  }];
  let arguments = (ins FloatTensor:$x, FloatTensor:$cos, FloatTensor:$sin, UnitAttr:$interleaved);
  let results = (outs FloatTensor:$result);
}

def CrossEntropyOp : Graph_Composite<"cross_entropy", [RuleOnly]> {
  let summary = "sum of -log softmax(logits)[label] and the number of labels that count";
  let description = [{
    logits [..., C], labels [...] of integers. Positions with label `ignore_index` count neither in
    the loss nor in the number. Statistics in f32. Results are two f32 scalars (f64 for f64 logits):
    sum, count. (The mean is formed after all micro-batches and ranks are summed.)

    Constraints: (C1) labels has the shape of logits without the last dimension.
  }];
  let arguments = (ins FloatTensor:$logits, IndicesTensor:$labels, I64Attr:$ignore_index);
  let results = (outs FloatTensor:$loss, FloatTensor:$count);
}

def DropoutOp : Graph_Composite<"dropout", [RuleAndLocal]> {
  let summary = "zeroes elements with probability `ratio`, scales the rest by 1/(1-ratio)";
  let description = [{
    An element is kept when its uniform number (graph.rng_uniform with the same step, offsets,
    seed, ordinal, global_shape) is ≥ ratio. Hence equal on any layout.

    Constraints: (C1) 0 ≤ ratio < 1. (C2) one offset per dimension; global_shape has x's rank.
  }];
  let arguments = (ins FloatTensor:$x, ScalarI64:$step, Variadic<ScalarI64>:$offsets, F64Attr:$ratio,
                       I64Attr:$seed, I64Attr:$ordinal, DenseI64ArrayAttr:$global_shape);
  let results = (outs FloatTensor:$result);
}

def TopKOp : Graph_Composite<"top_k", [RuleOnly]> {
  let summary = "the k greatest elements of each row in order, and where they were";
  let description = [{
    Rows are the last dimension. With `smallest` the k least. NaN counts as greatest; of equals the first comes first
    (so `k` = the row's length is a stable sort). Results: values, and i64 indices.

    Example: `%v, %i = graph.top_k %x {k = 2 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)` of [1, 7, 3, 7] is
    [7, 7] and [1, 3].

    Constraints: (C1) x has a last dimension. (C2) k is from 1 to its size. (C3) rows have at
    most 2^30 elements.
  }];
  let arguments = (ins Tensor:$x, I64Attr:$k, UnitAttr:$smallest);
  let results = (outs Tensor:$values, IndicesTensor:$indices);
}

#endif // GPUCC_GRAPH_COMPOSITES
