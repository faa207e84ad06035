// RUN: gpucc-opt %s -split-input-file --gpucc-frontend-to-graph | FileCheck %s
// A comparison with a table of numbers says below which number an input lies.

// CHECK: module attributes {base.input_limits = {ids = 8 : i64}
module attributes {frontend.files = ["m.onnx"]} {
  frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
      inputs = ["ids"], dims = [[""]], outputs = ["y"], output_dims = [[""]]} {
  ^bb0(%ids: tensor<3xi64>):
    %c = frontend.initializer "c" {value = dense<[2, 7, 5]> : tensor<3xi64>} : tensor<3xi64>
    %y = frontend.op "onnx.Equal"(%ids, %c) {version = 13 : i64, node = "eq", names = ["y"]}
        : (tensor<3xi64>, tensor<3xi64>) -> !frontend.value
    frontend.yield %y : !frontend.value
  }
}

// -----

// The greatest number there is says nothing: one more than it is none (found by fuzz-onnx-import).
// CHECK-NOT: base.input_limits
// CHECK: graph.compare eq
module attributes {frontend.files = ["m.onnx"]} {
  frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
      inputs = ["ids"], dims = [[""]], outputs = ["y"], output_dims = [[""]]} {
  ^bb0(%ids: tensor<3xi64>):
    %c = frontend.initializer "c" {value = dense<[2, 9223372036854775807, 5]> : tensor<3xi64>} : tensor<3xi64>
    %y = frontend.op "onnx.Equal"(%ids, %c) {version = 13 : i64, node = "eq", names = ["y"]}
        : (tensor<3xi64>, tensor<3xi64>) -> !frontend.value
    frontend.yield %y : !frontend.value
  }
}
