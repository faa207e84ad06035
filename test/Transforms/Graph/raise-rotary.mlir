// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-simplify-graph,gpucc-raise-composites))' | FileCheck %s
// Rotary embedding; the two halves of the angles must be equal.

// CHECK-LABEL: @rope
// CHECK-SAME: (%[[X:[^:]*]]: tensor<2x4x3x8xf32>, %[[F:[^:]*]]: tensor<3x4xf32>)
// CHECK: %[[C:.*]] = graph.slice %{{.*}} {sizes = array<i64: 3, 4>, start = array<i64: 0, 0>
// CHECK: graph.rope %[[X]], %[[C]], %{{[a-z0-9]+}} : (tensor<2x4x3x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
func.func @rope(%x: tensor<2x4x3x8xf32>, %f: tensor<3x4xf32>) -> tensor<2x4x3x8xf32> {
  %a = graph.slice %x {start = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 4, 3, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x4x3x8xf32>) -> tensor<2x4x3x4xf32>
  %b = graph.slice %x {start = array<i64: 0, 0, 0, 4>, sizes = array<i64: 2, 4, 3, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x4x3x8xf32>) -> tensor<2x4x3x4xf32>
  %n = graph.unary neg %b : (tensor<2x4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %r = graph.concat %n, %a {dim = 3 : i64} : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x8xf32>
  %angles = graph.concat %f, %f {dim = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %cos = graph.unary cos %angles : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %sin = graph.unary sin %angles : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %cb = graph.broadcast %cos {shape = array<i64: 2, 4, 3, 8>, dims = array<i64: 2, 3>} : (tensor<3x8xf32>) -> tensor<2x4x3x8xf32>
  %sb = graph.broadcast %sin {shape = array<i64: 2, 4, 3, 8>, dims = array<i64: 2, 3>} : (tensor<3x8xf32>) -> tensor<2x4x3x8xf32>
  %u = graph.binary mul %x, %cb : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  %w = graph.binary mul %r, %sb : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  %y = graph.binary add %u, %w : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: @different_halves
// CHECK-NOT: graph.rope
func.func @different_halves(%x: tensor<2x4x3x8xf32>, %f: tensor<3x4xf32>, %g: tensor<3x4xf32>) -> tensor<2x4x3x8xf32> {
  %a = graph.slice %x {start = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 4, 3, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x4x3x8xf32>) -> tensor<2x4x3x4xf32>
  %b = graph.slice %x {start = array<i64: 0, 0, 0, 4>, sizes = array<i64: 2, 4, 3, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x4x3x8xf32>) -> tensor<2x4x3x4xf32>
  %n = graph.unary neg %b : (tensor<2x4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %r = graph.concat %n, %a {dim = 3 : i64} : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x8xf32>
  %angles = graph.concat %f, %g {dim = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %cos = graph.unary cos %angles : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %sin = graph.unary sin %angles : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %cb = graph.broadcast %cos {shape = array<i64: 2, 4, 3, 8>, dims = array<i64: 2, 3>} : (tensor<3x8xf32>) -> tensor<2x4x3x8xf32>
  %sb = graph.broadcast %sin {shape = array<i64: 2, 4, 3, 8>, dims = array<i64: 2, 3>} : (tensor<3x8xf32>) -> tensor<2x4x3x8xf32>
  %u = graph.binary mul %x, %cb : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  %w = graph.binary mul %r, %sb : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  %y = graph.binary add %u, %w : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}
