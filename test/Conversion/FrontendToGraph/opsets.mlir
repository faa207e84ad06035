// RUN: gpucc-opt %s -split-input-file --gpucc-frontend-to-graph | FileCheck %s
// The same node means different things in different opset versions.

// Softmax up to 12: the operand as a matrix [2, 12], its rows normalized.
// CHECK-LABEL: func.func @main
// CHECK: %[[M:.*]] = graph.reshape %{{.*}} {shape = array<i64: 2, 12>}
// CHECK: %[[S:.*]] = graph.softmax %[[M]] {dim = 1 : i64}
// CHECK: graph.reshape %[[S]] {shape = array<i64: 2, 3, 4>}
frontend.graph @main attributes {ir_version = 7 : i64, opsets = {ai.onnx = 11 : i64},
    inputs = ["x"], dims = [["", "", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<2x3x4xf32>):
  %y = frontend.op "onnx.Softmax"(%x) {version = 11 : i64, node = "n", names = ["y"]}
      : (tensor<2x3x4xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}

// -----

// From 13 on: the last dimension.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.reshape
// CHECK: graph.softmax %{{.*}} {dim = 2 : i64}
frontend.graph @main attributes {ir_version = 7 : i64, opsets = {ai.onnx = 13 : i64},
    inputs = ["x"], dims = [["", "", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<2x3x4xf32>):
  %y = frontend.op "onnx.Softmax"(%x) {version = 13 : i64, node = "n", names = ["y"]}
      : (tensor<2x3x4xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}

// -----

// Clip's bounds as attributes (to 10) ...
// CHECK-LABEL: func.func @main
// CHECK: %[[LOW:.*]] = graph.constant dense<-1.000000e+00>
// CHECK: %[[A:.*]] = graph.binary max %{{.*}}, %[[LOW]]
// CHECK: return %[[A]]
frontend.graph @main attributes {ir_version = 7 : i64, opsets = {ai.onnx = 10 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<4xf32>):
  %y = frontend.op "onnx.Clip"(%x) {version = 10 : i64, node = "n", names = ["y"], params = {min = -1.0 : f32}}
      : (tensor<4xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}

// -----

// ... and as operands, the lower one absent.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.binary max
// CHECK: graph.binary min
frontend.graph @main attributes {ir_version = 7 : i64, opsets = {ai.onnx = 12 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<4xf32>):
  %none = frontend.absent : !frontend.value
  %high = frontend.initializer "high" {value = dense<6.0> : tensor<f32>} : tensor<f32>
  %y = frontend.op "onnx.Clip"(%x, %none, %high) {version = 12 : i64, node = "n", names = ["y"]}
      : (tensor<4xf32>, !frontend.value, tensor<f32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}

// -----

// Bug kinds 4: X[10], start 0, end 5, step -1 is empty; the least integer as end with a negative step.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<0xf32>
// CHECK-SAME: tensor<10xf32>
// CHECK: graph.slice %{{.*}} {sizes = array<i64: 10>, start = array<i64: 9>, strides = array<i64: -1>}
frontend.graph @main attributes {ir_version = 7 : i64, opsets = {ai.onnx = 13 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y", "z"], output_dims = [[], []]} {
^bb0(%x: tensor<10xf32>):
  %zero = frontend.initializer "zero" {value = dense<0> : tensor<1xi32>} : tensor<1xi32>
  %five = frontend.initializer "five" {value = dense<5> : tensor<1xi32>} : tensor<1xi32>
  %back = frontend.initializer "back" {value = dense<-1> : tensor<1xi32>} : tensor<1xi32>
  %nine = frontend.initializer "nine" {value = dense<9> : tensor<1xi64>} : tensor<1xi64>
  %least = frontend.initializer "least" {value = dense<-9223372036854775808> : tensor<1xi64>} : tensor<1xi64>
  %axis = frontend.initializer "axis" {value = dense<-1> : tensor<1xi64>} : tensor<1xi64>
  %step = frontend.initializer "step" {value = dense<-1> : tensor<1xi64>} : tensor<1xi64>
  %y = frontend.op "onnx.Slice"(%x, %zero, %five, %zero, %back) {version = 13 : i64, node = "a", names = ["y"]}
      : (tensor<10xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> !frontend.value
  %z = frontend.op "onnx.Slice"(%x, %nine, %least, %axis, %step) {version = 13 : i64, node = "b", names = ["z"]}
      : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !frontend.value
  frontend.yield %y, %z : !frontend.value, !frontend.value
}
