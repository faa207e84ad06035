// RUN: gpucc-opt %s --gpucc-number-ops | FileCheck %s

// Each function counts from 0; the terminator is an op, too.
// CHECK-LABEL: @f
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.unary exp {{.*}}dist.origin = 0 : i64
  %a = graph.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.binary add {{.*}}dist.origin = 1 : i64
  %b = graph.binary add %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// CHECK-LABEL: @g
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.unary neg {{.*}}dist.origin = 0 : i64
  %a = graph.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
