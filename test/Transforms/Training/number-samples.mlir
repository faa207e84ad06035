// RUN: gpucc-opt %s --gpucc-number-samples | FileCheck %s

// Micro-batch m begins with sample 8 m.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[MICRO:[a-z0-9]+]]: tensor<i64> {base.kind = "state", base.name = "micro", base.state = #base.state<counter>}
// CHECK: %[[ZERO:.*]] = graph.constant dense<0>
// CHECK: %[[EIGHT:.*]] = graph.constant dense<8>
// CHECK: %[[FIRST:.*]] = graph.binary {{ *}}mul %[[MICRO]], %[[EIGHT]]
// CHECK: graph.dropout %{{.*}}, %{{.*}}, %[[FIRST]], %[[ZERO]]
func.func @main(%x: tensor<8x16xf32> {base.name = "x", base.kind = "input"},
                %step: tensor<i64> {base.name = "step", base.kind = "state", base.state = #base.state<counter, trainable = false>})
    -> (tensor<8x16xf32> {base.name = "y", base.kind = "output"}) {
  %zero = graph.constant dense<0> : tensor<i64>
  %y = graph.dropout %x, %step, %zero, %zero {ratio = 0.5 : f64, seed = 1 : i64, ordinal = 0 : i64, global_shape = array<i64: 8, 16>} : (tensor<8x16xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
