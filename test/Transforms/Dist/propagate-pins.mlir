// RUN: gpucc-opt %s -split-input-file --gpucc-propagate="dp=2 tp=2" -verify-diagnostics | FileCheck %s

// A pinned weight is obeyed: rows instead of columns.
// CHECK-LABEL: func.func @obeyed(
// CHECK-SAME:    tensor<8x16xf32> {{{[^%]*}}dist.sharding = #dist.sharding<[{"tp"}, {}]>}
// CHECK:         graph.contract {{.*}}dist.sharding = [#dist.sharding<[{"dp"}, {}], partial = ["tp"] sum>]
func.func @obeyed(%x: tensor<4x8xf32> {base.name = "x", base.kind = "input"},
                  %w: tensor<8x16xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>, dist.sharding = #dist.sharding<[{"tp"}, {}]>})
    -> (tensor<4x16xf32> {base.name = "y", base.kind = "output"}) {
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----
// A constraint on a value becomes a reshard.
dist.mesh @mesh <["dp" = 2, "tp" = 2]>
// CHECK-LABEL: func.func @constraint(
// CHECK-NOT:     dist.constraint
// CHECK:         %[[R:.*]] = dist.reshard %{{.*}} on @mesh from <[{"dp"}, {}]> to <[{}, {"dp"}]>
// CHECK:         return
func.func @constraint(%x: tensor<4x8xf32> {base.name = "x", base.kind = "input"})
    -> (tensor<4x8xf32> {base.name = "y", base.kind = "output"}) {
  %0 = graph.unary exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = dist.constraint %0 on @mesh <[{}, {"dp"}]> : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----
// expected-error @below {{the batch of a micro-batch is 3 (first dimension of input "x"), which 2 data parallel ranks do not divide}}
// expected-note @below {{choose dp and micro-batches so that dp times micro-batches divides the model's batch}}
func.func @batch(%x: tensor<3x8xf32> {base.name = "x", base.kind = "input"}) -> tensor<3x8xf32> {
  return %x : tensor<3x8xf32>
}

// -----
// The softmax dimension may not be split.
func.func @refused(%x: tensor<4x8xf32> {base.name = "x", base.kind = "input"}) -> tensor<4x8xf32> {
  // expected-error @below {{mesh axis 'dp': no way to split the op gives the sharding that is demanded of its result}}
  // expected-note @below {{the op's loops are}}
  %0 = graph.softmax %x {dim = 1 : i64, dist.sharding = [#dist.sharding<[{}, {"dp"}]>]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----
// expected-remark @below {{parameter "w" of type 'tensor<5x7xf32>' stays whole on the 2 tensor parallel ranks: no dimension divides evenly}}
func.func @whole(%x: tensor<4x5xf32> {base.name = "x", base.kind = "input"},
                 %w: tensor<5x7xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>}) -> tensor<4x7xf32> {
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}
