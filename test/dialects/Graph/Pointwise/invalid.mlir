// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of unary
func.func @unary_kind(%x: tensor<4xi32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.unary' op (C1) `exp` is not defined for tensor<4xi32>}}
  // expected-note @+1 {{convert the operand with graph.convert}}
  %0 = graph.unary exp %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @unary_not(%x: tensor<4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.unary' op (C1) `not` is not defined for tensor<4xf32>}}
  // expected-note @+1 {{`not` takes integers or i1}}
  %0 = graph.unary not %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Result types follow from operands and attributes.
func.func @unary_result(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4xi1>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = graph.unary is_nan %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C1) of binary
func.func @binary_types(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.binary' op (C1) lhs is tensor<4xf32>, rhs is tensor<4xf64>}}
  // expected-note @+1 {{they must be the same; insert graph.convert, graph.broadcast or graph.reshape}}
  %0 = graph.binary add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

// (C2) of binary
func.func @binary_kind(%x: tensor<4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.binary' op (C2) `xor` is not defined for tensor<4xf32>}}
  // expected-note @+1 {{convert the operands with graph.convert}}
  %0 = graph.binary xor %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @binary_bool(%x: tensor<4xi1>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.binary' op (C2) `add` is not defined for tensor<4xi1>}}
  // expected-note @+1 {{convert the operands with graph.convert}}
  %0 = graph.binary add %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// (C1) of compare
func.func @compare_types(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.compare' op (C1) lhs is tensor<4xi32>, rhs is tensor<4xui32>}}
  // expected-note @+1 {{they must be the same}}
  %0 = graph.compare lt %x, %y : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi1>
  return
}

// -----

// (C1) of select
func.func @select_types(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.select' op (C1) on_true is tensor<4xf32>, on_false is tensor<4xf16>}}
  // expected-note @+1 {{they must be the same}}
  %0 = graph.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// (C1) of convert
func.func @convert_type(%x: tensor<4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convert' op (C1) `to` is i7, which is no element type of graph}}
  // expected-note @+1 {{see include/gpucc/Facts/DType.h for the list}}
  %0 = graph.convert %x to i7 : (tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @element_type(%x: tensor<4xf80>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = graph.unary exp %x : (tensor<4xf80>) -> tensor<4xf80>
  return
}
