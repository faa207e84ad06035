// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: func @reductions
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @reductions(%x: tensor<4x8xf32>) {
  // CHECK: graph.reduce sum %[[X]] {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %0 = graph.reduce sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK: graph.reduce max %[[X]] {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %1 = graph.reduce max %x {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK: graph.arg_reduce min %[[X]] {dim = 0 : i64, select_last} : (tensor<4x8xf32>) -> tensor<8xi64>
  %2 = graph.arg_reduce min %x {dim = 0 : i64, select_last} : (tensor<4x8xf32>) -> tensor<8xi64>
  // CHECK: graph.scan prod %[[X]] {dim = 1 : i64, exclusive, reverse} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.scan prod %x {dim = 1 : i64, exclusive, reverse} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
