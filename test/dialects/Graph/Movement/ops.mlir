// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: func @movement
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>, %[[V:.*]]: tensor<f32>, %[[I:.*]]: tensor<3xi64>, %[[O:.*]]: tensor<i64>)
func.func @movement(%x: tensor<2x6xf32>, %v: tensor<f32>, %i: tensor<3xi64>, %o: tensor<i64>) {
  // CHECK: graph.reshape %[[X]] {shape = array<i64: 4, 3>} : (tensor<2x6xf32>) -> tensor<4x3xf32>
  %0 = graph.reshape %x {shape = array<i64: 4, 3>} : (tensor<2x6xf32>) -> tensor<4x3xf32>
  // CHECK: graph.transpose %[[X]] {permutation = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %1 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  // CHECK: graph.broadcast %[[V]] {dims = array<i64>, shape = array<i64: 4>} : (tensor<f32>) -> tensor<4xf32>
  %2 = graph.broadcast %v {shape = array<i64: 4>, dims = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  // CHECK: graph.slice %[[X]] {sizes = array<i64: 2, 3>, start = array<i64: 0, 5>, strides = array<i64: 1, -2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %3 = graph.slice %x {start = array<i64: 0, 5>, sizes = array<i64: 2, 3>, strides = array<i64: 1, -2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  // CHECK: graph.slice %[[X]], %[[O]], %[[O]] {{.*}} : (tensor<2x6xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
  %4 = graph.slice %x, %o, %o {start = array<i64: 0, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x6xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
  // CHECK: graph.pad constant %[[X]], %[[V]] {{.*}} -> tensor<2x13xf32>
  %5 = graph.pad constant %x, %v {low = array<i64: 0, 1>, high = array<i64: 0, 1>, interior = array<i64: 0, 1>} : (tensor<2x6xf32>, tensor<f32>) -> tensor<2x13xf32>
  // CHECK: graph.pad reflect %[[X]] {{.*}} -> tensor<3x6xf32>
  %6 = graph.pad reflect %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x6xf32>) -> tensor<3x6xf32>
  // CHECK: graph.concat %[[X]], %[[X]] {dim = 0 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  %7 = graph.concat %x, %x {dim = 0 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[G:.*]] = graph.gather %[[X]], %[[I]] {dim = 1 : i64} : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  %8 = graph.gather %x, %i {dim = 1 : i64} : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  // CHECK: graph.scatter %[[X]], %[[I]], %[[G]] {dim = 1 : i64, kind = #graph<reduction sum>} : (tensor<2x6xf32>, tensor<3xi64>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %9 = graph.scatter %x, %i, %8 {dim = 1 : i64, kind = #graph<reduction sum>} : (tensor<2x6xf32>, tensor<3xi64>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}
