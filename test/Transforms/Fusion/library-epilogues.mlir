// RUN: gpucc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(gpucc-fuse))' | FileCheck %s

// Bias, residual and activation go into the convolution.
// CHECK-LABEL: @convolution
// CHECK: %[[Y:.*]] = graph.cluster library (%{{.*}} = %arg0 : tensor<1x6x6x8xf32>, %{{.*}} = %arg1 : {{.*}}, %{{.*}} = %arg2 : tensor<4xf32>, %{{.*}} = %arg3 : {{.*}}) -> tensor<1x6x6x4xf32> {
// CHECK: graph.convolution
// CHECK: graph.broadcast
// CHECK: graph.binary add
// CHECK: graph.binary add
// CHECK: graph.unary relu
// CHECK: graph.yield
// CHECK: return %[[Y]]
func.func @convolution(%x: tensor<1x6x6x8xf32>, %w: tensor<4x8x1x1xf32>, %b: tensor<4xf32>, %r: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32> {
  %0 = graph.convolution %x, %w {channels_last, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x6x6x8xf32>, tensor<4x8x1x1xf32>) -> tensor<1x6x6x4xf32>
  %1 = graph.broadcast %b {shape = array<i64: 1, 6, 6, 4>, dims = array<i64: 3>} : (tensor<4xf32>) -> tensor<1x6x6x4xf32>
  %2 = graph.binary add %0, %1 : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %3 = graph.binary add %r, %2 : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %4 = graph.unary relu %3 : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %4 : tensor<1x6x6x4xf32>
}

// -----
// A value that others read ends the chain; so does work that the library does not know.
// CHECK-LABEL: @ends
// CHECK: graph.cluster library
// CHECK: graph.binary add
// CHECK-NOT: graph.unary
// CHECK: graph.yield
// CHECK: graph.cluster loop
// CHECK: graph.unary exp
func.func @ends(%x: tensor<1x6x6x8xf32>, %w: tensor<4x8x1x1xf32>, %b: tensor<4xf32>) -> (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) {
  %0 = graph.convolution %x, %w {channels_last, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x6x6x8xf32>, tensor<4x8x1x1xf32>) -> tensor<1x6x6x4xf32>
  %1 = graph.broadcast %b {shape = array<i64: 1, 6, 6, 4>, dims = array<i64: 3>} : (tensor<4xf32>) -> tensor<1x6x6x4xf32>
  %2 = graph.binary add %0, %1 : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %3 = graph.unary exp %2 : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %2, %3 : tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>
}

// -----
// A product with an activation takes both; a bias alone is left to the next kernel, and a broadcast
// along other dimensions is nothing the library adds.
// CHECK-LABEL: @product
// CHECK: graph.cluster library
// CHECK: graph.gelu
// CHECK: graph.contract
// CHECK: graph.cluster loop
func.func @product(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %1 = graph.broadcast %b {shape = array<i64: 8, 8>, dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<8x8xf32>
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %2 = graph.binary add %0, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = graph.gelu erf %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = graph.broadcast %b {shape = array<i64: 8, 8>, dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x8xf32>
  %5 = graph.contract %3, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<8x16xf32>
  %6 = graph.contract %5, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %7 = graph.binary add %6, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = graph.unary relu %7 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3, %8 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----
// Bounds are links; a bound of -0 is none, since no library orders zeros.
// CHECK-LABEL: @bounds
// CHECK: graph.cluster library
// CHECK: graph.binary max
// CHECK: graph.yield
// CHECK: graph.cluster loop
// CHECK: graph.binary max
func.func @bounds(%x: tensor<1x6x6x8xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x6x6x4xf32> {
  %zero = graph.constant dense<-0.0> : tensor<1x6x6x4xf32>
  %one = graph.constant dense<-1.0> : tensor<1x6x6x4xf32>
  %0 = graph.convolution %x, %w {channels_last, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x6x6x8xf32>, tensor<4x8x1x1xf32>) -> tensor<1x6x6x4xf32>
  %1 = graph.binary max %0, %one : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %2 = graph.binary max %1, %zero : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %2 : tensor<1x6x6x4xf32>
}
