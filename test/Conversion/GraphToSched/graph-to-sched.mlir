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

// -----

// Channels innermost are strides; bias and post-ops are part of the call, and so are their buffers.
// CHECK-LABEL: sched.program @stage0
// CHECK: sched.library_call "conv" [#base.operand<<@[[X:in[0-9]+]], 0, 96>, tensor<1x2x3x4xf32>, [24, 1, 8, 2]>,
// CHECK-SAME: tensor<2x2x1x1xf32>, []>, #base.operand<<@{{out[0-9]+}}, 0, 96>, tensor<1x2x3x4xf32>, [24, 1, 8, 2]>]
// CHECK-SAME: bias = #base.operand<<@{{in[0-9]+}}, 0, 8>, tensor<2xf32>, []>
// CHECK-SAME: post_ops = [{kind = "add_operand", operand = #base.operand<<@[[X]], 0, 96>, tensor<1x2x3x4xf32>, [24, 1, 8, 2]>}, {alpha = -1.000000e+00 : f64, beta = 0x7FF0000000000000 : f64, kind = "clip"}]
func.func @main(%x: tensor<1x3x4x2xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<2x2x1x1xf32> {base.name = "w", base.kind = "input"},
                %b: tensor<2xf32> {base.name = "b", base.kind = "input"})
    -> (tensor<1x3x4x2xf32> {base.name = "y", base.kind = "output"}) {
  %0 = graph.cluster library (%p = %x : tensor<1x3x4x2xf32>, %q = %w : tensor<2x2x1x1xf32>, %r = %b : tensor<2xf32>) -> tensor<1x3x4x2xf32> {
    %c = graph.constant dense<-1.0> : tensor<1x3x4x2xf32>
    %1 = graph.convolution %p, %q {channels_last, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x3x4x2xf32>
    %2 = graph.broadcast %r {shape = array<i64: 1, 3, 4, 2>, dims = array<i64: 3>} : (tensor<2xf32>) -> tensor<1x3x4x2xf32>
    %3 = graph.binary add %1, %2 : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    %4 = graph.binary add %3, %p : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    %5 = graph.binary max %4, %c : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    graph.yield %5 : tensor<1x3x4x2xf32>
  }
  return %0 : tensor<1x3x4x2xf32>
}

// -----

// A factor and the shift behind it are one post-op; two of these, which may overflow or round between, are not.
// CHECK-LABEL: sched.program @stage0
// CHECK: post_ops = [{alpha = 3.000000e+00 : f64, beta = 4.000000e+00 : f64, kind = "linear"}, {alpha = 2.000000e+00 : f64, beta = 5.000000e+00 : f64, kind = "linear"}]
func.func @main(%x: tensor<1x3x4x2xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<2x2x1x1xf32> {base.name = "w", base.kind = "input"})
    -> (tensor<1x3x4x2xf32> {base.name = "y", base.kind = "output"}) {
  %0 = graph.cluster library (%p = %x : tensor<1x3x4x2xf32>, %q = %w : tensor<2x2x1x1xf32>) -> tensor<1x3x4x2xf32> {
    %two = graph.constant dense<2.0> : tensor<1x3x4x2xf32>
    %three = graph.constant dense<3.0> : tensor<1x3x4x2xf32>
    %four = graph.constant dense<4.0> : tensor<1x3x4x2xf32>
    %five = graph.constant dense<5.0> : tensor<1x3x4x2xf32>
    %1 = graph.convolution %p, %q {channels_last, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x3x4x2xf32>
    %2 = graph.binary mul %1, %three : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    %3 = graph.binary add %2, %four : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    %4 = graph.binary mul %3, %two : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    %5 = graph.binary add %4, %five : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    graph.yield %5 : tensor<1x3x4x2xf32>
  }
  return %0 : tensor<1x3x4x2xf32>
}
