// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of reduce
func.func @reduce_range(%x: tensor<4x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.reduce' op (C1) `dims` = [0, 2] names dimension 2, the tensor has rank 2}}
  // expected-note @+1 {{dimensions count from 0}}
  %0 = graph.reduce sum %x {dims = array<i64: 0, 2>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_twice(%x: tensor<4x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.reduce' op (C1) `dims` = [1, 1] names dimension 1 twice}}
  // expected-note @+1 {{name each dimension once}}
  %0 = graph.reduce sum %x {dims = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_order(%x: tensor<4x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.reduce' op (C1) `dims` = [1, 0] is not ascending}}
  // expected-note @+1 {{sort the list}}
  %0 = graph.reduce sum %x {dims = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<f32>
  return
}

// -----

// (C2) of reduce
func.func @reduce_kind(%x: tensor<4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.reduce' op (C2) `and` is not defined for tensor<4xf32>}}
  // expected-note @+1 {{`and` and `or` take integers or i1, the others integers or floats; insert graph.convert}}
  %0 = graph.reduce and %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

// (C1) of arg_reduce
func.func @arg_empty(%x: tensor<4x0xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.arg_reduce' op (C1) dimension 1 of tensor<4x0xf32> is empty}}
  // expected-note @+1 {{nothing has no greatest element}}
  %0 = graph.arg_reduce max %x {dim = 1 : i64} : (tensor<4x0xf32>) -> tensor<4xi64>
  return
}

// -----

// (C2) of arg_reduce
func.func @arg_kind(%x: tensor<4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.arg_reduce' op (C2) `kind` is sum}}
  // expected-note @+1 {{use max or min}}
  %0 = graph.arg_reduce sum %x {dim = 0 : i64} : (tensor<4xf32>) -> tensor<i64>
  return
}

// -----

// (C1) of scan
func.func @scan_dim(%x: tensor<f32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.scan' op (C1) `dim` is 0, the tensor has rank 0}}
  // expected-note @+1 {{a scalar has no dimension to name}}
  %0 = graph.scan sum %x {dim = 0 : i64} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// (C2) of scan
func.func @scan_kind(%x: tensor<4xi32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.scan' op (C2) `or` of tensor<4xi32> is not defined}}
  // expected-note @+1 {{use sum, prod, max or min of floats or integers}}
  %0 = graph.scan or %x {dim = 0 : i64} : (tensor<4xi32>) -> tensor<4xi32>
  return
}
