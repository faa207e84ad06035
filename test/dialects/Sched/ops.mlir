// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s
// RUN: gpucc-opt --emit-bytecode %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: sched.program @stage0
sched.program @stage0 attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  // CHECK: sched.buffer @x io 64 {slots = 2 : i64}
  sched.buffer @x io 64 {slots = 2 : i64}
  // CHECK: sched.buffer @t scratch 64
  sched.buffer @t scratch 64
  sched.buffer @y io 64
  // CHECK: sched.tensor "x" "input" <@x, 0, 64>
  sched.tensor "x" "input" <@x, 0, 64> {type = tensor<8x4xf32>, local = tensor<4x4xf32>, slots = 1 : i64,
    slices = [#base.slice<#base.rank_value<0, ["dp"], [4], 0, 0>, 4>, #base.slice<#base.rank_value<0, [], [], 0, 0>, 4>]}
  // CHECK: sched.initialize "c" <@y, 0, 64>
  sched.initialize "c" <@y, 0, 64> {value = dense<1.0> : tensor<16xf32>, slices = [], type = tensor<16xf32>}
  // CHECK: sched.segment @main {
  sched.segment @main {
    // CHECK: sched.launch @k [#base.view<@x, 0, 64>, #base.view<@t, 0, 64>] "rw"
    sched.launch @k [#base.view<@x, 0, 64>, #base.view<@t, 0, 64>] "rw" {name = "a"}
    // CHECK: sched.collective "all_reduce"
    sched.collective "all_reduce" {axes = ["dp"], reduce = "sum", type = f32, count = 16 : i64,
      input = #base.view<@t, 0, 64>, output = #base.view<@y, 0, 64>, name = "b"}
    // CHECK: sched.library_call "matmul"
    sched.library_call "matmul" [#base.operand<<@x, 0, 64>, tensor<4x4xf32>, []>, #base.operand<<@t, 0, 64>, tensor<4x4xf32>, [1, 4]>,
      #base.operand<<@y, 0, 64>, tensor<4x4xf32>, []>] config {math = "strict"} {name = "c"}
    // CHECK: sched.copy <@t, 0, 64> to <@y, 0, 64>
    sched.copy <@t, 0, 64> to <@y, 0, 64> {bytes = 64 : i64, name = "d"}
    // CHECK: sched.fill <@t, 0, 64>
    sched.fill <@t, 0, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "e"}
  }
  // CHECK: sched.script "main" [@main] [0]
  sched.script "main" [@main] [0]
}
