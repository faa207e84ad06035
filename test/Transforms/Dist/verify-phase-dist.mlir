// RUN: gpucc-opt %s -split-input-file --gpucc-verify-phase-dist -verify-diagnostics
// RUN: gpucc-opt %S/Inputs/mlp.mlir --gpucc-propagate="pp=2 dp=2 tp=2 zero=1 micro-batches=4" --gpucc-cut-stages="micro-batches=4" --gpucc-partition --gpucc-lower-stage-reductions --gpucc-prepare-collectives --gpucc-verify-phase-dist | FileCheck %s

// CHECK: dist.mesh @mesh <["pp" = 2, "dp" = 2, "tp" = 2]>

dist.mesh @mesh <["dp" = 2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{is between global values; a rank's program has collectives}}
  // expected-note @below {{gpucc-partition should have removed it}}
  %0 = dist.reshard %x on @mesh from <[{} ]> to <[{"dp"} ]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

dist.mesh @mesh <["dp" = 2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{is a pin; pins end with propagation}}
  // expected-note @below {{gpucc-propagate should have removed it}}
  %0 = dist.constraint %x on @mesh <[{"dp"} ]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has a sharding: its types are global}}
  // expected-note @below {{gpucc-partition should have removed it}}
  %0 = graph.unary neg %x {dist.sharding = [#dist.sharding<[{"dp"} ]>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

dist.mesh @mesh <["pp" = 2]>
func.func @stage0_update(%x: tensor<8xf32>) attributes {dist.stage = 0 : i64} {
  // expected-error @below {{reduces between stages; communicators join two of them}}
  // expected-note @below {{gpucc-lower-stage-reductions should have removed it}}
  %0 = dist.all_reduce sum %x on @mesh over ["pp"] channel 0 : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["tp" = 2]>
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{joins or splits blocks along an inner dimension}}
  // expected-note @below {{gpucc-prepare-collectives should have removed it}}
  %0 = dist.all_gather %x on @mesh over ["tp"] dim 1 : tensor<4x4xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @stage0_forward(%x: tensor<4xf32>) -> (tensor<4xf32> {dist.saved = 0 : i64}) attributes {dist.stage = 0 : i64} {
  return %x : tensor<4xf32>
}
// expected-error @below {{reads saved value 0 of type 'tensor<8xf32>', which no function of its stage saves as such}}
// expected-note @below {{gpucc-cut-stages gives the result that saves and the argument that reads one key and one type}}
func.func @stage0_backward(%x: tensor<8xf32> {dist.saved = 0 : i64}) attributes {dist.stage = 0 : i64} { return }

// -----

// expected-error @below {{the script of stage 0 runs @stage1_step, which is no function of that stage}}
module attributes {dist.scripts = [[#dist.action<@stage1_step, 0, slot = 0>], []]} {
  func.func @stage1_step() attributes {dist.stage = 1 : i64} { return }
}

// -----

// expected-error @below {{'dist.scripts' has 0 entries for 2 stages; gpucc-cut-stages writes one per stage}}
module attributes {dist.scripts = []} {
  dist.mesh @mesh <["pp" = 2]>
}

// -----

// expected-error @below {{'dist.slots' has 1 entries for 2 stages; gpucc-cut-stages writes one per stage}}
module attributes {dist.scripts = [[], []], dist.slots = [1]} {
  dist.mesh @mesh <["pp" = 2]>
}

// -----

module attributes {dist.scripts = [[], []]} {
  dist.mesh @mesh <["pp" = 2]>
  // expected-error @below {{is of stage 2; the mesh has stages 0 to 1}}
  func.func @stage2_step() attributes {dist.stage = 2 : i64} { return }
}

// -----

// Stage 1's memory does not hold what stage 0 saves.
func.func @stage0_forward(%x: tensor<4xf32>) -> (tensor<4xf32> {dist.saved = 0 : i64}) attributes {dist.stage = 0 : i64} {
  return %x : tensor<4xf32>
}
// expected-error @below {{reads saved value 0 of type 'tensor<4xf32>', which no function of its stage saves as such}}
// expected-note @below {{gpucc-cut-stages gives}}
func.func @stage1_backward(%x: tensor<4xf32> {dist.saved = 0 : i64}) attributes {dist.stage = 1 : i64} { return }

// -----

// expected-note @below {{the first one is saved here; gpucc-cut-stages numbers each value that a stage saves}}
func.func @stage0_forward(%x: tensor<4xf32>) -> (tensor<4xf32> {dist.saved = 0 : i64}) attributes {dist.stage = 0 : i64} {
  return %x : tensor<4xf32>
}
// expected-error @below {{saves value 0 a second time}}
func.func @stage0_other(%x: tensor<4xf32>) -> (tensor<4xf32> {dist.saved = 0 : i64}) attributes {dist.stage = 0 : i64} {
  return %x : tensor<4xf32>
}
