// RUN: gpucc-opt %s --gpucc-frontend-to-graph="train=true" | FileCheck %s
// RUN: gpucc-opt %s --gpucc-frontend-to-graph | FileCheck %s --check-prefix=INFER
// Under training weights are state arguments, running statistics are state that a result
// overwrites, and dropout drops; a scalar stays a constant.

// CHECK: graph.weight_data @scale
// CHECK: func.func @main(%[[X:.*]]: tensor<2x3xf32> {base.kind = "input", base.name = "x"}
// CHECK-SAME: %[[S:[^:]*]]: tensor<3xf32> {base.kind = "state", base.name = "scale", base.state = #base.state<param>}
// CHECK-SAME: %[[B:[^:]*]]: tensor<3xf32> {base.kind = "state", base.name = "bias", base.state = #base.state<param>}
// CHECK-SAME: %[[M:[^:]*]]: tensor<3xf32> {base.kind = "state", base.name = "mean", base.state = #base.state<stat, trainable = false>}
// CHECK-SAME: %[[V:[^:]*]]: tensor<3xf32> {base.kind = "state", base.name = "var", base.state = #base.state<stat, trainable = false>}
// CHECK-SAME: %[[STEP:[^:]*]]: tensor<i64> {base.kind = "state", base.name = "step", base.state = #base.state<counter, trainable = false>}
// CHECK-SAME: tensor<3xf32> {base.alias = 3 : i64, base.kind = "state", base.name = "mean"
// CHECK-SAME: tensor<3xf32> {base.alias = 4 : i64, base.kind = "state", base.name = "var"
// CHECK: graph.batch_norm %[[X]], %[[S]], %[[B]], %[[M]], %[[V]] {{.*}}training
// CHECK: graph.dropout %{{.*}}, %[[STEP]]
// CHECK-SAME: ordinal = 0

// INFER: graph.weight @scale
// INFER: graph.batch_norm
// INFER-NOT: training
// INFER-NOT: graph.dropout

module attributes {frontend.files = ["m.onnx"]} {
  frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
      inputs = ["x"], dims = [["", ""]], outputs = ["y"], output_dims = [[]]} {
  ^bb0(%x: tensor<2x3xf32>):
    %s = frontend.initializer "scale" {file = 0 : i64, offset = 0 : i64, bytes = 12 : i64} : tensor<3xf32>
    %b = frontend.initializer "bias" {file = 0 : i64, offset = 12 : i64, bytes = 12 : i64} : tensor<3xf32>
    %m = frontend.initializer "mean" {file = 0 : i64, offset = 24 : i64, bytes = 12 : i64} : tensor<3xf32>
    %v = frontend.initializer "var" {file = 0 : i64, offset = 36 : i64, bytes = 12 : i64} : tensor<3xf32>
    %half = frontend.initializer "half" {value = dense<0.5> : tensor<f32>} : tensor<f32>
    %h = frontend.op "onnx.BatchNormalization"(%x, %s, %b, %m, %v) {version = 17 : i64, node = "bn", names = ["h"]}
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> !frontend.value
    %y = frontend.op "onnx.Dropout"(%h, %half) {version = 17 : i64, node = "drop", names = ["y"]}
        : (!frontend.value, tensor<f32>) -> !frontend.value
    frontend.yield %y : !frontend.value
  }
}
