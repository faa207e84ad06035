// RUN: gpucc-opt %s --split-input-file --allow-unregistered-dialect --pass-pipeline='builtin.module(func.func(gpucc-fuse))' | FileCheck %s

// Pointwise work is one loop; a broadcast and a splat constant are made inside.
// CHECK-LABEL: @loop
func.func @loop(%x: tensor<8x128xf32>, %b: tensor<128xf32>) -> tensor<8x128xf32> {
  // CHECK: %[[C:.*]] = graph.cluster loop
  // CHECK-NEXT: graph.constant
  // CHECK-NEXT: graph.broadcast
  // CHECK-NEXT: graph.binary add
  // CHECK-NEXT: graph.binary mul
  // CHECK-NEXT: graph.yield
  // CHECK: return %[[C]]
  %half = graph.constant dense<0.5> : tensor<8x128xf32>
  %0 = graph.broadcast %b {shape = array<i64: 8, 128>, dims = array<i64: 1>} : (tensor<128xf32>) -> tensor<8x128xf32>
  %1 = graph.binary add %x, %0 : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
  %2 = graph.binary mul %1, %half : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
  return %2 : tensor<8x128xf32>
}

// -----
// The diamond: exp and add would be one loop, but the product lies between them.
// CHECK-LABEL: @diamond
func.func @diamond(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: %[[A:.*]] = graph.cluster loop
  // CHECK-NEXT: graph.unary exp
  // CHECK: %[[B:.*]] = graph.contract %[[A]], %{{.*}}
  // CHECK: graph.cluster loop (%{{.*}} = %[[A]] : {{.*}}, %{{.*}} = %[[B]] :
  // CHECK-NEXT: graph.binary add
  %a = graph.unary exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = graph.contract %a, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = graph.binary add %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// -----
// A longer diamond: the way from %a to %d leads through a group that itself grew.
// CHECK-LABEL: @diamond_of_groups
func.func @diamond_of_groups(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: graph.cluster loop
  // CHECK-NEXT: graph.unary exp
  // CHECK-NEXT: graph.unary tanh
  // CHECK: graph.contract
  // CHECK: graph.cluster loop
  // CHECK-NEXT: graph.unary neg
  // CHECK-NEXT: graph.binary add
  %a = graph.unary exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = graph.unary tanh %a : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = graph.contract %t, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = graph.unary neg %b : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = graph.binary add %a, %c : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----
// Rows: the residual sum, the mean and what uses it are one kernel with two results.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<128x64xf32>, %r: tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
  // CHECK: %[[C:.*]]:2 = graph.cluster reduction
  // CHECK: return %[[C]]#0, %[[C]]#1
  %0 = graph.binary add %x, %r : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  %1 = graph.reduce sum %0 {dims = array<i64: 1>} : (tensor<128x64xf32>) -> tensor<128xf32>
  %2 = graph.broadcast %1 {shape = array<i64: 128, 64>, dims = array<i64: 0>} : (tensor<128xf32>) -> tensor<128x64xf32>
  %3 = graph.binary sub %0, %2 : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  return %0, %3 : tensor<128x64xf32>, tensor<128x64xf32>
}

// -----
// Reductions over different dimensions are different kernels.
// CHECK-LABEL: @rows_and_columns
func.func @rows_and_columns(%x: tensor<128x64xf32>) -> (tensor<128xf32>, tensor<64xf32>) {
  // CHECK: graph.cluster reduction
  // CHECK-NEXT: graph.reduce sum
  // CHECK-NEXT: graph.yield
  // CHECK: graph.cluster reduction
  // CHECK-NEXT: graph.reduce sum
  // CHECK-NEXT: graph.yield
  %0 = graph.reduce sum %x {dims = array<i64: 1>} : (tensor<128x64xf32>) -> tensor<128xf32>
  %1 = graph.reduce sum %x {dims = array<i64: 0>} : (tensor<128x64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<128xf32>, tensor<64xf32>
}

// -----
// One program for a large sum must not take full-size work with it.
// CHECK-LABEL: @few_programs
func.func @few_programs(%x: tensor<4x65536xf32>) -> tensor<4x65536xf32> {
  // CHECK: %[[S:.*]] = graph.cluster reduction
  // CHECK: graph.cluster loop
  // CHECK: graph.binary div
  %0 = graph.reduce sum %x {dims = array<i64: 1>} : (tensor<4x65536xf32>) -> tensor<4xf32>
  %1 = graph.broadcast %0 {shape = array<i64: 4, 65536>, dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x65536xf32>
  %2 = graph.binary div %x, %1 : (tensor<4x65536xf32>, tensor<4x65536xf32>) -> tensor<4x65536xf32>
  return %2 : tensor<4x65536xf32>
}

// -----
// A reshape inside is an index, at the border a view outside.
// CHECK-LABEL: @reshapes
func.func @reshapes(%x: tensor<2x16x128xf32>) -> tensor<2x4x16x32xf32> {
  // CHECK: %[[C:.*]] = graph.cluster loop
  // CHECK-NEXT: graph.unary exp
  // CHECK-NEXT: graph.reshape
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: graph.yield
  %0 = graph.unary exp %x : (tensor<2x16x128xf32>) -> tensor<2x16x128xf32>
  %1 = graph.reshape %0 {shape = array<i64: 2, 16, 4, 32>} : (tensor<2x16x128xf32>) -> tensor<2x16x4x32xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x16x4x32xf32>) -> tensor<2x4x16x32xf32>
  return %2 : tensor<2x4x16x32xf32>
}
// CHECK-LABEL: @border
func.func @border(%x: tensor<64xf32>) -> tensor<4x16xf32> {
  // CHECK: %[[V:.*]] = graph.reshape %{{.*}} {{.*}} -> tensor<8x8xf32>
  // CHECK: %[[C:.*]] = graph.cluster loop (%{{.*}} = %[[V]] : tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: graph.reshape %[[C]]
  %0 = graph.reshape %x {shape = array<i64: 8, 8>} : (tensor<64xf32>) -> tensor<8x8xf32>
  %1 = graph.unary exp %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.reshape %1 {shape = array<i64: 4, 16>} : (tensor<8x8xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----
// A reshape that cuts across the loops separates.
// CHECK-LABEL: @cutting_reshape
func.func @cutting_reshape(%x: tensor<4x6xf32>, %y: tensor<9xf32>) -> (tensor<8x3xf32>, tensor<3x8xf32>) {
  // CHECK: graph.cluster transpose
  // CHECK: graph.reshape
  // CHECK: graph.cluster transpose
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = graph.reshape %0 {shape = array<i64: 8, 3>} : (tensor<6x4xf32>) -> tensor<8x3xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<8x3xf32>) -> tensor<3x8xf32>
  return %1, %2 : tensor<8x3xf32>, tensor<3x8xf32>
}

// -----
// CHECK-LABEL: @kinds
func.func @kinds(%x: tensor<1x2x8x8xf32>, %d: tensor<16x8xf32>, %i: tensor<4xi64>, %u: tensor<4x8xf32>) -> (tensor<1x2x4x4xf32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) {
  // CHECK-DAG: graph.cluster window
  // CHECK-DAG: graph.cluster gather
  // CHECK-DAG: graph.cluster scatter
  // CHECK-DAG: graph.cluster scan
  // CHECK-DAG: graph.cluster transpose
  %0 = graph.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, extra_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.gather %d, %i {dim = 0 : i64} : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %2 = graph.scatter %d, %i, %u {dim = 0 : i64, kind = #graph<reduction sum>} : (tensor<16x8xf32>, tensor<4xi64>, tensor<4x8xf32>) -> tensor<16x8xf32>
  %3 = graph.scan sum %d {dim = 0 : i64} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %4 = graph.transpose %d {permutation = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
  return %0, %1, %2, %3, %4 : tensor<1x2x4x4xf32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>
}

// -----
// A broadcast with two users is copied into both, not stored.
// CHECK-LABEL: @copied_broadcast
func.func @copied_broadcast(%x: tensor<64x64xf32>, %b: tensor<64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: graph.cluster loop (%{{.*}} = %arg1 : tensor<64xf32>
  // CHECK: graph.contract
  // CHECK: graph.cluster loop (%{{.*}} = %arg1 : tensor<64xf32>
  %0 = graph.broadcast %b {shape = array<i64: 64, 64>, dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = graph.binary add %x, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = graph.contract %1, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = graph.binary mul %2, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// -----
// Forward and backward stay apart, so that recomputation can clone what is forward.
// CHECK-LABEL: @backward
func.func @backward(%x: tensor<64xf32>, %g: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: graph.cluster loop
  // CHECK-NEXT: graph.unary tanh
  // CHECK: graph.cluster loop {{.*}}attributes {base.backward}
  // CHECK-NEXT: graph.binary mul
  %0 = graph.unary tanh %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = graph.binary mul %0, %g {base.backward} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----
// Ops of other dialects pass through, in their order.
// CHECK-LABEL: @others
func.func @others(%x: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: graph.cluster loop
  // CHECK: "test.first"
  // CHECK: "test.second"
  // CHECK: graph.cluster loop
  %0 = graph.unary exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = "test.first"(%0) : (tensor<64xf32>) -> tensor<64xf32>
  "test.second"() : () -> ()
  %2 = graph.unary exp %1 : (tensor<64xf32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----
// Zeros that are a result must lie in memory: a kernel fills them. What a cluster reads is made inside.
// CHECK-LABEL: @fill
func.func @fill(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  // CHECK: %[[Z:.*]] = graph.cluster loop ()
  // CHECK-NEXT: graph.constant
  // CHECK: %[[Y:.*]] = graph.cluster loop (%{{.*}} = %arg0 : tensor<1024xf32>)
  // CHECK-NEXT: graph.constant
  // CHECK: return %[[Z]], %[[Y]]
  %z = graph.constant dense<0.0> : tensor<1024xf32>
  %0 = graph.binary max %x, %z : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %z, %0 : tensor<1024xf32>, tensor<1024xf32>
}

// -----
// A product of one row stays with its sum: with what makes its operand it would be stored term by term.
// CHECK-LABEL: @terms
// CHECK: %[[K:.*]] = graph.cluster {{.*}} -> tensor<2048x64xf32>
// CHECK-NOT: graph.reduce
// CHECK: graph.cluster reduction ({{.*}} = %[[K]]
// CHECK: graph.binary mul
// CHECK: graph.reduce sum
// CHECK: return %[[K]]
func.func @terms(%past: tensor<2047x64xf32>, %new: tensor<1x64xf32>, %p: tensor<2048xf32>) -> (tensor<2048x64xf32>, tensor<64xf32>) {
  %k = graph.concat %past, %new {dim = 0 : i64} : (tensor<2047x64xf32>, tensor<1x64xf32>) -> tensor<2048x64xf32>
  %0 = graph.broadcast %p {shape = array<i64: 2048, 64>, dims = array<i64: 0>} : (tensor<2048xf32>) -> tensor<2048x64xf32>
  %1 = graph.broadcast %k {shape = array<i64: 2048, 64>, dims = array<i64: 0, 1>} : (tensor<2048x64xf32>) -> tensor<2048x64xf32>
  %2 = graph.binary mul %0, %1 : (tensor<2048x64xf32>, tensor<2048x64xf32>) -> tensor<2048x64xf32>
  %3 = graph.reduce sum %2 {dims = array<i64: 0>} : (tensor<2048x64xf32>) -> tensor<64xf32>
  return %k, %3 : tensor<2048x64xf32>, tensor<64xf32>
}
