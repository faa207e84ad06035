// RUN: gpucc-opt %s -split-input-file --gpucc-verify-phase-sched -verify-diagnostics

kernel.func @neg(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.store %0, %y[%c] : memref<4xf32>
    }
  }
}
sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x io 16
  sched.buffer @t scratch 16
  sched.segment @main {
    sched.launch @neg [#base.view<@x, 0, 16>, #base.view<@t, 0, 16>] "rw" {name = "a"}
    sched.launch @neg [#base.view<@t, 0, 16>, #base.view<@x, 0, 16>] "rw" {name = "b"}
  }
  sched.script "main" [@main] [0]
}

// -----

// expected-error @below {{is left in the sched phase}}
// expected-note @below {{gpucc-graph-to-sched makes a segment of every function}}
func.func @main() { return }

// -----

// expected-note @below {{the kernel takes views}}
kernel.func @neg(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.store %0, %y[%c] : memref<4xf32>
    }
  }
}
sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x io 16
  sched.segment @main {
    // expected-error @below {{(C3) gives kernel @neg 2 views of other sizes or number than it takes}}
    sched.launch @neg [#base.view<@x, 0, 16>, #base.view<@x, 0, 8>] "rw" {name = "a"}
  }
  sched.script "main" [@main] [0]
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @w weight 16
  // expected-error @below {{(C4) begins with weight @nowhere, which is no graph.weight_data of the module}}
  sched.initialize "w" <@w, 0, 16> {key = @nowhere, slices = [], type = tensor<4xf32>}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x io 16
  sched.segment @main {
    // expected-error @below {{(C7) is between stage 0 and stage 1; the module has stages 0 to 0}}
    sched.collective "send" {axes = [], reduce = "sum", type = f32, count = 4 : i64, input = #base.view<@x, 0, 16>, peer_stage = 1 : i64, name = "a"}
  }
}

// -----

// expected-error @below {{(C4) is stage 1, and there is no stage 0; stages count up from 0 without gaps}}
sched.program @p attributes {stage = 1 : i64, mesh = [], mesh_shape = array<i64>} {}

// -----

// expected-note @below {{programs of a stage have one mesh, stages have equally many ranks; compare this one}}
sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {}
// expected-error @below {{(C3) has a mesh of ["dp"] = [4]}}
sched.program @q attributes {stage = 1 : i64, mesh = ["dp"], mesh_shape = array<i64: 4>} {}

// -----

// expected-error @below {{has no script "main": nothing would run it}}
// expected-note @below {{gpucc-graph-to-sched writes the scripts of a program}}
sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x io 16
  // expected-note @below {{scratch is empty when a segment begins}}
  sched.buffer @t scratch 16
  sched.segment @main {
    // expected-error @below {{reads scratch buffer @t before anything in the segment writes it}}
    sched.copy <@t, 0, 16> to <@x, 0, 16> {bytes = 16 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-note @below {{scratch lives inside one segment: make it saved}}
  sched.buffer @t scratch 16
  sched.segment @forward {
    sched.fill <@t, 0, 16> {pattern = 0 : i64, pattern_size = 4 : i64, name = "a"}
  }
  sched.segment @backward {
    // expected-error @below {{touches scratch buffer @t, which segment @forward uses too}}
    sched.fill <@t, 0, 16> {pattern = 0 : i64, pattern_size = 4 : i64, name = "a"}
  }
}
