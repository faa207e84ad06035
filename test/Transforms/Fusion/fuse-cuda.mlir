// RUN: gpucc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(gpucc-fuse{target=cuda}))' | FileCheck %s

// A product takes the pointwise work behind it, not what is in front.
// CHECK-LABEL: @epilogue
func.func @epilogue(%x: tensor<64x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>, %r: tensor<64x32xf32>) -> tensor<64x32xf32> {
  // CHECK: %[[A:.*]] = graph.cluster loop
  // CHECK-NEXT: graph.unary exp
  // CHECK: graph.cluster contract (%{{.*}} = %[[A]] :
  // CHECK: graph.contract
  // CHECK: graph.binary add
  // CHECK: graph.unary relu
  // CHECK: graph.binary add
  // CHECK: graph.yield
  %a = graph.unary exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = graph.contract %a, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = graph.broadcast %b {shape = array<i64: 64, 32>, dims = array<i64: 1>} : (tensor<32xf32>) -> tensor<64x32xf32>
  %2 = graph.binary add %0, %1 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %3 = graph.unary relu %2 : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %4 = graph.binary add %3, %r : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %4 : tensor<64x32xf32>
}

// -----
// Two products are two kernels; a reduction of the result is another.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64xf32> {
  // CHECK: graph.cluster contract
  // CHECK: graph.cluster contract
  // CHECK: graph.cluster reduction
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.contract %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = graph.reduce max %1 {dims = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----
// CHECK-LABEL: @attention
func.func @attention(%q: tensor<1x2x16x32xf32>, %k: tensor<1x2x16x32xf32>, %v: tensor<1x2x16x32xf32>) -> tensor<1x16x2x32xf32> {
  // CHECK: graph.cluster attention
  // CHECK-NEXT: graph.attention
  // CHECK-NEXT: graph.transpose
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64, causal} : (tensor<1x2x16x32xf32>, tensor<1x2x16x32xf32>, tensor<1x2x16x32xf32>) -> tensor<1x2x16x32xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x2x16x32xf32>) -> tensor<1x16x2x32xf32>
  return %1 : tensor<1x16x2x32xf32>
}

// -----
// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: graph.cluster convolution
  // CHECK-NEXT: graph.convolution
  // CHECK-NEXT: graph.unary relu
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.unary relu %0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %1 : tensor<1x4x8x8xf32>
}

// -----
// A constant operand of a product lies in memory; a large one is filled by a kernel.
// CHECK-LABEL: @constant_operand
func.func @constant_operand(%x: tensor<64x64xf32>, %y: tensor<64x4xf32>) -> (tensor<64x64xf32>, tensor<64x4xf32>) {
  // CHECK-DAG: %[[ONES:.*]] = graph.cluster loop ()
  // CHECK-DAG: %[[SMALL:.*]] = graph.constant dense<2.000000e+00> : tensor<4x4xf32>
  // CHECK: graph.cluster contract (%{{.*}} = %arg0 : {{.*}}, %{{.*}} = %[[ONES]] :
  // CHECK: graph.cluster contract (%{{.*}} = %arg1 : {{.*}}, %{{.*}} = %[[SMALL]] :
  %w = graph.constant dense<1.0> : tensor<64x64xf32>
  %v = graph.constant dense<2.0> : tensor<4x4xf32>
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.contract %y, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x4xf32>
}
