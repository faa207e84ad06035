// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) has -4 bytes; at least 0 are allowed}}
  plan.arena @a -4
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) lies in arena @b, which the program does not have; declare it with plan.arena}}
  plan.buffer @t in @b at 0 4
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-note @below {{the arena is declared here}}
  plan.arena @a 256
  // expected-error @below {{(C2) ends at byte 260 of arena @a, which has 256}}
  plan.buffer @t in @a at 256 4
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 512
  // expected-error @below {{(C3) has offset 8 and slot_stride 0; both are multiples of 256}}
  plan.buffer @t in @a at 8 4
}
