// RUN: gpucc-opt %s -split-input-file --gpucc-assign-stages="pp=2" -verify-diagnostics | FileCheck %s

// Three equal products: two on one stage, one on the other; the cut goes where the activation is
// narrow (16 wide), not where it is wide.
// CHECK-LABEL: func.func @main(
// CHECK:         graph.transpose %{{.*}} {permutation = array<i64: 1, 0>}
// CHECK:         graph.contract {{.*}}dist.stage = 0 : i64{{.*}} -> tensor<8x64xf32>
// CHECK:         graph.contract {{.*}}dist.stage = 0 : i64{{.*}} -> tensor<8x16xf32>
// CHECK:         graph.contract {{.*}}dist.stage = 1 : i64{{.*}} -> tensor<8x64xf32>
func.func @main(%x: tensor<8x16xf32> {base.name = "x", base.kind = "input"},
                %a: tensor<64x16xf32> {base.name = "a", base.kind = "state", base.state = #base.state<param>},
                %b: tensor<64x16xf32> {base.name = "b", base.kind = "state", base.state = #base.state<param>}) -> tensor<8x64xf32> {
  %t = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<64x16xf32>) -> tensor<16x64xf32>
  %0 = graph.contract %x, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  %1 = graph.contract %0, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %2 = graph.contract %1, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// -----
// expected-error @below {{cannot be cut into 2 stages: it has 1 ops that depend on an input; choose pp between 1 and that number}}
func.func @main(%x: tensor<8xf32> {base.name = "x", base.kind = "input"}) -> tensor<8xf32> {
  %0 = graph.unary exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
