// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-differentiate{loss=mse})" | FileCheck %s

// y = w * x; the loss is the sum of (y - labels)^2 over 4 elements: dw = 2 (y - labels) x, the frozen
// parameter gets none. Sums, not means: @update divides.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {{.*}}base.name = "x"
// CHECK-SAME: base.name = "labels"
// CHECK-SAME: base.name = "micro"
// CHECK-SAME: base.name = "loss.accumulator"
// CHECK-SAME: base.name = "count.accumulator"
// CHECK-SAME: %[[ACC:[a-z0-9]+]]: tensor<4xf32> {base.kind = "state", base.name = "w.accumulator", base.state = #base.state<accumulator, of = "w">}
// CHECK-NOT: frozen.accumulator
// CHECK: base.segment = "step"
// CHECK: graph.constant dense<4.000000e+00> : tensor<f32>
// CHECK: %[[DW:.*]] = graph.binary {{ *}}mul {{.*}}base.backward
// CHECK: graph.binary {{ *}}add %[[ACC]], %{{.*}} {base.backward}
func.func @main(%x: tensor<4xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<4xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>},
                %f: tensor<4xf32> {base.name = "frozen", base.kind = "state", base.state = #base.state<param, trainable = false>})
    -> (tensor<4xf32> {base.name = "y", base.kind = "output"}) {
  %0 = graph.binary mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary add %0, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
