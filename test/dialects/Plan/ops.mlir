// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: plan.program @stage0
plan.program @stage0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // CHECK: plan.arena @scratch 1024 {persistent}
  plan.arena @scratch 1024 {persistent}
  // CHECK: plan.buffer @t in @scratch at 256 64 {slot_stride = 256 : i64, slots = 2 : i64}
  plan.buffer @t in @scratch at 256 64 {slots = 2 : i64, slot_stride = 256 : i64}
  // CHECK: plan.stream @compute "compute"
  plan.stream @compute "compute"
  // CHECK: plan.stream @communication "communication"
  plan.stream @communication "communication"
  plan.segment @main {
    // CHECK: plan.launch @k [#base.view<@t, 0, 64>] "b" {name = "a", stream = 1 : i64}
    plan.launch @k [#base.view<@t, 0, 64>] "b" {name = "a", stream = 1 : i64}
    // CHECK: plan.event_record 0 on 1
    plan.event_record 0 on 1
    // CHECK: plan.event_wait 0 on 0
    plan.event_wait 0 on 0
  }
  plan.script "main" [@main] [0]
}
