// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of contract
func.func @contract_lengths(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.contract' op (C1) `lhs_contract` = [1] and `rhs_contract` = [] differ in length}}
  // expected-note @+1 {{each dimension of lhs is paired with one of rhs}}
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @contract_overlap(%x: tensor<8x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.contract' op (C1) dimension 0 is both batch and contracted}}
  // expected-note @+1 {{batch dimensions appear in the result, contracted ones are summed}}
  %0 = graph.contract %x, %x {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

// (C2) of contract
func.func @contract_sizes(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.contract' op (C2) lhs dimension 1 has size 16, its partner, rhs dimension 1, has 4}}
  // expected-note @+1 {{paired dimensions have equal sizes}}
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x16xf32>
  return
}

// -----

// (C3) of contract
func.func @contract_types(%x: tensor<8x16xf32>, %w: tensor<16x4xf16>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.contract' op (C3) lhs is tensor<8x16xf32>, rhs is tensor<16x4xf16>}}
  // expected-note @+1 {{convert one operand with graph.convert}}
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf16>) -> tensor<8x4xf32>
  return
}

// -----

func.func @contract_out(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.contract' op (C3) `out` is i32 for operands of f32}}
  // expected-note @+1 {{products of floats are floats, of integers integers}}
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, out = i32} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xi32>
  return
}

// -----

// (C1) of convolution
func.func @conv_rank(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution' op (C1) the input has shape [1, 4, 8], the filter [6, 4, 3, 3]}}
  // expected-note @+1 {{ranks are equal and 3 to 5: N, C, spatial and O, C/groups, spatial}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_list(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution' op (C1) `strides` = [1, 1] has 2 entries, 1 expected}}
  // expected-note @+1 {{give one entry per dimension it speaks of}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// (C2) of convolution
func.func @conv_groups(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution' op (C2) input [1, 4, 8], filter [6, 4, 3] and groups = 2 do not fit}}
  // expected-note @+1 {{the input's channels are groups times the filter's second dimension}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// (C3) of convolution
func.func @conv_stride(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution' op (C3) `strides` = [0] contains 0}}
  // expected-note @+1 {{its entries are at least 1}}
  %0 = graph.convolution %x, %w {strides = array<i64: 0>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_fit(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution' op (C3) the dilated window of size 11 does not fit into spatial dimension 0 of padded size 8}}
  // expected-note @+1 {{pad more, or shrink the window or its dilation}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 5>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// (C4) of convolution
func.func @conv_types(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf16>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution' op (C4) the input is tensor<1x4x8xf32>, the filter tensor<6x4x3xf16>}}
  // expected-note @+1 {{convert one of them with graph.convert}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf16>) -> tensor<1x6x6xf32>
  return
}

// -----

// (C1) of convolution_input_grad
func.func @input_grad(%g: tensor<1x6x5xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution_input_grad' op (C1) grad is tensor<1x6x5xf32>, the convolution has shape [1, 6, 6] and element type f32}}
  // expected-note @+1 {{correct the shape attribute, the strides or the pads}}
  %0 = graph.convolution_input_grad %g, %w {input_shape = array<i64: 1, 4, 8>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x6x5xf32>, tensor<6x4x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

// (C1) of convolution_filter_grad
func.func @filter_grad(%x: tensor<1x4x8xf32>, %g: tensor<1x6x5xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.convolution_filter_grad' op (C1) grad is tensor<1x6x5xf32>, the convolution has shape [1, 6, 6] and element type f32}}
  // expected-note @+1 {{correct the shape attribute, the strides or the pads}}
  %0 = graph.convolution_filter_grad %x, %g {filter_shape = array<i64: 6, 4, 3>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<1x6x5xf32>) -> tensor<6x4x3xf32>
  return
}
