// RUN: gpucc-opt %S/Inputs/mlp.mlir --gpucc-propagate="pp=2 micro-batches=3" --gpucc-cut-stages="micro-batches=3" | FileCheck %s
// RUN: gpucc-opt %s -split-input-file --gpucc-cut-stages -verify-diagnostics

// CHECK:       dist.scripts = {{\[}}[#dist.action<@stage0_forward, 0, slot = 0>, #dist.action<@stage0_forward, 1, slot = 1>,
// CHECK-SAME:    #dist.action<@stage0_backward, 0, slot = 0>, #dist.action<@stage0_forward, 2, slot = 0>,
// CHECK-SAME:    #dist.action<@stage0_update, 0, slot = 0>],
// CHECK-SAME:    [#dist.action<@stage1_forward, 0, slot = 0>, #dist.action<@stage1_backward, 0, slot = 0>
// CHECK-SAME:    dist.slots = [2, 1]

// Stage 0 keeps what relu's derivative needs, and sends the activation.
// CHECK-LABEL: func.func @stage0_forward(
// CHECK-SAME:    base.name = "x"
// CHECK-NOT:     base.name = "w2"
// CHECK:         %[[H1:.*]] = graph.binary add
// CHECK:         %[[H:.*]] = graph.unary relu %[[H1]]
// CHECK:         dist.send %[[H]] to 1 channel [[FORWARD:[0-9]+]] : tensor<8x32xf32>
// CHECK:         return

// CHECK-LABEL: func.func @stage0_backward(
// CHECK-SAME:    dist.saved
// CHECK:         dist.recv from 1 channel [[BACKWARD:[0-9]+]]
// CHECK:         return %{{.*}}, %{{.*}} : tensor<16x32xf32>, tensor<32xf32>

// CHECK-LABEL: func.func @stage1_forward(
// CHECK-NOT:     base.name = "x"
// CHECK:         dist.recv from 0 channel [[FORWARD]]
// CHECK-LABEL: func.func @stage1_backward(
// CHECK:         dist.send %{{.*}} to 0 channel [[BACKWARD]] : tensor<8x32xf32>

// The norm over all parameters: the stages' sums are added.
// CHECK-LABEL: func.func @stage0_update(
// CHECK-COUNT-2: dist.all_reduce sum
// CHECK:         %[[SUM:[0-9]+]] = dist.all_reduce sum %{{.*}} on @mesh over ["pp"] channel [[NORM:[0-9]+]] {
// CHECK-NEXT:    graph.unary sqrt %[[SUM]] {
// CHECK-LABEL: func.func @stage1_update(
// CHECK-COUNT-2: dist.all_reduce sum
// CHECK:         dist.all_reduce sum %{{.*}} on @mesh over ["pp"] channel [[NORM]] {
// CHECK-NEXT:    graph.unary sqrt

dist.mesh @mesh <["pp" = 2]>
func.func @step(%x: tensor<4xf32> {base.name = "x", base.kind = "input"}) attributes {base.segment = "step"} {
  // expected-error @below {{'dist.stage' is 2, but the mesh has 2 stages (axis "pp")}}
  %0 = graph.unary exp %x {dist.stage = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["pp" = 2]>
func.func @step(%x: tensor<4xf32> {base.name = "x", base.kind = "input"}) attributes {base.segment = "step"} {
  // expected-error @below {{made in stage 1 (forward), needed in stage 0 (forward), which runs before it}}
  // expected-note @below {{activations flow to later stages and gradients to earlier ones}}
  %0 = graph.unary exp %x {dist.stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.unary exp %0 {dist.stage = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
// expected-error @below {{the mesh has 2 pipeline stages, but no op has 'dist.stage'}}
// expected-note @below {{run gpucc-assign-stages on the forward graph, before gpucc-differentiate: derivatives take the stage of their op}}
module {
  dist.mesh @mesh <["pp" = 2]>
  func.func @step(%x: tensor<4xf32> {base.name = "x", base.kind = "input"}) attributes {base.segment = "step"} {
    return
  }
}
