// RUN: gpucc-opt %s -split-input-file --gpucc-partition -verify-diagnostics | FileCheck %s

dist.mesh @mesh <["dp" = 2, "tp" = 4]>

// CHECK-LABEL: func.func @reshards(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x8xf32> {dist.sharding = #dist.sharding<[{}, {}]>}
// CHECK-SAME:    %[[P:[^:]*]]: tensor<8x8xf32> {dist.sharding = #dist.sharding<[{}, {}], partial = ["tp"] sum>}
func.func @reshards(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<[{}, {}]>},
                    %p: tensor<8x8xf32> {dist.sharding = #dist.sharding<[{}, {}], partial = ["tp"] sum>})
    -> (tensor<8x8xf32> {dist.sharding = #dist.sharding<[{}, {}]>},
        tensor<8x8xf32> {dist.sharding = #dist.sharding<[{}, {}]>}) {
  // whole to blocks: a slice at this rank's offset
  // CHECK-DAG:  %[[I:.*]] = dist.axis_index on @mesh over ["tp"] scale 2 : tensor<i64>
  // CHECK:      %[[S:.*]] = graph.slice %[[X]], {{.*}}%[[I]]{{.*}} -> tensor<8x2xf32>
  %0 = dist.reshard %x on @mesh from <[{}, {}]> to <[{}, {"tp"}]> {dist.sharding = [#dist.sharding<[{}, {"tp"}]>]} : tensor<8x8xf32>
  // CHECK:      %[[E:.*]] = graph.unary exp %[[S]] : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %1 = graph.unary exp %0 {dist.sharding = [#dist.sharding<[{}, {"tp"}]>]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // blocks along another dimension
  // CHECK:      %[[T:.*]] = dist.all_to_all %[[E]] on @mesh over ["tp"] split 0 concat 1 : tensor<8x2xf32> -> tensor<2x8xf32>
  %2 = dist.reshard %1 on @mesh from <[{}, {"tp"}]> to <[{"tp"}, {}]> {dist.sharding = [#dist.sharding<[{"tp"}, {}]>]} : tensor<8x8xf32>
  // CHECK:      dist.all_gather %[[T]] on @mesh over ["tp"] dim 0 : tensor<2x8xf32> -> tensor<8x8xf32>
  %3 = dist.reshard %2 on @mesh from <[{"tp"}, {}]> to <[{}, {}]> {dist.sharding = [#dist.sharding<[{}, {}]>]} : tensor<8x8xf32>
  // CHECK:      dist.reduce_scatter sum %[[P]] on @mesh over ["tp"] dim 0 : tensor<8x8xf32> -> tensor<2x8xf32>
  %4 = dist.reshard %p on @mesh from <[{}, {}], partial = ["tp"] sum> to <[{"tp"}, {}]> {dist.sharding = [#dist.sharding<[{"tp"}, {}]>]} : tensor<8x8xf32>
  // CHECK:      dist.all_gather
  %5 = dist.reshard %4 on @mesh from <[{"tp"}, {}]> to <[{}, {}]> {dist.sharding = [#dist.sharding<[{}, {}]>]} : tensor<8x8xf32>
  return %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----
dist.mesh @mesh <["dp" = 2]>
// The rank's iota starts where its block does.
// CHECK-LABEL: func.func @offset(
// CHECK:         %[[I:.*]] = dist.axis_index on @mesh over ["dp"] scale 3 : tensor<i64>
// CHECK:         graph.iota %[[I]] {dim = 0 : i64, type = tensor<3xi64>}
func.func @offset() -> (tensor<6xi64> {dist.sharding = #dist.sharding<[{"dp"}]>}) {
  %0 = graph.iota {type = tensor<6xi64>, dim = 0 : i64, dist.sharding = [#dist.sharding<[{"dp"}]>]} : () -> tensor<6xi64>
  return %0 : tensor<6xi64>
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @contradiction(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<[{"dp"}, {}]>})
    -> (tensor<8x4xf32> {dist.sharding = #dist.sharding<[{"dp"}, {}]>}) {
  // expected-error @below {{these shardings do not fit the op: result 0 is [{dp},{}], but its dimension 0 is the same loop as one that is split otherwise}}
  // expected-note @below {{operand 0 lies as [{dp},{}]}}
  // expected-note @below {{put a dist.reshard between, or pin shardings that follow the loops}}
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>, dist.sharding = [#dist.sharding<[{"dp"}, {}]>]} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @missing(%x: tensor<4xf32> {dist.sharding = #dist.sharding<[{"dp"}]>})
    -> (tensor<4xf32> {dist.sharding = #dist.sharding<[{"dp"}]>}) {
  // expected-error @below {{no sharding on this op or what it reads}}
  // expected-note @below {{gpucc-propagate puts 'dist.sharding' on every op and argument; run it before gpucc-partition}}
  %0 = graph.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// expected-error @below {{no dist.mesh in the module}}
// expected-note @below {{gpucc-propagate makes one from its pins}}
module {}
