// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: func @composites
func.func @composites(%x: tensor<2x4x3xf32>, %s: tensor<3xf32>, %c: tensor<4xf32>, %q: tensor<2x8x16x64xf32>,
                      %k: tensor<2x2x16x64xf32>, %b: tensor<1x1x16x16xf32>, %a: tensor<16x32xf32>,
                      %l: tensor<2x4xi64>, %n: tensor<i64>) {
  // CHECK: graph.softmax %{{.*}} {dim = 2 : i64, log} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %0 = graph.softmax %x {dim = 2 : i64, log} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {begin = 2 : i64, epsilon = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>}
  %1 = graph.layer_norm %x, %s, %s {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  // CHECK: graph.rms_norm %{{.*}} {begin = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %2 = graph.rms_norm %x {begin = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: graph.batch_norm {{.*}} {epsilon = 1.000000e-05 : f64, momentum = 9.000000e-01 : f64, training}
  %3:3 = graph.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: graph.gelu tanh %{{.*}} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %4 = graph.gelu tanh %x : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: graph.silu %{{.*}} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %5 = graph.silu %x : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: graph.mish %{{.*}} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %mish = graph.mish %x : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: graph.attention {{.*}} {causal, scale = 1.250000e-01 : f64} : (tensor<2x8x16x64xf32>, tensor<2x2x16x64xf32>, tensor<2x2x16x64xf32>, tensor<1x1x16x16xf32>) -> tensor<2x8x16x64xf32>
  %6 = graph.attention %q, %k, %k, %b {scale = 0.125 : f64, causal} : (tensor<2x8x16x64xf32>, tensor<2x2x16x64xf32>, tensor<2x2x16x64xf32>, tensor<1x1x16x16xf32>) -> tensor<2x8x16x64xf32>
  // CHECK: graph.rope {{.*}} {interleaved} : (tensor<2x8x16x64xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<2x8x16x64xf32>
  %7 = graph.rope %q, %a, %a {interleaved} : (tensor<2x8x16x64xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<2x8x16x64xf32>
  // CHECK: graph.cross_entropy {{.*}} {ignore_index = -100 : i64} : (tensor<2x4x3xf32>, tensor<2x4xi64>) -> (tensor<f32>, tensor<f32>)
  %8:2 = graph.cross_entropy %x, %l {ignore_index = -100 : i64} : (tensor<2x4x3xf32>, tensor<2x4xi64>) -> (tensor<f32>, tensor<f32>)
  // CHECK: graph.dropout {{.*}} -> tensor<2x4x3xf32>
  %9 = graph.dropout %x, %n, %n, %n, %n {ratio = 0.1 : f64, seed = 1 : i64, ordinal = 2 : i64, global_shape = array<i64: 8, 4, 3>} : (tensor<2x4x3xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<2x4x3xf32>
  // CHECK: graph.top_k %{{.*}} {k = 2 : i64, smallest} : (tensor<2x4x3xf32>) -> (tensor<2x4x2xf32>, tensor<2x4x2xi64>)
  %10:2 = graph.top_k %x {k = 2 : i64, smallest} : (tensor<2x4x3xf32>) -> (tensor<2x4x2xf32>, tensor<2x4x2xi64>)
  return
}
