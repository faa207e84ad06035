// RUN: gpucc-opt %s --gpucc-overlap-collectives | FileCheck %s

dist.mesh @mesh <["dp" = 2]>

// The reduced gradient only goes into its accumulator: the next product runs beside the reduction.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x8xf32>, %[[ACC:[^:]*]]: tensor<8x8xf32>
// CHECK:         %[[G:.*]] = graph.contract %[[X]], %[[X]]
// CHECK-NEXT:    %[[R:.*]] = dist.all_reduce sum %[[G]] on @mesh over ["dp"] {dist.async}
// CHECK-NEXT:    %[[H:.*]] = graph.contract %[[X]], %[[G]]
// CHECK-NEXT:    graph.binary add %[[ACC]], %[[R]]
func.func @step(%x: tensor<8x8xf32>, %acc: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %g = graph.contract %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = dist.all_reduce sum %g on @mesh over ["dp"] : tensor<8x8xf32>
  %a = graph.binary add %acc, %r : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = graph.contract %x, %g {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a, %h : tensor<8x8xf32>, tensor<8x8xf32>
}

// Here the product needs the reduced value: it stays behind it.
// CHECK-LABEL: func.func @needed(
// CHECK:         dist.all_reduce sum %{{.*}} on @mesh over ["dp"] : tensor<8x8xf32>
// CHECK-NEXT:    graph.contract
func.func @needed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = dist.all_reduce sum %x on @mesh over ["dp"] : tensor<8x8xf32>
  %h = graph.contract %r, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}
