//===- PointwiseOps.td - one element in, one element out ---*- tablegen -*-===//
#ifndef GPUCC_GRAPH_POINTWISE
#define GPUCC_GRAPH_POINTWISE

include "dialects/Graph/GraphBase.td"

class Graph_Pointwise<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat(traits, [Elementwise, SameOperandsAndResultShape, RuleOnly, HasScalarBody])>;

def UnaryOp : Graph_Pointwise<"unary"> {
  let summary = "a function of each element";
  let description = [{
    Example: `%y = graph.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>`

    `is_nan` and `is_inf` yield i1; every other kind keeps the type. `not` is logical on i1 and
    bitwise on integers. `relu` of NaN is NaN; `sign` of NaN is NaN, of ±0 itself.

    Constraints: (C1) the kind is defined for the element type: transcendental kinds need floats,
    `not` integers or i1; neg, abs, sign, relu both.
  }];
  let arguments = (ins UnaryKindAttr:$kind, Tensor:$x);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
}

def BinaryOp : Graph_Pointwise<"binary"> {
  let summary = "a function of two elements";
  let description = [{
    Example: `%y = graph.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`

    Integer division truncates toward zero; `div`, `rem` and `mod` by zero give 0; INT_MIN / -1 is INT_MIN;
    integer arithmetic wraps; shifts by the width or more give 0 (arithmetic right shift of signed
    values: the sign). `pow` of integers with a negative exponent gives 0, ±1 where exact.

    Constraints: (C1) both operands have the same type. (C2) the kind is defined for it: and, or,
    xor need integers or i1; shl, shr integers; the rest floats or integers.
  }];
  let arguments = (ins BinaryKindAttr:$kind, Tensor:$lhs, Tensor:$rhs);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def CompareOp : Graph_Pointwise<"compare"> {
  let summary = "compares elements, yields i1";
  let description = [{
    Example: `%y = graph.compare lt %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`

    Constraints: (C1) both operands have the same type.
  }];
  let arguments = (ins CompareKindAttr:$kind, Tensor:$lhs, Tensor:$rhs);
  let results = (outs BoolTensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def SelectOp : Graph_Pointwise<"select"> {
  let summary = "picks each element from one of two tensors";
  let description = [{
    Example: `%y = graph.select %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`

    Constraints: (C1) both values have the same type.
  }];
  let arguments = (ins BoolTensor:$condition, Tensor:$on_true, Tensor:$on_false);
  let results = (outs Tensor:$result);
}

def ConvertOp : Graph_Pointwise<"convert"> {
  let summary = "changes the element type";
  let description = [{
    Float to float rounds to nearest even; float to integer truncates toward zero (out of range
    saturates, NaN gives 0); integer to narrower integer wraps; to i1 is `!= 0`.

    Example: `%y = graph.convert %x to bf16 : (tensor<4xf32>) -> tensor<4xbf16>`

    Constraints: (C1) `to` is an element type of graph (include/gpucc/Facts/DType.h).
  }];
  let arguments = (ins Tensor:$x, TypeAttr:$to);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$x `to` $to attr-dict `:` functional-type(operands, results)";
}

#endif // GPUCC_GRAPH_POINTWISE
