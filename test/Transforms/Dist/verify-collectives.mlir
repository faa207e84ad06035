// RUN: gpucc-opt %s -split-input-file --gpucc-verify-collectives -verify-diagnostics
// RUN: gpucc-opt %S/Inputs/mlp.mlir --gpucc-propagate="pp=2 dp=2 tp=2 zero=1 micro-batches=4" --gpucc-cut-stages="micro-batches=4" --gpucc-partition --gpucc-verify-collectives | FileCheck %s

// CHECK: dist.mesh @mesh <["pp" = 2, "dp" = 2, "tp" = 2]>

// The two stages reduce in opposite order.
dist.mesh @mesh <["pp" = 2]>
func.func @stage0_update(%a: tensor<4xf32>, %b: tensor<4xf32>) attributes {dist.stage = 0 : i64} {
  // expected-error @below {{ranks 0 and 1 meet with different collectives: dist.all_reduce of tensor<4xf32> (sum) on channel 0 and dist.all_reduce of tensor<4xf32> (sum) on channel 1}}
  // expected-note @below {{rank 0 stands at its 1. communication, dist.all_reduce}}
  // expected-note @below {{all members of a group must reach its collectives in the same order}}
  %0 = dist.all_reduce sum %a on @mesh over ["pp"] channel 0 : tensor<4xf32>
  %1 = dist.all_reduce sum %b on @mesh over ["pp"] channel 1 : tensor<4xf32>
  return
}
func.func @stage1_update(%a: tensor<4xf32>, %b: tensor<4xf32>) attributes {dist.stage = 1 : i64} {
  // expected-note @below {{rank 1 stands at its 1. communication, dist.all_reduce}}
  %0 = dist.all_reduce sum %b on @mesh over ["pp"] channel 1 : tensor<4xf32>
  %1 = dist.all_reduce sum %a on @mesh over ["pp"] channel 0 : tensor<4xf32>
  return
}

// -----
// Both receive before they send.
dist.mesh @mesh <["pp" = 2]>
func.func @stage0_step(%a: tensor<4xf32>) attributes {dist.stage = 0 : i64} {
  // expected-error @below {{the ranks wait for each other}}
  // expected-note @below {{rank 0 stands at its 1. communication, dist.recv}}
  // expected-note @below {{all members of a group must reach its collectives in the same order}}
  %0 = dist.recv from 1 channel 1 : tensor<4xf32>
  dist.send %a to 1 channel 0 : tensor<4xf32>
  return
}
func.func @stage1_step(%a: tensor<4xf32>) attributes {dist.stage = 1 : i64} {
  // expected-note @below {{rank 1 stands at its 1. communication, dist.recv}}
  %0 = dist.recv from 0 channel 0 : tensor<4xf32>
  dist.send %a to 0 channel 1 : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["pp" = 2]>
func.func @stage0_step(%a: tensor<4xf32>) attributes {dist.stage = 0 : i64} {
  // expected-error @below {{rank 0 sends to rank 1 on channel 0 what is never received}}
  // expected-note @below {{rank 0 stands at its 1. communication, dist.send}}
  // expected-note @below {{all members of a group must reach its collectives in the same order}}
  dist.send %a to 1 channel 0 : tensor<4xf32>
  return
}
func.func @stage1_step() attributes {dist.stage = 1 : i64} { return }

// -----
// expected-error @below {{'dist.scripts' has 0 entries for 2 stages; gpucc-cut-stages writes one per stage}}
module attributes {dist.scripts = []} {
  dist.mesh @mesh <["pp" = 2]>
  func.func @stage0_step() attributes {dist.stage = 0 : i64} { return }
}
