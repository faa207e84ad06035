// RUN: gpucc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(gpucc-fold-weights))' | FileCheck %s

// By hand: factor = scale / sqrt(variance + 0) = [2/2, 3/1] = [1, 3]; shift = bias - mean * factor
// = [10 - 4, 20 - 15] = [6, 5]. The old bias [1, 2] is scaled too: [1, 6] + [6, 5] = [7, 11].
// CHECK-LABEL: @behind_convolution
// CHECK-NOT: graph.batch_norm
// CHECK: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}1.000000e+00]], {{\[\[}}2.000000e+00]]], {{\[\[\[}}9.000000e+00]], {{\[\[}}1.200000e+01]]]]> : tensor<2x2x1x1xf32>
// CHECK: %[[Y:.*]] = graph.convolution %arg0, %[[W]]
// CHECK: %[[B:.*]] = graph.constant dense<[7.000000e+00, 1.100000e+01]> : tensor<2xf32>
// CHECK: %[[S:.*]] = graph.broadcast %[[B]]
// CHECK: %[[R:.*]] = graph.binary add %[[Y]], %[[S]]
// CHECK: return %[[R]]
func.func @behind_convolution(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %scale = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %bias = graph.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %mean = graph.constant dense<[4.0, 5.0]> : tensor<2xf32>
  %var = graph.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.broadcast %b {shape = array<i64: 1, 2, 4, 4>, dims = array<i64: 1>} : (tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.binary add %0, %1 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y, %m, %v = graph.batch_norm %2, %scale, %bias, %mean, %var {epsilon = 0.0 : f64, momentum = 0.9 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y : tensor<1x2x4x4xf32>
}

// -----
// The convolution has another reader, who wants it as it was: one product and one sum remain.
// CHECK-LABEL: @shared_convolution
// CHECK: %[[Y:.*]] = graph.convolution %arg0, %arg1
// CHECK: graph.constant dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK: %[[M:.*]] = graph.binary mul %[[Y]],
// CHECK: graph.constant dense<[6.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK: %[[R:.*]] = graph.binary add %[[M]],
// CHECK: return %[[Y]], %[[R]]
func.func @shared_convolution(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %scale = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %bias = graph.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %mean = graph.constant dense<[4.0, 5.0]> : tensor<2xf32>
  %var = graph.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  %y, %m, %v = graph.batch_norm %0, %scale, %bias, %mean, %var {epsilon = 0.0 : f64, momentum = 0.9 : f64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  return %0, %y : tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// -----
// A transposed convolution of two groups: filter [C = 2, O/groups = 1]; output channel 0 belongs to
// input channel 0, channel 1 to input channel 1.
// CHECK-LABEL: @behind_transposed
// CHECK: graph.constant dense<{{\[\[\[}}1.000000e+00]], {{\[\[}}1.200000e+01]]]> : tensor<2x1x1xf32>
// CHECK: graph.convolution_input_grad
// CHECK-NOT: graph.binary mul
// CHECK: graph.binary add
func.func @behind_transposed(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %w = graph.constant dense<[[[1.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %scale = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %bias = graph.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %mean = graph.constant dense<[4.0, 5.0]> : tensor<2xf32>
  %var = graph.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = graph.convolution_input_grad %x, %w {input_shape = array<i64: 1, 2, 4>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4xf32>
  %y, %m, %v = graph.batch_norm %0, %scale, %bias, %mean, %var {epsilon = 0.0 : f64, momentum = 0.9 : f64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y : tensor<1x2x4xf32>
}

// -----
// Statistics that are not known now stay with the normalization.
// CHECK-LABEL: @unknown
// CHECK: graph.batch_norm
func.func @unknown(%x: tensor<1x2x4xf32>, %s: tensor<2xf32>) -> tensor<1x2x4xf32> {
  %y, %m, %v = graph.batch_norm %x, %s, %s, %s, %s {epsilon = 0.0 : f64, momentum = 0.9 : f64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y : tensor<1x2x4xf32>
}
