// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-fold-constants))' | FileCheck %s

module attributes {graph.files = ["m"]} {
graph.weight_data @w {file = 0, offset = 0, bytes = 16} : tensor<4xf32>

// CHECK-LABEL: @chain
func.func @chain() -> tensor<2xi64> {
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %b = graph.constant dense<[10, 20]> : tensor<2xi64>
  %c = graph.binary add %a, %b : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %d = graph.binary mul %c, %c : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  // CHECK-NEXT: %[[D:.*]] = graph.constant dense<[121, 484]> : tensor<2xi64>
  // CHECK-NEXT: return %[[D]]
  return %d : tensor<2xi64>
}

// Bug kinds 12: 2^53 + 1 divided as integers, toward zero for -7 / 2.
// CHECK-LABEL: @exact
func.func @exact() -> tensor<2xi64> {
  %a = graph.constant dense<[9007199254740993, -7]> : tensor<2xi64>
  %b = graph.constant dense<[1, 2]> : tensor<2xi64>
  %c = graph.binary div %a, %b : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  // CHECK-NEXT: graph.constant dense<[9007199254740993, -3]>
  return %c : tensor<2xi64>
}

// A splat stays a splat, however large.
// CHECK-LABEL: @splat
func.func @splat() -> tensor<1024x4096xf32> {
  %a = graph.constant dense<1.0> : tensor<f32>
  %b = graph.broadcast %a {shape = array<i64: 1024, 4096>, dims = array<i64>} : (tensor<f32>) -> tensor<1024x4096xf32>
  // CHECK-NEXT: graph.constant dense<1.000000e+00> : tensor<1024x4096xf32>
  return %b : tensor<1024x4096xf32>
}

// Larger than the limit, and computed from a weight: left alone.
// CHECK-LABEL: @large
func.func @large() -> (tensor<128x64xi64>, tensor<4xf32>) {
  // CHECK: graph.iota
  %a = graph.iota {type = tensor<128x64xi64>, dim = 0} : () -> tensor<128x64xi64>
  // CHECK: graph.weight
  // CHECK: graph.unary
  %w = graph.weight @w : tensor<4xf32>
  %n = graph.unary neg %w : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %n : tensor<128x64xi64>, tensor<4xf32>
}
}
