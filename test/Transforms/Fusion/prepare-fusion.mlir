// RUN: gpucc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(gpucc-prepare-fusion))' | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: gpucc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(gpucc-prepare-fusion{target=cuda}))' | FileCheck %s --check-prefixes=CHECK,CUDA

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NOT: graph.softmax
  // CHECK: graph.reduce max
  // CHECK: graph.reduce sum
  %0 = graph.softmax %x {dim = 1 : i64} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----
// CHECK-LABEL: @attention
func.func @attention(%q: tensor<1x2x16x32xf32>, %k: tensor<1x2x16x32xf32>, %v: tensor<1x2x16x32xf32>) -> tensor<1x2x16x32xf32> {
  // CUDA: graph.attention
  // HOST-NOT: graph.attention
  // HOST: graph.contract
  // HOST: graph.contract
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64, causal} : (tensor<1x2x16x32xf32>, tensor<1x2x16x32xf32>, tensor<1x2x16x32xf32>) -> tensor<1x2x16x32xf32>
  return %0 : tensor<1x2x16x32xf32>
}

// -----
// A sum of many to one is split on every target alike; many rows of the same length are not.
// CHECK-LABEL: @sum_of_all
func.func @sum_of_all(%x: tensor<1048576xbf16>) -> tensor<bf16> {
  // CHECK: graph.convert {{.*}} to f32
  // CHECK: graph.reshape {{.*}} -> tensor<1024x1024xf32>
  // CHECK: graph.reduce sum {{.*}} -> tensor<1024xf32>
  // CHECK: graph.reduce sum {{.*}} -> tensor<f32>
  // CHECK: graph.convert {{.*}} to bf16
  %0 = graph.reduce sum %x {dims = array<i64: 0>} : (tensor<1048576xbf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}
// CHECK-LABEL: @many_rows
func.func @many_rows(%x: tensor<64x32768xf32>) -> tensor<64xf32> {
  // CHECK-NOT: graph.reshape
  // CHECK: graph.reduce sum
  // CHECK-NOT: graph.reduce
  %0 = graph.reduce sum %x {dims = array<i64: 1>} : (tensor<64x32768xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
// Tall columns: 768 columns are 24 programs.
// CHECK-LABEL: @tall_columns
func.func @tall_columns(%x: tensor<4096x768xf32>) -> tensor<768xf32> {
  // CHECK: graph.reshape {{.*}} -> tensor<64x64x768xf32>
  // CHECK: graph.reduce sum {{.*}} {dims = array<i64: 1>}
  // CHECK: graph.reduce sum {{.*}} {dims = array<i64: 0>}
  %0 = graph.reduce sum %x {dims = array<i64: 0>} : (tensor<4096x768xf32>) -> tensor<768xf32>
  return %0 : tensor<768xf32>
}

// -----
// CHECK-LABEL: @arg_max
func.func @arg_max(%x: tensor<8x64xf32>) -> tensor<8xi64> {
  // CHECK: graph.reduce max
  // CHECK: graph.select
  // CHECK: graph.reduce min {{.*}} -> tensor<8xi64>
  %0 = graph.arg_reduce max %x {dim = 1 : i64} : (tensor<8x64xf32>) -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// -----
// x · transpose(w) reads w where it lies.
// CHECK-LABEL: @fold_transpose
func.func @fold_transpose(%x: tensor<16x64xf32>, %w: tensor<32x64xf32>) -> tensor<16x32xf32> {
  // CHECK: graph.contract %arg0, %arg1 {{.*}}rhs_contract = array<i64: 1>
  %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %1 = graph.contract %x, %0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// -----
// Contracted dimensions with another between them are no run of memory.
// CHECK-LABEL: @normalize
func.func @normalize(%x: tensor<4x16x8xf32>, %w: tensor<4x8x32xf32>) -> tensor<16x32xf32> {
  // CHECK: %[[T:.*]] = graph.transpose %arg0 {permutation = array<i64: 1, 0, 2>}
  // CHECK: graph.contract %[[T]], %{{.*}} {{.*}}lhs_contract = array<i64: 1, 2>
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0, 2>, rhs_contract = array<i64: 0, 1>} : (tensor<4x16x8xf32>, tensor<4x8x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----
// One row times a matrix: columns of w on the host.
// CHECK-LABEL: @matrix_vector
func.func @matrix_vector(%x: tensor<1x768xf32>, %w: tensor<768x3072xf32>) -> tensor<1x3072xf32> {
  // HOST: graph.binary mul {{.*}} -> tensor<1x768x3072xf32>
  // HOST: graph.reduce sum {{.*}} {dims = array<i64: 1>}
  // CUDA: graph.contract
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
  return %0 : tensor<1x3072xf32>
}

// -----
// The first step of a decoder: nothing in the cache yet.
// CHECK-LABEL: @empty_cache
func.func @empty_cache(%cache: tensor<2x0x8xf32>, %x: tensor<2x1x8xf32>) -> tensor<2x1x8xf32> {
  // CHECK-NOT: graph.concat
  // CHECK: return %arg1
  %0 = graph.concat %cache, %x {dim = 1 : i64} : (tensor<2x0x8xf32>, tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  return %0 : tensor<2x1x8xf32>
}

// -----
// CHECK-LABEL: @unsigned_product
func.func @unsigned_product(%x: tensor<16x64xui8>, %w: tensor<64x32xui8>) -> tensor<16x32xui8> {
  // CHECK: graph.convert {{.*}} to i32
  // CHECK: graph.reduce sum {{.*}} -> tensor<16x32xi32>
  // CHECK: graph.convert {{.*}} to ui8
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<16x64xui8>, tensor<64x32xui8>) -> tensor<16x32xui8>
  return %0 : tensor<16x32xui8>
}

// -----
// Attention scales its keys behind their transpose; the product reads them untransposed all the same.
// CHECK-LABEL: @scaled_keys
// CHECK-NOT: graph.transpose
// CHECK: %[[S:.*]] = graph.binary mul %{{.*}}, %{{.*}} : (tensor<1x4x32x16xf32>
// CHECK: graph.contract %arg0, %[[S]] {{.*}}rhs_contract = array<i64: 3>
func.func @scaled_keys(%q: tensor<1x4x32x16xf32>, %k: tensor<1x4x32x16xf32>) -> tensor<1x4x32x32xf32> {
  %scale = graph.constant dense<0.5> : tensor<1x4x16x32xf32>
  %0 = graph.reshape %k {shape = array<i64: 4, 32, 16>} : (tensor<1x4x32x16xf32>) -> tensor<4x32x16xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<4x32x16xf32>) -> tensor<4x16x32xf32>
  %2 = graph.reshape %1 {shape = array<i64: 1, 4, 16, 32>} : (tensor<4x16x32xf32>) -> tensor<1x4x16x32xf32>
  %3 = graph.binary mul %2, %scale : (tensor<1x4x16x32xf32>, tensor<1x4x16x32xf32>) -> tensor<1x4x16x32xf32>
  %4 = graph.contract %q, %3 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x4x32x16xf32>, tensor<1x4x16x32xf32>) -> tensor<1x4x32x32xf32>
  return %4 : tensor<1x4x32x32xf32>
}
