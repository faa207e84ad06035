// RUN: gpucc-opt %s -split-input-file --gpucc-verify-phase-fuse -verify-diagnostics

// Clusters, views, constants and library products.
func.func @main(%x: tensor<4x4xf32>) -> tensor<16xf32> {
  %0 = graph.contract %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.cluster loop (%a = %0 : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %3 = graph.unary neg %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
    graph.yield %3 : tensor<4x4xf32>
  }
  %2 = graph.reshape %1 {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stands outside a cluster after fusion}}
  // expected-note @below {{gpucc-prepare-fusion should have expanded it, or gpucc-fuse taken it into a cluster}}
  %0 = graph.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stands outside a cluster after fusion}}
  // expected-note @below {{only graph and dist ops belong here}}
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
