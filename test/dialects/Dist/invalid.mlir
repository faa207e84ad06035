// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{C1: axis "dp" has size 0; a mesh axis has at least 1 rank}}
dist.mesh @mesh <["dp" = 0]>

// -----
// expected-error @below {{C2: two axes are named "dp"; give each its own name}}
dist.mesh @mesh <["dp" = 2, "dp" = 2]>

// -----
// expected-error @below {{C1: axis "pp" is number 1 of the mesh; the pipeline axis must come first}}
dist.mesh @mesh <["dp" = 2, "pp" = 2]>

// -----
// expected-error @below {{C1: axis "dp" appears twice; an axis splits one dimension or is partial}}
func.func @f(%x: tensor<4xf32> {dist.sharding = #dist.sharding<[{"dp"}], partial = ["dp"] sum>}) { return }

// -----
// expected-error @below {{'dist.sharding' on argument 0 has 2 dimensions, the tensor has 1; give one list of axes per dimension}}
func.func @f(%x: tensor<4xf32> {dist.sharding = #dist.sharding<[{}, {}]>}) { return }

// -----
// expected-error @below {{'dist.other' may not stand on argument 0; allowed are dist.sharding and dist.saved}}
func.func @f(%x: tensor<4xf32> {dist.other}) { return }

// -----
func.func @constraintC1(%x: tensor<4xf32>) {
  // expected-error @below {{C1: @mesh is no dist.mesh of this module}}
  // expected-note @below {{declare one at module level, for example: dist.mesh @mesh <["dp" = 2, "tp" = 2]>}}
  %0 = dist.constraint %x on @mesh <[{"dp"}]> : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @constraintC2(%x: tensor<4xf32>) {
  // expected-error @below {{C2: the sharding: axis 'tp' is not one of the mesh (dp=2)}}
  %0 = dist.constraint %x on @mesh <[{"tp"}]> : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @constraintC3(%x: tensor<7xf32>) {
  // expected-error @below {{C3: the sharding: dimension 0 of size 7 does not divide into 2 equal parts; keep it whole}}
  %0 = dist.constraint %x on @mesh <[{"dp"}]> : tensor<7xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @reshardC4(%x: tensor<4xf32>) {
  // expected-error @below {{C4: a whole value becomes a partial 'max'; only sums have a neutral element}}
  %0 = dist.reshard %x on @mesh from <[{}]> to <[{}], partial = ["dp"] max> : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @axisIndexC2() {
  // expected-error @below {{C2: no axes; name at least one axis of the mesh (dp=2)}}
  %0 = dist.axis_index on @mesh over [] scale 1 : tensor<i64>
  return
}

// -----
dist.mesh @mesh <["pp" = 2, "dp" = 2]>
func.func @allReduceC3(%x: tensor<4xf32>) {
  // expected-error @below {{C3: it spans "pp" but has no channel; number the meeting equally in the programs of all stages}}
  %0 = dist.all_reduce sum %x on @mesh over ["pp"] : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["pp" = 2, "dp" = 2]>
func.func @allReduceC3Stages(%x: tensor<4xf32>) {
  // expected-error @below {{C3: 'stages' is [1, 2]; it lists ascending stages of 0 to 1 and needs the axis "pp"}}
  %0 = dist.all_reduce sum %x on @mesh over ["pp"] channel 0 stages [1, 2] : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @allReduceC4(%x: tensor<4xf32>) {
  // expected-error @below {{C4: 'and' is not defined for 'f32'; it needs integers or i1}}
  %0 = dist.all_reduce and %x on @mesh over ["dp"] : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @allGatherC3(%x: tensor<4xf32>) {
  // expected-error @below {{C3: 'dim' is 1, the tensor has 1 dimensions; it must be one of 0 to 0}}
  %0 = dist.all_gather %x on @mesh over ["dp"] dim 1 : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @allGatherC4(%x: tensor<4xf32>) {
  // expected-error @below {{C4: the result is 'tensor<4xf32>'; with 2 members it must be 'tensor<8xf32>'}}
  %0 = dist.all_gather %x on @mesh over ["dp"] dim 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @reduceScatterC4(%x: tensor<4xf32>) {
  // expected-error @below {{C4: the operand is 'tensor<4xf32>', the result 'tensor<4xf32>'; with 2 members the operand must be 2 times as large in dimension 0}}
  %0 = dist.reduce_scatter sum %x on @mesh over ["dp"] dim 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @reduceScatterC5(%x: tensor<4xi1>) {
  // expected-error @below {{C5: 'sum' is not defined for 'i1'; i1 is combined by 'and' or 'or'}}
  %0 = dist.reduce_scatter sum %x on @mesh over ["dp"] dim 0 : tensor<4xi1> -> tensor<2xi1>
  return
}

// -----
dist.mesh @mesh <["dp" = 2]>
func.func @allToAllC4(%x: tensor<3x4xf32>) {
  // expected-error @below {{C4: dimension 0 of size 3 does not divide among 2 members}}
  %0 = dist.all_to_all %x on @mesh over ["dp"] split 0 concat 1 : tensor<3x4xf32> -> tensor<3x8xf32>
  return
}

// -----
func.func @sendC1(%x: tensor<4xf32>) {
  // expected-error @below {{C1: stage -1, channel 0; neither may be negative}}
  dist.send %x to -1 channel 0 : tensor<4xf32>
  return
}

// -----
func.func @recvC2() attributes {dist.stage = 1 : i64} {
  // expected-error @below {{C2: the peer is stage 1, which is this function's own; use the value itself}}
  %0 = dist.recv from 1 channel 0 : tensor<4xf32>
  return
}
