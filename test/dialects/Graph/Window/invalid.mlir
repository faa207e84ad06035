// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of pool
func.func @pool_rank(%x: tensor<3x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pool' op (C1) the operand is tensor<3x8xf32>}}
  // expected-note @+1 {{rank is 3 to 5: N, C and spatial dimensions}}
  %0 = graph.pool max %x {window = array<i64>, strides = array<i64>, pads_low = array<i64>, pads_high = array<i64>, extra_high = array<i64>, dilations = array<i64>} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @pool_list(%x: tensor<1x3x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pool' op (C1) `window` = [2, 2] has 2 entries, 1 expected}}
  // expected-note @+1 {{give one entry per dimension it speaks of}}
  %0 = graph.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, extra_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  return
}

// -----

// (C2) of pool
func.func @pool_pads(%x: tensor<1x3x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pool' op (C2) `pads_low` = [-1] contains -1}}
  // expected-note @+1 {{its entries are at least 0}}
  %0 = graph.pool max %x {window = array<i64: 2>, strides = array<i64: 1>, pads_low = array<i64: -1>, pads_high = array<i64: 0>, extra_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  return
}

// -----

func.func @pool_fit(%x: tensor<1x3x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pool' op (C2) the dilated window of size 9 does not fit into spatial dimension 0 of padded size 8}}
  // expected-note @+1 {{pad more, or shrink the window or its dilation}}
  %0 = graph.pool max %x {window = array<i64: 9>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, extra_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  return
}

// -----

// (C1) of pool_grad
func.func @pool_grad(%x: tensor<1x3x8xf32>, %g: tensor<1x3x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pool_grad' op (C1) grad is tensor<1x3x8xf32>, the pool of x has shape [1, 3, 7]}}
  // expected-note @+1 {{give the gradient of the pool's result, in x's element type}}
  %0 = graph.pool_grad max %x, %g {window = array<i64: 2>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, extra_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  return
}
