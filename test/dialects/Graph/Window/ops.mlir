// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: func @pools
// CHECK-SAME: (%[[X:.*]]: tensor<1x3x8x8xf32>, %[[G:.*]]: tensor<1x3x4x4xf32>)
func.func @pools(%x: tensor<1x3x8x8xf32>, %g: tensor<1x3x4x4xf32>) {
  // CHECK: graph.pool max %[[X]] {dilations = array<i64: 1, 1>, extra_high = array<i64: 0, 0>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 2, 2>, window = array<i64: 3, 3>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %0 = graph.pool max %x {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, extra_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  // CHECK: graph.pool_grad avg %[[X]], %[[G]] {count_include_pad
  // CHECK-SAME: (tensor<1x3x8x8xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  %1 = graph.pool_grad avg %x, %g {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, extra_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, count_include_pad} : (tensor<1x3x8x8xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  return
}
