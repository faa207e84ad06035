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

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(V1) touches @x, which the program does not declare; declare it as a buffer of the program}}
    sched.fill <@x, 0, 4> {pattern = 0 : i64, pattern_size = 4 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(V1) touches @s, which is no buffer}}
    sched.fill <@s, 0, 4> {pattern = 0 : i64, pattern_size = 4 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-note @below {{the buffer is declared here; a view lies inside one slot}}
  sched.buffer @x io 64 {slots = 2 : i64}
  sched.segment @s {
    // expected-error @below {{(V2) touches bytes [32, 96) of buffer @x, which has 64}}
    sched.launch @k [#base.view<@x, 32, 64>] "w" {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-note @below {{the buffer is declared here}}
  sched.buffer @x io 64
  // expected-error @below {{(V2) touches bytes [-4, 4) of buffer @x, which has 64}}
  sched.initialize "c" <@x, -4, 8> {value = dense<1.0> : tensor<2xf32>, slices = [], type = tensor<2xf32>}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  sched.buffer @x weight 8
  // expected-error @below {{(V3) depends on the rank along axis "tp"; the program's mesh has ["dp"]}}
  sched.rank_constant <0, ["tp"], [4], 0, 0> <@x, 0, 8>
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  sched.buffer @x io 16
  // expected-error @below {{(V3) depends on the rank along axis "tp"; the program's mesh has ["dp"]}}
  sched.tensor "x" "input" <@x, 0, 16> {type = tensor<8xf32>, local = tensor<4xf32>,
    slices = [#base.slice<#base.rank_value<0, ["tp"], [4], 0, 0>, 4>]}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C2) scalar 1.000000e+00 : f32 is neither an integer nor a #base.rank_value}}
    sched.launch @k [] "" {name = "a", scalars = [1.0 : f32]}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C3) operand 0 is 'tensor<2x2xf32>' with 1 strides; give a static tensor of numbers, and one stride per dimension or none}}
    sched.library_call "reorder" [#base.operand<<@x, 0, 16>, tensor<2x2xf32>, [1]>, #base.operand<<@y, 0, 16>, tensor<2x2xf32>, []>] config {} {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C3) operand 1 needs 20 bytes for 'tensor<2x2xf32>' with strides [3, 1]; its view holds 16}}
    sched.library_call "reorder" [#base.operand<<@x, 0, 16>, tensor<2x2xf32>, []>, #base.operand<<@y, 0, 16>, tensor<2x2xf32>, [3, 1]>] config {} {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // expected-error @below {{(C4) config entry 'math' = "fast"; allowed are i64 arrays strides}}
    sched.library_call "reorder" [#base.operand<<@x, 0, 16>, tensor<4xf32>, []>, #base.operand<<@y, 0, 16>, tensor<4xf32>, []>] config {math = "fast"} {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  sched.segment @s {
    // expected-error @below {{(C4) reduces 'f32' by 'median'; give a type of numbers, and sum, max, min or mean}}
    sched.collective "all_reduce" {axes = ["dp"], reduce = "median", type = f32, count = 1 : i64, input = #base.view<@x, 0, 4>, output = #base.view<@x, 0, 4>, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  sched.buffer @x scratch 4
  sched.segment @s {
    // expected-error @below {{(C5) runs over axis "tp"; the program's mesh has ["dp"]}}
    sched.collective "all_reduce" {axes = ["tp"], reduce = "sum", type = f32, count = 1 : i64, input = #base.view<@x, 0, 4>, output = #base.view<@x, 0, 4>, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  sched.buffer @x scratch 8
  sched.segment @s {
    // expected-error @below {{(C6) the output view has 4 bytes; all_gather of count 1 among 2 members moves 8 bytes there}}
    sched.collective "all_gather" {axes = ["dp"], reduce = "sum", type = f32, count = 1 : i64, input = #base.view<@x, 0, 4>, output = #base.view<@x, 4, 4>, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C3) is 'tensor<4xf32>', of which 1 slots of 'tensor<4xi32>' lie in 16 bytes}}
  sched.tensor "x" "input" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xi32>, slices = []}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C3) is 'tensor<4xf32>', of which 1 slots of 'tensor<4xf32>' lie in 8 bytes}}
  sched.tensor "x" "input" <@x, 0, 8> {type = tensor<4xf32>, local = tensor<4xf32>, slices = []}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C4) has 2 names of dimensions for 'tensor<4xf32>'; give one per dimension}}
  sched.tensor "x" "input" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xf32>, slices = [], dims = ["a", "b"]}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C5) is the part of shape [4] at [6] of a saved tensor of shape [8]; name the saved tensor, and give a shape and a base that hold it}}
  sched.tensor "x" "parameter" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xf32>, slices = [],
    source_name = "w", source_shape = array<i64: 8>, source_base = array<i64: 6>}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2>} {
  sched.buffer @x state 16
  // expected-error @below {{(C6) is partial over axis "tp"; the program's mesh has ["dp"]}}
  sched.tensor "x" "gradient_accumulator" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xf32>, slices = [], partial_axes = ["pp", "tp"]}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C2) writes 'tensor<4xf32>' into 8 bytes; give a static tensor of numbers and a view that holds it}}
  sched.initialize "x" <@x, 0, 8> {value = dense<1.0> : tensor<4xf32>, slices = [], type = tensor<4xf32>}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C3) has 2 slices for type 'tensor<4xf32>'; give none, or one per dimension}}
  sched.initialize "x" <@x, 0, 16> {value = dense<1.0> : tensor<4xf32>, slices = [1, 2], type = tensor<4xf32>}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) writes an i64 into 4 bytes; give it a view of 8}}
  sched.rank_constant <0, [], [], 0, 0> <@x, 0, 4>
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C2) runs @s, which is no segment of the program; name one as @segment}}
  sched.script "main" [@s] [0]
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {}
  // expected-error @below {{(C2) runs "s", which is no segment of the program}}
  sched.script "main" ["s"] [0]
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {}
  // expected-error @below {{(C1) has 1 segments and 1 slots; give one slot per segment, counted from 0}}
  sched.script "main" [@s] [-1]
}

// -----

// expected-error @below {{(C1) has a mesh of axes ["dp"] with sizes [2, 2]; give one size of at least 1 per axis, and each axis once}}
sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 2, 2>} {}

// -----

// expected-error @below {{(C2) is stage -1; stages count from 0}}
sched.program @p attributes {stage = -1 : i64, mesh = [], mesh_shape = array<i64>} {}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) has 4611686018427387904 bytes and 2 slots; bytes are at least 0, slots at least 1, together less than 2^63 bytes}}
  sched.buffer @x io 4611686018427387904 {slots = 2 : i64}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // Rows 2^62 bytes apart: four of them end beyond 2^63.
    // expected-error @below {{(C1) the source view holds 64 bytes; 5 rows of 8 bytes at pitch 4611686018427387904 are no piece of memory}}
    sched.copy <@x, 0, 64> to <@y, 0, 64> {bytes = 8 : i64, rows = 5 : i64, source_pitch = 4611686018427387904 : i64, destination_pitch = 8 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // The second row would begin before the view.
    // expected-error @below {{(C1) the source view holds 64 bytes; 2 rows of 8 bytes at pitch -8 are no piece of memory}}
    sched.copy <@x, 0, 64> to <@y, 0, 64> {bytes = 8 : i64, rows = 2 : i64, source_pitch = -8 : i64, destination_pitch = 8 : i64, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.segment @s {
    // 2^62 elements of 4 bytes are 2^64 bytes.
    // expected-error @below {{(C3) operand 1 needs no number of bytes for 'tensor<3xf32>' with strides [2305843009213693952]; its view holds 16}}
    sched.library_call "reorder" [#base.operand<<@x, 0, 16>, tensor<3xf32>, []>, #base.operand<<@y, 0, 16>, tensor<3xf32>, [2305843009213693952]>] config {} {name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = ["dp"], mesh_shape = array<i64: 4>} {
  sched.buffer @x scratch 16
  sched.segment @s {
    // (2^62 + 1) elements of 4 bytes wrap to 4 bytes, four times as many to 16: both would fit.
    // expected-error @below {{(C6) the input view has 4 bytes; all_gather of count 4611686018427387905 among 4 members moves no number of bytes that an i64 holds}}
    sched.collective "all_gather" {axes = ["dp"], reduce = "sum", type = f32, count = 4611686018427387905 : i64, output = #base.view<@x, 0, 16>, input = #base.view<@x, 0, 4>, name = "a"}
  }
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // 2^63 - 4 + 4 elements
  // expected-error @below {{(C5) is the part of shape [4] at [9223372036854775804] of a saved tensor of shape [8]}}
  sched.tensor "x" "parameter" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xf32>, slices = [],
    source_name = "w", source_shape = array<i64: 8>, source_base = array<i64: 9223372036854775804>}
}

// -----

// expected-error @below {{(C1) has a mesh of axes ["dp", "tp"] with sizes [4294967296, 4294967296]; give one size of at least 1 per axis, and each axis once, for at most 2147483648 ranks}}
sched.program @p attributes {stage = 0 : i64, mesh = ["dp", "tp"], mesh_shape = array<i64: 4294967296, 4294967296>} {}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x scratch 16
  // expected-error @below {{(C8) is a 'output' of rank 1 with 1 slots whose dimension 1 varies, counted by 'n'; give an output in one piece, one of its dimensions and the name of its count}}
  sched.tensor "x" "output" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xf32>, slices = [],
    varying_dim = 1 : i64, count = "n"}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x scratch 16
  // expected-error @below {{(C8) is a 'input' of rank 1}}
  sched.tensor "x" "input" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xf32>, slices = [],
    varying_dim = 0 : i64, count = "n"}
}

// -----

sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @x scratch 16
  // expected-error @below {{(C8) is a 'output' of rank 1 with 1 slots whose dimension 0 varies, counted by ''}}
  sched.tensor "x" "output" <@x, 0, 16> {type = tensor<4xf32>, local = tensor<4xf32>, slices = [], varying_dim = 0 : i64}
}
