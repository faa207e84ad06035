// RUN: gpucc-opt %s --gpucc-frontend-to-graph="profiles=batch=2;batch=5" | FileCheck %s
// RUN: gpucc-opt %s --gpucc-frontend-to-graph="profiles=batch=3" | FileCheck %s --check-prefix=ONE
// One function per profile; weights are shared; Shape folds into the Reshape.

// CHECK: graph.weight_data @w {bytes = 64 : i64, file = 0 : i64, offset = 96 : i64}
// CHECK-NOT: graph.weight_data
// CHECK: func.func @main_p0(%{{.*}}: tensor<2x4xf32> {base.dims = ["batch", ""], base.kind = "input", base.name = "x"})
// CHECK-SAME: -> (tensor<8xf32> {base.dims = ["n"], base.kind = "output", base.name = "y"})
// CHECK-SAME: base.profile = #base.profile<"p0", ["batch"] = [2]>
// CHECK: %[[W:.*]] = graph.weight @w : tensor<4x4xf32>
// CHECK: %[[P:.*]] = graph.contract %{{.*}}, %[[W]]
// CHECK: graph.reshape %[[P]] {shape = array<i64: 8>}
// CHECK-NOT: graph.gather
// CHECK: func.func @main_p1(%{{.*}}: tensor<5x4xf32>
// CHECK: graph.reshape %{{.*}} {shape = array<i64: 20>}
// CHECK-NOT: frontend
// ONE: func.func @main(%{{.*}}: tensor<3x4xf32>

module attributes {frontend.files = ["m.onnx"]} {
  frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
      inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [["n"]]} {
  ^bb0(%x: tensor<?x4xf32>):
    %w = frontend.initializer "w" {file = 0 : i64, offset = 96 : i64, bytes = 64 : i64} : tensor<4x4xf32>
    %four = frontend.initializer "four" {value = dense<4> : tensor<1xi64>} : tensor<1xi64>
    %zero = frontend.initializer "zero" {value = dense<0> : tensor<1xi64>} : tensor<1xi64>
    %p = frontend.op "onnx.MatMul"(%x, %w) {version = 17 : i64, node = "mm", names = ["p"]}
        : (tensor<?x4xf32>, tensor<4x4xf32>) -> !frontend.value
    %s = frontend.op "onnx.Shape"(%p) {version = 17 : i64, node = "s", names = ["s"]}
        : (!frontend.value) -> !frontend.value
    %b = frontend.op "onnx.Gather"(%s, %zero) {version = 17 : i64, node = "g", names = ["b"]}
        : (!frontend.value, tensor<1xi64>) -> !frontend.value
    %n = frontend.op "onnx.Mul"(%b, %four) {version = 17 : i64, node = "m", names = ["n"]}
        : (!frontend.value, tensor<1xi64>) -> !frontend.value
    %y = frontend.op "onnx.Reshape"(%p, %n) {version = 17 : i64, node = "r", names = ["y"]}
        : (!frontend.value, !frontend.value) -> !frontend.value
    frontend.yield %y : !frontend.value
  }
}
