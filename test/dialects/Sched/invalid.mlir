// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) has -1 bytes and 1 slots; bytes are at least 0, slots at least 1}}
  sched.buffer @x io -1
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C2) a scratch buffer has 2 slots; only io and saved buffers have several}}
  sched.buffer @x scratch 4 {slots = 2 : i64}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C1) has 1 views and 2 access letters; give one of r, w, b per view}}
    sched.launch @k [#base.view<@x, 0, 4>] "rw" {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C1) access letter 'q' is not one of r, w, b}}
    sched.launch @k [#base.view<@x, 0, 4>] "q" {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C1) kind 'fft' is not matmul}}
    sched.library_call "fft" [] config {} {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C2) matmul takes 3 operands, found 0}}
    sched.library_call "matmul" [] config {} {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C1) the destination view holds 4 bytes; 1 rows of 8 bytes at pitch 0 need 8}}
    sched.copy <@x, 0, 8> to <@y, 0, 4> {bytes = 8 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C1) pattern_size is 4, the view has 6 bytes; use 1, 2, 4 or 8, dividing the bytes}}
    sched.fill <@x, 0, 6> {pattern = 0 : i64, pattern_size = 4 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C1) kind 'gossip' is not all_reduce}}
    sched.collective "gossip" {axes = ["dp"], reduce = "sum", type = f32, count = 1 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C2) all_reduce needs an input and an output}}
    sched.collective "all_reduce" {axes = ["dp"], reduce = "sum", type = f32, count = 1 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C3) give mesh axes to a collective, a peer stage to send and recv}}
    sched.collective "send" {axes = ["dp"], reduce = "sum", type = f32, count = 1 : i64, input = #base.view<@x, 0, 4>, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C2) role 'boss' is not input}}
  sched.tensor "x" "boss" <@x, 0, 4> {type = tensor<1xf32>, local = tensor<1xf32>, slices = []}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) has 1 slices for type 'tensor<1x2xf32>'; give none, or one per dimension}}
  sched.tensor "x" "input" <@x, 0, 8> {type = tensor<1x2xf32>, local = tensor<1x2xf32>,
    slices = [#base.slice<#base.rank_value<0, [], [], 0, 0>, 1>]}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) give either a value or the key of a weight}}
  sched.initialize "x" <@x, 0, 4> {slices = [], type = tensor<1xf32>}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) has 1 segments and 2 slots; give one slot per segment}}
  sched.script "main" [@s] [0, 1]
}
