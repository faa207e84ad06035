// RUN: gpucc-opt %s -split-input-file --gpucc-frontend-to-graph --gpucc-verify-phase-graph | FileCheck %s

// The result has its bound, 6 of 2 x 3, and a count beside it.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    -> (tensor<2x6xi64> {base.count = "y.count", base.kind = "output", base.name = "y", base.varying_dim = 1 : i64},
// CHECK-SAME:        tensor<i64> {base.kind = "count", base.name = "y.count"})
// CHECK:         %[[MASK:.*]] = graph.compare ne
// CHECK:         %[[FLAT:.*]] = graph.reshape %[[MASK]]
// CHECK:         %[[ONES:.*]] = graph.convert %[[FLAT]]
// CHECK:         %[[BEFORE:.*]] = graph.scan sum %[[ONES]] {dim = 0 : i64, exclusive}
// CHECK:         %[[TO:.*]] = graph.select %[[FLAT]], %[[BEFORE]]
// CHECK:         graph.scatter {{.*}}%[[TO]]
// CHECK:         graph.reduce sum
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["", ""]], outputs = ["y"], output_dims = [["", "n"]]} {
^bb0(%x: tensor<2x3xf32>):
  %y = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "where", names = ["y"]} : (tensor<2x3xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// Two outputs of one size share the count; the dimension moves with transpose, and gather puts it where the indices stand.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    -> (tensor<6x1xi64> {base.count = "a.count", base.kind = "output", base.name = "a", base.varying_dim = 0 : i64},
// CHECK-SAME:        tensor<2x6x1xf32> {base.count = "a.count", base.kind = "output", base.name = "b", base.varying_dim = 1 : i64},
// CHECK-SAME:        tensor<i64> {base.kind = "count", base.name = "a.count"})
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x", "t"], dims = [[""], ["", ""]], outputs = ["a", "b"], output_dims = [[], []]} {
^bb0(%x: tensor<6xf32>, %t: tensor<2x6xf32>):
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "where", names = ["z"]} : (tensor<6xf32>) -> !frontend.value
  %a = frontend.op "onnx.Transpose"(%0) {version = 17 : i64, node = "turn", names = ["a"]} : (!frontend.value) -> !frontend.value
  %b = frontend.op "onnx.Gather"(%t, %a) {version = 17 : i64, node = "pick", names = ["b"], params = {axis = 1 : i64}} : (tensor<2x6xf32>, !frontend.value) -> !frontend.value
  frontend.yield %a, %b : !frontend.value, !frontend.value
}
}

// -----

// The count's name does not clash with an output of the model.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    base.count = "y.count_"
// CHECK-SAME:    base.name = "y.count_"
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y", "y.count"], output_dims = [[], []]} {
^bb0(%x: tensor<6xf32>):
  %y = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "where", names = ["y"]} : (tensor<6xf32>) -> !frontend.value
  %n = frontend.op "onnx.Relu"(%x) {version = 17 : i64, node = "other", names = ["y.count"]} : (tensor<6xf32>) -> !frontend.value
  frontend.yield %y, %n : !frontend.value, !frontend.value
}
}
