// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s
// Every op of the dialect, read, printed and read again.

module attributes {frontend.files = ["m.onnx"]} {
  // CHECK: frontend.graph @main attributes {dims = {{.*}}"batch", ""{{.*}} inputs = ["x"]
  frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
      inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [["batch", ""]]} {
  ^bb0(%x: tensor<?x4xf32>):
    // CHECK: %[[W:.*]] = frontend.initializer "w" {bytes = 64 : i64, file = 0 : i64, offset = 96 : i64} : tensor<4x4xf32>
    %w = frontend.initializer "w" {file = 0 : i64, offset = 96 : i64, bytes = 64 : i64} : tensor<4x4xf32>
    // CHECK: frontend.initializer "c" {value = dense<1> : tensor<i64>} : tensor<i64>
    %c = frontend.initializer "c" {value = dense<1> : tensor<i64>} : tensor<i64>
    // CHECK: frontend.absent : !frontend.value
    %none = frontend.absent : !frontend.value
    %odd = frontend.absent : !frontend.value<"sequence">
    // CHECK: frontend.op "onnx.Gemm"(%{{.*}}, %[[W]], %{{.*}}) {names = ["h"], node = "fc", version = 17 : i64}
    %h = frontend.op "onnx.Gemm"(%x, %w, %none) {version = 17 : i64, node = "fc", names = ["h"]}
        : (tensor<?x4xf32>, tensor<4x4xf32>, !frontend.value) -> !frontend.value
    // CHECK: frontend.op "onnx.If"
    // CHECK: frontend.yield %{{.*}} : !frontend.value
    %y = frontend.op "onnx.If"(%c) {version = 17 : i64, node = "if", names = ["y"],
        body_names = ["then_branch", "else_branch"]} : (tensor<i64>) -> !frontend.value {
      frontend.yield %h : !frontend.value
    }, {
      frontend.yield %h : !frontend.value
    }
    frontend.yield %y : !frontend.value
  }
}
