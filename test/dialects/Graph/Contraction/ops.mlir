// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: func @contractions
func.func @contractions(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %i: tensor<1x4x8x8xf32>,
                        %f: tensor<6x2x3x3xf32>, %g: tensor<1x6x4x4xf32>) {
  // CHECK: graph.contract %{{.*}}, %{{.*}} {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  // CHECK: graph.contract
  // CHECK-SAME: out = f64
  // CHECK-SAME: precision = #graph<precision tf32>
  // CHECK-SAME: -> tensor<8x4xf64>
  %1 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, out = f64, precision = #graph<precision tf32>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf64>
  // CHECK: graph.convolution %{{.*}} -> tensor<1x6x4x4xf32>
  %2 = graph.convolution %i, %f {strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
  // CHECK: graph.convolution_input_grad %{{.*}} -> tensor<1x4x8x8xf32>
  %3 = graph.convolution_input_grad %g, %f {input_shape = array<i64: 1, 4, 8, 8>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x6x4x4xf32>, tensor<6x2x3x3xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: graph.convolution_filter_grad %{{.*}} -> tensor<6x2x3x3xf32>
  %4 = graph.convolution_filter_grad %i, %g {filter_shape = array<i64: 6, 2, 3, 3>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<1x6x4x4xf32>) -> tensor<6x2x3x3xf32>
  return
}
