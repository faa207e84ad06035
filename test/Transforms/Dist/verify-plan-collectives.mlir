// RUN: gpucc-opt %s -split-input-file --gpucc-verify-plan-collectives -verify-diagnostics

// Both stages are right: the message is sent before it is received, the pair of each stage meets.
plan.program @stage0 attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @forward {
    plan.collective "all_reduce" {axes = ["dp"], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@a, 0, 16>, output = #base.view<@a, 0, 16>, name = "g"}
    plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@a, 0, 16>, peer_stage = 1 : i64, name = "x"}
  }
  plan.script "main" [@forward] [0]
}
plan.program @stage1 attributes {stage = 1 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @forward {
    plan.collective "recv" {axes = [], reduce = "sum", type = f32, count = 4 : i64, output = #base.view<@a, 0, 16>, peer_stage = 0 : i64, name = "x"}
  }
  plan.script "main" [@forward] [0]
}

// -----

// Stage 0's script runs backward first: it waits for a gradient whose activation it has not sent.
plan.program @stage0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @forward {
    plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@a, 0, 16>, peer_stage = 1 : i64, name = "x"}
  }
  plan.segment @backward {
    // expected-error @below {{the ranks wait for each other}}
    // expected-note @below {{rank 0 stands at its 1. communication, recv 'dx' of 4 f32 'dx', in segment @backward of @stage0}}
    // expected-note @below {{all members of a group must reach its collectives in the same order, and what is sent must be received}}
    plan.collective "recv" {axes = [], reduce = "sum", type = f32, count = 4 : i64, output = #base.view<@a, 0, 16>, peer_stage = 1 : i64, name = "dx"}
  }
  plan.script "main" [@backward, @forward] [0, 0]
}
plan.program @stage1 attributes {stage = 1 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @step {
    // expected-note @below {{rank 1 stands at its 1. communication, recv 'x' of 4 f32 'x', in segment @step of @stage1}}
    plan.collective "recv" {axes = [], reduce = "sum", type = f32, count = 4 : i64, output = #base.view<@a, 0, 16>, peer_stage = 0 : i64, name = "x"}
    plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@a, 0, 16>, peer_stage = 0 : i64, name = "dx"}
  }
  plan.script "main" [@step] [0]
}

// -----

// Two messages of one pair of stages change places.
plan.program @stage0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @forward {
    // expected-note @below {{rank 0 stands at its 1. communication, send 'x' of 4 f32}}
    plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@a, 0, 16>, peer_stage = 1 : i64, name = "x"}
    plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 2 : i64, input = #base.view<@a, 0, 8>, peer_stage = 1 : i64, name = "y"}
  }
  plan.script "main" [@forward] [0]
}
plan.program @stage1 attributes {stage = 1 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @forward {
    // expected-error @below {{rank 1 receives 2 f32 'y', rank 0 sent 4 f32 'x'}}
    // expected-note @below {{rank 1 stands at its 1. communication, recv 'y' of 2 f32}}
    // expected-note @below {{all members of a group}}
    plan.collective "recv" {axes = [], reduce = "sum", type = f32, count = 2 : i64, output = #base.view<@a, 0, 8>, peer_stage = 0 : i64, name = "y"}
    plan.collective "recv" {axes = [], reduce = "sum", type = f32, count = 4 : i64, output = #base.view<@a, 0, 16>, peer_stage = 0 : i64, name = "x"}
  }
  plan.script "main" [@forward] [0]
}

// -----

// Two messages of one size change places: by their channels, whatever they are called.
plan.program @stage0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @forward {
    // expected-note @below {{rank 0 stands at its 1. communication, send 'x' of 4 f32 on channel 0}}
    plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@a, 0, 16>, peer_stage = 1 : i64, channel = 0 : i64, name = "x"}
    plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@a, 0, 16>, peer_stage = 1 : i64, channel = 1 : i64, name = "x"}
  }
  plan.script "main" [@forward] [0]
}
plan.program @stage1 attributes {stage = 1 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @scratch 256
  plan.buffer @a in @scratch at 0 16
  plan.stream @compute "compute"
  plan.segment @forward {
    // expected-error @below {{rank 1 receives 4 f32 on channel 1, rank 0 sent 4 f32 on channel 0}}
    // expected-note @below {{rank 1 stands at its 1. communication, recv 'x' of 4 f32 on channel 1}}
    // expected-note @below {{all members of a group}}
    plan.collective "recv" {axes = [], reduce = "sum", type = f32, count = 4 : i64, output = #base.view<@a, 0, 16>, peer_stage = 0 : i64, channel = 1 : i64, name = "x"}
    plan.collective "recv" {axes = [], reduce = "sum", type = f32, count = 4 : i64, output = #base.view<@a, 0, 16>, peer_stage = 0 : i64, channel = 0 : i64, name = "x"}
  }
  plan.script "main" [@forward] [0]
}
