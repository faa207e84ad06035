// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: func @clusters
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @clusters(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: %[[Y:.*]]:2 = graph.cluster loop (%[[A:.*]] = %[[X]] : tensor<4xf32>, %[[B:.*]] = %[[X]] : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) attributes {note = 1 : i64} {
  // CHECK-NEXT: %[[E:.*]] = graph.unary exp %[[A]]
  // CHECK-NEXT: %[[C:.*]] = graph.compare lt %[[B]], %[[E]]
  // CHECK-NEXT: graph.yield %[[E]], %[[C]] : tensor<4xf32>, tensor<4xi1>
  // CHECK-NEXT: }
  %y:2 = graph.cluster loop (%a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) attributes {note = 1 : i64} {
    %0 = graph.unary exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.compare lt %b, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    graph.yield %0, %1 : tensor<4xf32>, tensor<4xi1>
  }
  // CHECK: graph.cluster reduction () -> tensor<f32> {
  %z = graph.cluster reduction () -> tensor<f32> {
    %0 = graph.constant dense<1.0> : tensor<f32>
    graph.yield %0 : tensor<f32>
  }
  // CHECK: return %[[Y]]#0, %[[Y]]#1
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xi1>
}
