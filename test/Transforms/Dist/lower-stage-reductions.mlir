// RUN: gpucc-opt %s --gpucc-lower-stage-reductions --gpucc-verify-collectives | FileCheck %s

dist.mesh @mesh <["pp" = 3, "dp" = 2]>

// Every stage adds in the same order.
// CHECK-LABEL: func.func @stage1_update(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<f32>
// CHECK:         dist.send %[[X]] to 0 channel 4
// CHECK:         dist.send %[[X]] to 2 channel 4
// CHECK:         %[[A:.*]] = dist.recv from 0 channel 4
// CHECK:         %[[S:.*]] = graph.binary add %[[A]], %[[X]]
// CHECK:         %[[B:.*]] = dist.recv from 2 channel 4
// CHECK:         %[[N:.*]] = graph.binary add %[[S]], %[[B]]
// CHECK:         return %[[N]]
func.func @stage1_update(%x: tensor<f32>) -> tensor<f32> attributes {dist.stage = 1 : i64} {
  %0 = dist.all_reduce sum %x on @mesh over ["pp"] channel 4 : tensor<f32>
  return %0 : tensor<f32>
}

func.func @stage0_update(%x: tensor<f32>) -> tensor<f32> attributes {dist.stage = 0 : i64} {
  %0 = dist.all_reduce sum %x on @mesh over ["pp"] channel 4 : tensor<f32>
  return %0 : tensor<f32>
}

// Only the stages that take part.
// CHECK-LABEL: func.func @stage2_update(
// CHECK-COUNT-2: dist.recv
// CHECK-NOT:     dist.all_reduce sum %{{.*}} over ["pp"]
// CHECK:         dist.all_reduce sum %{{.*}} on @mesh over ["dp"]
func.func @stage2_update(%x: tensor<f32>) -> tensor<f32> attributes {dist.stage = 2 : i64} {
  %0 = dist.all_reduce sum %x on @mesh over ["pp"] channel 4 : tensor<f32>
  %1 = dist.all_reduce sum %0 on @mesh over ["dp"] : tensor<f32>
  return %1 : tensor<f32>
}
