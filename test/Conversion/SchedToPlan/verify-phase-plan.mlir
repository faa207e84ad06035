// RUN: gpucc-opt %s -split-input-file --gpucc-verify-phase-plan -verify-diagnostics

kernel.func @neg(%x: memref<16xf32>, %y: memref<16xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (16) {
      %0 = kernel.load %x[%c] : memref<16xf32>
      kernel.store %0, %y[%c] : memref<16xf32>
    }
  }
}
// Right: the collective starts behind what it reads, and is waited for.
plan.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  plan.buffer @y in @a at 256 64
  plan.stream @compute "compute"
  plan.stream @communication "communication"
  plan.segment @s {
    plan.launch @neg [#base.view<@y, 0, 64>, #base.view<@x, 0, 64>] "rw" {name = "make"}
    plan.event_record 0 on 0
    plan.event_wait 0 on 1
    plan.collective "all_reduce" {axes = ["dp"], reduce = "sum", type = f32, count = 16 : i64, input = #base.view<@x, 0, 64>, output = #base.view<@x, 0, 64>, name = "r", stream = 1 : i64}
    plan.event_record 1 on 1
    plan.event_wait 1 on 0
    plan.launch @neg [#base.view<@x, 0, 64>, #base.view<@y, 0, 64>] "rw" {name = "use"}
  }
}

// -----

// expected-error @below {{is left in the plan phase}}
// expected-note @below {{gpucc-sched-to-plan gives its buffers addresses}}
sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {}

// -----

// The wait of the reader is missing. Other buffers, the same bytes of the arena.
plan.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  plan.buffer @z in @a at 0 512
  plan.stream @compute "compute"
  plan.stream @communication "communication"
  plan.segment @s {
    // expected-note @below {{this is the other one (buffer @x, here @z): record an event behind it and wait for it}}
    plan.collective "all_reduce" {axes = ["dp"], reduce = "sum", type = f32, count = 16 : i64, input = #base.view<@x, 0, 64>, output = #base.view<@x, 0, 64>, name = "r", stream = 1 : i64}
    plan.event_record 1 on 1
    // expected-error @below {{touches bytes [32, 64) of arena @a beside a command of stream 1, and no event orders the two}}
    plan.fill <@z, 32, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "use", stream = 0 : i64}
    plan.event_wait 1 on 0
  }
}

// -----

// Nobody waits for the collective.
plan.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  plan.stream @compute "compute"
  plan.stream @communication "communication"
  plan.segment @s {
    // expected-error @below {{may still run when the segment ends: stream 0 does not wait for it}}
    // expected-note @below {{gpucc-sched-to-plan records an event behind it and lets stream 0 wait}}
    plan.collective "all_reduce" {axes = ["dp"], reduce = "sum", type = f32, count = 16 : i64, input = #base.view<@x, 0, 64>, output = #base.view<@x, 0, 64>, name = "r", stream = 1 : i64}
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(C3) runs kernel @nobody, which the module does not have}}
    plan.launch @nobody [#base.view<@x, 0, 64>] "w" {name = "a"}
  }
}

// -----

// expected-note @below {{profiles of a stage share arenas: declare the same ones, in the same order}}
plan.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.arena @b 512
}
// expected-error @below {{(C5) does not have the arenas of the stage's first program}}
plan.program @p1 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @b 512
  plan.arena @a 512
}

// -----

plan.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  // expected-note @below {{here it is tensor<16xf32>; one name and role is one tensor in all programs}}
  plan.tensor "w" "parameter" <@x, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []}
}
plan.program @p1 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  // expected-error @below {{(C7) 'w' is tensor<16xi32>}}
  plan.tensor "w" "parameter" <@x, 0, 64> {type = tensor<16xi32>, local = tensor<16xi32>, slices = []}
}

// -----

plan.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  // expected-note @below {{here it has array<i64: 32>; one name and role is one tensor in all programs}}
  plan.tensor "w" "parameter" <@x, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = [],
    source_name = "all", source_shape = array<i64: 32>, source_base = array<i64: 0>}
}
plan.program @p1 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  // expected-error @below {{(C7) 'w' has source_shape array<i64: 48>}}
  plan.tensor "w" "parameter" <@x, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = [],
    source_name = "all", source_shape = array<i64: 48>, source_base = array<i64: 0>}
}

// -----

// The types are equal; what is told is what differs.
plan.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  // expected-note @below {{here it has none; one name and role}}
  plan.tensor "w" "parameter" <@x, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []}
}
plan.program @p1 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  // expected-error @below {{(C7) 'w' has source_name "all"}}
  plan.tensor "w" "parameter" <@x, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = [], source_name = "all"}
}

// -----

// What counts is an i64 scalar of that role.
plan.program @p0 attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  plan.buffer @x in @a at 0 64
  plan.buffer @n in @a at 256 8
  // expected-error @below {{(C9) 'y' is counted by 'n', which is no i64 scalar of role count; declare one}}
  plan.tensor "y" "output" <@x, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = [],
    varying_dim = 0 : i64, count = "n"}
  plan.tensor "n" "output" <@n, 0, 8> {type = tensor<i64>, local = tensor<i64>, slices = []}
}
