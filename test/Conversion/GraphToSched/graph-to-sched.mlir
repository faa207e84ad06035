// RUN: gpucc-opt %s --gpucc-graph-to-sched -split-input-file | FileCheck %s

kernel.func @neg(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      %1 = arith.negf %0 : f32
      kernel.store %1, %y[%c] : memref<4xf32>
    }
  }
}

// A dying scratch operand gives its buffer to the result; the last result lies in the output.
// CHECK-LABEL: sched.program @stage0
// CHECK: sched.buffer @[[IN:in[0-9]+]] io 16
// CHECK: sched.buffer @[[OUT:out[0-9]+]] io 16
// CHECK: sched.buffer @[[T:t[0-9]+]] scratch 16
// CHECK-NOT: sched.buffer
// CHECK: sched.tensor "x" "input" <@[[IN]], 0, 16>
// CHECK: sched.tensor "y" "output" <@[[OUT]], 0, 16>
// CHECK: sched.segment @main
// CHECK: sched.launch @neg [#base.view<@[[IN]], 0, 16>, #base.view<@[[T]], 0, 16>] "rw"
// CHECK: sched.launch @neg [#base.view<@[[T]], 0, 16>, #base.view<@[[T]], 0, 16>] "rw"
// CHECK: sched.launch @neg [#base.view<@[[T]], 0, 16>, #base.view<@[[OUT]], 0, 16>] "rw"
// CHECK: sched.script "main" [@main] [0]
func.func @main(%x: tensor<4xf32> {base.name = "x", base.kind = "input"})
    -> (tensor<4xf32> {base.name = "y", base.kind = "output"}) {
  %0 = kernel.launch @neg(%x) {inplace = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.launch @neg(%0) {inplace = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = kernel.launch @neg(%1) {inplace = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

kernel.func @neg(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      %1 = arith.negf %0 : f32
      kernel.store %1, %y[%c] : memref<4xf32>
    }
  }
}

// The new state is computed before the old one's last reader: elsewhere first, copied at the end.
// A constant that fills a result is a fill.
// CHECK-LABEL: sched.program @stage0
// CHECK-DAG: sched.buffer @[[W:state[0-9]+]] state 16
// CHECK: sched.segment @update
// CHECK: sched.launch @neg [#base.view<@[[W]], 0, 16>, #base.view<@[[T:t[0-9]+]], 0, 16>] "rw"
// CHECK: sched.launch @neg [#base.view<@[[W]], 0, 16>, #base.view<@{{out[0-9]+}}, 0, 16>] "rw"
// CHECK: sched.copy <@[[T]], 0, 16> to <@[[W]], 0, 16>
// CHECK: sched.fill <@{{state[0-9]+}}, 0, 16> {name = "fill", pattern = 0 : i64, pattern_size = 4 : i64}
func.func @update(%w: tensor<4xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>},
                  %a: tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator>})
    -> (tensor<4xf32> {base.name = "w", base.kind = "state", base.alias = 0 : i64, base.state = #base.state<param>},
        tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.alias = 1 : i64, base.state = #base.state<accumulator>},
        tensor<4xf32> {base.name = "y", base.kind = "output"}) attributes {base.segment = "update"} {
  %0 = kernel.launch @neg(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.launch @neg(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.constant dense<0.0> : tensor<4xf32>
  return %0, %2, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

module attributes {graph.files = ["w.bin"]} {
  graph.weight_data @w {bytes = 64 : i64, file = 0 : i64, offset = 0 : i64} : tensor<4x4xf32>

  // A weight never changes, also under another shape: the library may keep it packed. State may.
  // CHECK-LABEL: sched.program @stage0
  // CHECK: sched.library_call "matmul" {{.*}} config {constant = array<i64: 1>, math = "strict"}
  // CHECK: sched.library_call "matmul" {{.*}} config {math = "strict"}
  func.func @main(%x: tensor<4x4xf32> {base.name = "x", base.kind = "input"},
                  %s: tensor<4x4xf32> {base.name = "s", base.kind = "state", base.state = #base.state<param>})
      -> (tensor<4x4xf32> {base.name = "y", base.kind = "output"}) {
    %w = graph.weight @w : tensor<4x4xf32>
    %v = graph.reshape %w {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32>
    %u = graph.reshape %v {shape = array<i64: 4, 4>} : (tensor<16xf32>) -> tensor<4x4xf32>
    %0 = graph.contract %x, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = graph.contract %0, %s {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}
