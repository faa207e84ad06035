// RUN: gpucc-opt %s --gpucc-sched-to-plan -split-input-file -verify-diagnostics | FileCheck %s

// Scratch buffers whose lives do not meet share bytes; the two live ones do not.
// CHECK-LABEL: plan.program @stage0
// CHECK: plan.arena @scratch 512
// CHECK-DAG: plan.buffer @a in @scratch at [[A:[0-9]+]] 64
// CHECK-DAG: plan.buffer @b in @scratch at [[B:[0-9]+]] 64
// CHECK-DAG: plan.buffer @c in @scratch at [[A]] 64
sched.program @stage0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x io 64
  sched.buffer @a scratch 64
  sched.buffer @b scratch 64
  sched.buffer @c scratch 64
  sched.segment @main {
    sched.launch @k [#base.view<@x, 0, 64>, #base.view<@a, 0, 64>] "rw" {name = "1"}
    sched.launch @k [#base.view<@a, 0, 64>, #base.view<@b, 0, 64>] "rw" {name = "2"}
    sched.launch @k [#base.view<@b, 0, 64>, #base.view<@c, 0, 64>] "rw" {name = "3"}
    sched.launch @k [#base.view<@c, 0, 64>, #base.view<@x, 0, 64>] "rw" {name = "4"}
  }
  sched.script "main" [@main] [0]
}

// -----

// A collective with work beside it runs on its own stream between two events; the reader waits.
// CHECK-LABEL: plan.program @stage0
// CHECK: plan.stream @compute "compute"
// CHECK: plan.stream @communication "communication"
// CHECK: plan.launch @k {{.*}} {name = "make"
// CHECK: plan.event_record 0 on 0
// CHECK-NEXT: plan.event_wait 0 on 1
// CHECK-NEXT: plan.collective "all_reduce" {{.*}}stream = 1
// CHECK-NEXT: plan.event_record 1 on 1
// CHECK: plan.launch @k {{.*}} {name = "beside"
// CHECK: plan.event_wait 1 on 0
// CHECK-NEXT: plan.launch @k {{.*}} {name = "use"
sched.program @stage0 attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  sched.buffer @x io 64
  sched.buffer @a scratch 64
  sched.buffer @b scratch 64
  sched.buffer @c scratch 64
  sched.segment @main {
    sched.launch @k [#base.view<@x, 0, 64>, #base.view<@a, 0, 64>] "rw" {name = "make"}
    sched.collective "all_reduce" {axes = ["dp"], reduce = "sum", type = f32, count = 16 : i64,
      input = #base.view<@a, 0, 64>, output = #base.view<@b, 0, 64>, name = "reduce"}
    sched.launch @k [#base.view<@x, 0, 64>, #base.view<@c, 0, 64>] "rw" {name = "beside"}
    sched.launch @k [#base.view<@b, 0, 64>, #base.view<@x, 0, 64>] "rw" {name = "use"}
  }
  sched.script "main" [@main] [0]
}

// -----

// Two profiles of one stage: what they share has one address, wherever each lists it.
// CHECK-LABEL: plan.program @p0
// CHECK: plan.buffer @w1 in @weights at 256 64
// CHECK-LABEL: plan.program @p1
// CHECK: plan.buffer @w9 in @weights at 256 64
sched.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @w0 weight 64
  sched.buffer @w1 weight 64
  sched.initialize "one" <@w0, 0, 64> {value = dense<1.0> : tensor<16xf32>, slices = [], type = tensor<16xf32>}
  sched.initialize "two" <@w1, 0, 64> {value = dense<2.0> : tensor<16xf32>, slices = [], type = tensor<16xf32>}
}
sched.program @p1 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @w9 weight 64
  sched.initialize "two" <@w9, 0, 64> {value = dense<2.0> : tensor<16xf32>, slices = [], type = tensor<16xf32>}
}

// -----

// What is shared is told by kind, name and role: a state and a weight of one name, and a buffer of which nothing
// is said, have places of their own.
// CHECK-LABEL: plan.program @p0
// CHECK-DAG: plan.buffer @s0 in @state at 0 64
// CHECK-DAG: plan.buffer @s1 in @state at 256 64
// CHECK-DAG: plan.buffer @quiet in @state at 512 64
// CHECK-LABEL: plan.program @p1
// CHECK-DAG: plan.buffer @s9 in @state at 256 64
// CHECK-DAG: plan.buffer @quiet in @state at 768 64
sched.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @s0 state 64
  sched.buffer @s1 state 64
  sched.buffer @quiet state 64
  sched.tensor "w" "parameter" <@s0, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []}
  sched.tensor "w" "statistic" <@s1, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []}
}
sched.program @p1 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @s9 state 64
  sched.buffer @quiet state 64
  sched.tensor "w" "statistic" <@s9, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []}
}

// -----

sched.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-note @below {{the stage's other profile has it in 64 bytes; profiles share state and weights, which have one size}}
  sched.buffer @s0 state 64
  sched.tensor "w" "parameter" <@s0, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []}
}
sched.program @p1 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{holds ["w", "parameter"] in 128 bytes}}
  sched.buffer @s0 state 128
  sched.tensor "w" "parameter" <@s0, 0, 128> {type = tensor<32xf32>, local = tensor<32xf32>, slices = []}
}
