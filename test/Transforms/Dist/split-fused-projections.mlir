// RUN: gpucc-opt %s --gpucc-split-fused-projections | FileCheck %s
// RUN: gpucc-opt %s --gpucc-split-fused-projections="remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gpucc-opt %s --gpucc-split-fused-projections --gpucc-differentiate="loss=mse" --gpucc-add-optimizer="optimizer=adamw" | FileCheck %s --check-prefix=STATE

// REMARK: remark: "qkv" is used in 2 slices only: split, so that each rank has its share of each

// Pieces begin with, and are saved into, their columns of the initializer; its alias moves along.
// CHECK: func.func @main(%{{.*}}: tensor<8x4xf32> {base.kind = "input", base.name = "x"}
// CHECK-SAME: tensor<4xf32> {base.kind = "state", base.name = "mean"
// CHECK-SAME: tensor<4x2xf32> {base.kind = "state", base.name = "qkv@0", base.source_name = "qkv", base.source_shape = array<i64: 4, 6>, base.state = #base.state<param, start = [0, 0]>, base.weight = "qkv"}
// CHECK-SAME: tensor<2xf32> {base.kind = "state", base.name = "bias@0", base.source_name = "bias", base.source_shape = array<i64: 6>, base.state = #base.state<param, start = [0]>, base.weight = "step.weight"}
// CHECK-SAME: tensor<4x4xf32> {base.kind = "state", base.name = "qkv@2", base.source_name = "qkv", base.source_shape = array<i64: 4, 6>, base.state = #base.state<param, start = [0, 2]>, base.weight = "qkv"}
// CHECK-SAME: base.alias = 1 : i64
// CHECK-NOT: graph.slice
// CHECK-COUNT-2: graph.contract

// Moments and accumulators are the same part of what the whole parameter would have.
// STATE-DAG: base.name = "qkv@2.accumulator", base.source_name = "qkv.accumulator", base.source_shape = array<i64: 4, 6>, base.state = #base.state<accumulator, of = "qkv@2", start = [0, 2]>}
// STATE-DAG: base.name = "qkv@2.moment1", base.source_name = "qkv.moment1", base.source_shape = array<i64: 4, 6>, base.state = #base.state<moment1, of = "qkv@2", start = [0, 2]>}
// STATE-DAG: base.name = "bias@0.moment2", base.source_name = "bias.moment2", base.source_shape = array<i64: 6>, base.state = #base.state<moment2, of = "bias@0", start = [0]>}
func.func @main(%x: tensor<8x4xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<4x6xf32> {base.name = "qkv", base.kind = "state", base.state = #base.state<param>},
                %b: tensor<6xf32> {base.name = "bias", base.weight = "step.weight", base.kind = "state", base.state = #base.state<param>},
                %m: tensor<4xf32> {base.name = "mean", base.kind = "state", base.state = #base.state<stat, trainable = false>})
    -> (tensor<8x4xf32> {base.name = "y", base.kind = "output"},
        tensor<4xf32> {base.name = "mean", base.kind = "state", base.alias = 3 : i64, base.state = #base.state<stat, trainable = false>}) {
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.broadcast %b {shape = array<i64: 8, 6>, dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<8x6xf32>
  %2 = graph.binary add %0, %1 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = graph.slice %2 {start = array<i64: 0, 0>, sizes = array<i64: 8, 2>, strides = array<i64: 1, 1>} : (tensor<8x6xf32>) -> tensor<8x2xf32>
  %4 = graph.slice %2 {start = array<i64: 0, 2>, sizes = array<i64: 8, 4>, strides = array<i64: 1, 1>} : (tensor<8x6xf32>) -> tensor<8x4xf32>
  %5 = graph.concat %3, %3 {dim = 1} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  %6 = graph.binary mul %4, %5 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %6, %m : tensor<8x4xf32>, tensor<4xf32>
}

// GPT-2's Gemm sees batch and sequence as one dimension; the rows are taken apart before the slices.
// CHECK-LABEL: func.func @gemm
// CHECK-SAME: tensor<4x2xf32> {base.kind = "state", base.name = "qkv@0"
// CHECK-SAME: tensor<4x4xf32> {base.kind = "state", base.name = "qkv@2"
// CHECK: %[[Q:.*]] = graph.contract {{.*}} -> tensor<8x2xf32>
// CHECK: graph.reshape %[[Q]] {shape = array<i64: 2, 4, 2>}
// CHECK: %[[V:.*]] = graph.contract {{.*}} -> tensor<8x4xf32>
// CHECK: graph.reshape %[[V]] {shape = array<i64: 2, 4, 4>}
// CHECK-NOT: graph.slice
func.func @gemm(%x: tensor<8x4xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<4x6xf32> {base.name = "qkv", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<2x4x2xf32> {base.name = "q", base.kind = "output"}, tensor<2x4x4xf32> {base.name = "v", base.kind = "output"}) {
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.reshape %0 {shape = array<i64: 2, 4, 6>} : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
  %2 = graph.slice %1 {start = array<i64: 0, 0, 0>, sizes = array<i64: 2, 4, 2>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x6xf32>) -> tensor<2x4x2xf32>
  %3 = graph.slice %1 {start = array<i64: 0, 0, 2>, sizes = array<i64: 2, 4, 4>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x6xf32>) -> tensor<2x4x4xf32>
  return %2, %3 : tensor<2x4x2xf32>, tensor<2x4x4xf32>
}

// A reshape that mixes columns with rows says nothing of columns.
// CHECK-LABEL: func.func @mixed
// CHECK: graph.slice
func.func @mixed(%x: tensor<8x4xf32> {base.name = "x", base.kind = "input"},
                 %w: tensor<4x6xf32> {base.name = "qkv", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<24x1xf32> {base.name = "q", base.kind = "output"}, tensor<24x1xf32> {base.name = "v", base.kind = "output"}) {
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.reshape %0 {shape = array<i64: 24, 2>} : (tensor<8x6xf32>) -> tensor<24x2xf32>
  %2 = graph.slice %1 {start = array<i64: 0, 0>, sizes = array<i64: 24, 1>, strides = array<i64: 1, 1>} : (tensor<24x2xf32>) -> tensor<24x1xf32>
  %3 = graph.slice %1 {start = array<i64: 0, 1>, sizes = array<i64: 24, 1>, strides = array<i64: 1, 1>} : (tensor<24x2xf32>) -> tensor<24x1xf32>
  return %2, %3 : tensor<24x1xf32>, tensor<24x1xf32>
}
