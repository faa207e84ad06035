// RUN: gpucc-opt %s --gpucc-propagate="dp=2" | FileCheck %s --check-prefix=DP
// RUN: gpucc-opt %s --gpucc-propagate="tp=2" | FileCheck %s --check-prefix=TP
// RUN: gpucc-opt %s --gpucc-propagate="tp=2 sp=on" | FileCheck %s --check-prefix=SP

// Two products with weights between whole activations: the first weight by columns, the second by
// rows, one reduction of the result.

// DP: dist.mesh @mesh <["dp" = 2]>
// DP-LABEL: func.func @main(
// DP-SAME:    %[[X:[^:]*]]: tensor<4x6x8xf32> {{{[^%]*}}dist.sharding = #dist.sharding<[{"dp"}, {}, {}]>}
// DP-SAME:    tensor<8x32xf32> {{{[^%]*}}dist.sharding = #dist.sharding<[{}, {}]>}
// DP-NOT:     dist.reshard
// DP:         graph.binary add %{{.*}} {dist.sharding = [#dist.sharding<[{"dp"}, {}, {}]>]}

// TP: dist.mesh @mesh <["tp" = 2]>
// TP-LABEL: func.func @main(
// TP-SAME:    tensor<8x32xf32> {{{[^%]*}}dist.sharding = #dist.sharding<[{}, {"tp"}]>}
// TP-SAME:    tensor<32xf32> {{{[^%]*}}dist.sharding = #dist.sharding<[{"tp"}]>}
// TP-SAME:    tensor<32x8xf32> {{{[^%]*}}dist.sharding = #dist.sharding<[{"tp"}, {}]>}
// TP:         graph.contract {{.*}}dist.sharding = [#dist.sharding<[{}, {}, {"tp"}]>]
// TP:         graph.unary relu {{.*}}dist.sharding = [#dist.sharding<[{}, {}, {"tp"}]>]
// TP:         %[[Y:.*]] = graph.contract {{.*}}dist.sharding = [#dist.sharding<[{}, {}, {}], partial = ["tp"] sum>]
// TP:         %[[S:.*]] = graph.binary add %[[Y]], %[[Y]] {{.*}}partial = ["tp"] sum
// TP:         %[[W:.*]] = dist.reshard %[[S]] on @mesh from <[{}, {}, {}], partial = ["tp"] sum> to <[{}, {}, {}]>
// TP-NOT:     dist.reshard
// TP:         graph.unary tanh %[[W]]

// With sequence parallelism the residual is split along the sequence (dimension 1), not the batch.
// SP-LABEL: func.func @main(
// SP:         dist.reshard %{{.*}} on @mesh from <[{}, {}, {}], partial = ["tp"] sum> to <[{}, {"tp"}, {}]>
// SP:         graph.binary add {{.*}}dist.sharding = [#dist.sharding<[{}, {"tp"}, {}]>]
func.func @main(%x: tensor<4x6x8xf32> {base.name = "x", base.kind = "input"},
                %w1: tensor<8x32xf32> {base.name = "w1", base.kind = "state", base.state = #base.state<param>},
                %b1: tensor<32xf32> {base.name = "b1", base.kind = "state", base.state = #base.state<param>},
                %w2: tensor<32x8xf32> {base.name = "w2", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<4x6x8xf32> {base.name = "y", base.kind = "output"}) {
  %0 = graph.contract %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x6x8xf32>, tensor<8x32xf32>) -> tensor<4x6x32xf32>
  %1 = graph.broadcast %b1 {shape = array<i64: 4, 6, 32>, dims = array<i64: 2>} : (tensor<32xf32>) -> tensor<4x6x32xf32>
  %2 = graph.binary add %0, %1 : (tensor<4x6x32xf32>, tensor<4x6x32xf32>) -> tensor<4x6x32xf32>
  %3 = graph.unary relu %2 : (tensor<4x6x32xf32>) -> tensor<4x6x32xf32>
  %4 = graph.contract %3, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x6x32xf32>, tensor<32x8xf32>) -> tensor<4x6x8xf32>
  %5 = graph.binary add %4, %4 : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %6 = graph.unary tanh %5 : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %7 = graph.binary add %6, %x : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %7 : tensor<4x6x8xf32>
}
