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

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-error @below {{(C1) has kind 'copy'; allowed are compute and communication}}
  plan.stream @s "copy"
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(S1) runs on stream 1; the program declares 1: add a plan.stream, or use one of them}}
    plan.launch @k [#base.view<@t, 0, 64>] "w" {name = "a", stream = 1 : i64}
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(V1) touches @u, which the program does not declare}}
    plan.launch @k [#base.view<@u, 0, 64>] "w" {name = "a", stream = 0 : i64}
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  // expected-note @below {{the buffer is declared here}}
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(V2) touches bytes [0, 128) of buffer @t, which has 64}}
    plan.launch @k [#base.view<@t, 0, 128>] "w" {name = "a", stream = 0 : i64}
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(C1) has event -1; events are numbered from 0 to 1048575}}
    plan.event_record -1 on 0
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(S1) runs on stream 3; the program declares 1}}
    plan.event_record 0 on 3
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(C2) waits for event 0, which no command before it in the segment records}}
    plan.event_wait 0 on 0
    plan.event_record 0 on 0
  }
}

// -----

// 2^63 - 8 + 64 is no i64: it may not wrap to a small number.
plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  // expected-note @below {{the buffer is declared here}}
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s {
    // expected-error @below {{(V2) touches 64 bytes from byte 9223372036854775800 on of buffer @t, which has 64}}
    plan.launch @k [#base.view<@t, 9223372036854775800, 64>] "w" {name = "a", stream = 0 : i64}
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-note @below {{the arena is declared here}}
  plan.arena @a 256
  // 2^63 - 256 + 512
  // expected-error @below {{(C2) with 1 slots of 512 bytes at offset 9223372036854775552 and slot_stride 0 is no part of arena @a, which has 256}}
  plan.buffer @t in @a at 9223372036854775552 512
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  // expected-note @below {{the arena is declared here}}
  plan.arena @a 256
  // 2^56 slots 256 bytes apart are 2^64 bytes.
  // expected-error @below {{(C2) with 72057594037927937 slots of 64 bytes at offset 0 and slot_stride 256 is no part of arena @a}}
  plan.buffer @t in @a at 0 64 {slots = 72057594037927937 : i64, slot_stride = 256 : i64}
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @r { plan.event_record 0 on 0 }
  plan.segment @s {
    // expected-error @below {{(C2) waits for event 0, which no command before it in the segment records}}
    plan.event_wait 0 on 0
  }
}

// -----

plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.stream @compute "compute"
  plan.segment @s {
    plan.event_record 0 on 0
    // expected-error @below {{(S1) runs on stream 1; the program declares 1}}
    plan.event_wait 0 on 1
  }
}
