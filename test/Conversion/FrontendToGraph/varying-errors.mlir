// RUN: gpucc-opt %s -split-input-file --gpucc-frontend-to-graph -verify-diagnostics

// What padding would enter is refused, with the producer of the unknown size.
// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{'mix' (DepthToSpace, opset 17): the size of operand 0 depends on values of a run ('where' (NonZero) gives it), and gpucc cannot keep its padding out of this operator's result}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<6xf32>):
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "where", names = ["z"]} : (tensor<6xf32>) -> !frontend.value
  %y = frontend.op "onnx.DepthToSpace"(%0) {version = 17 : i64, node = "mix", names = ["y"], params = {blocksize = 1 : i64}} : (!frontend.value) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// Two counts.
// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{'sum' (Add, opset 17): the size of an operand depends on values of a run ('one' (NonZero) and 'two' (NonZero) gives it), and its operands vary along several dimensions or by several counts}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x", "v"], dims = [[""], [""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<6xf32>, %v: tensor<6xf32>):
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "one", names = ["a"]} : (tensor<6xf32>) -> !frontend.value
  %1 = frontend.op "onnx.NonZero"(%v) {version = 17 : i64, node = "two", names = ["b"]} : (tensor<6xf32>) -> !frontend.value
  %y = frontend.op "onnx.Add"(%0, %1) {version = 17 : i64, node = "sum", names = ["y"]} : (!frontend.value, !frontend.value) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// The bound of a fixed size is not the size.
// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{another operand has the fixed size 6 along that dimension}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x", "v"], dims = [[""], [""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<6xf32>, %v: tensor<6xi64>):
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "one", names = ["a"]} : (tensor<6xf32>) -> !frontend.value
  %y = frontend.op "onnx.Add"(%0, %v) {version = 17 : i64, node = "sum", names = ["y"]} : (!frontend.value, tensor<6xi64>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{'shape' (Reshape, opset 17): the size of an operand depends on values of a run ('one' (NonZero) gives it), and the new shape gives that dimension a fixed size; write -1 for it}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<6xf32>):
  %s = frontend.initializer "s" {value = dense<[6, 1]> : tensor<2xi64>} : tensor<2xi64>
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "one", names = ["a"]} : (tensor<6xf32>) -> !frontend.value
  %y = frontend.op "onnx.Reshape"(%0, %s) {version = 17 : i64, node = "shape", names = ["y"]} : (!frontend.value, tensor<2xi64>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// Rows of two are not kept together.
// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{the new shape does not keep the rows of that dimension together}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<2x3xf32>):
  %s = frontend.initializer "s" {value = dense<[-1]> : tensor<1xi64>} : tensor<1xi64>
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "one", names = ["a"]} : (tensor<2x3xf32>) -> !frontend.value
  %y = frontend.op "onnx.Reshape"(%0, %s) {version = 17 : i64, node = "shape", names = ["y"]} : (!frontend.value, tensor<1xi64>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// Too many rounds.
// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{'nms' (NonMaxSuppression, opset 17): a class may have 4000 boxes}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["b", "s", "m"], dims = [["", "", ""], ["", "", ""], [""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%b: tensor<1x4000x4xf32>, %s: tensor<1x1x4000xf32>, %m: tensor<1xi64>):
  %y = frontend.op "onnx.NonMaxSuppression"(%b, %s, %m) {version = 17 : i64, node = "nms", names = ["y"]} : (tensor<1x4000x4xf32>, tensor<1x1x4000xf32>, tensor<1xi64>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{'uniq' (Unique, opset 17): Unique of slices of 65 elements that are computed at run time; allowed are 1 to 64}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<2x65xf32>):
  %y = frontend.op "onnx.Unique"(%x) {version = 17 : i64, node = "uniq", names = ["y"], params = {axis = 0 : i64}} : (tensor<2x65xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<6xf32>):
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "one", names = ["a"]} : (tensor<6xf32>) -> !frontend.value
  %s = frontend.initializer "s" {value = dense<[0, 1]> : tensor<2xi64>} : tensor<2xi64>
  %t = frontend.initializer "t" {value = dense<1> : tensor<1xi64>} : tensor<1xi64>
  // expected-error @+2 {{starts, ends, axes and steps are not equally long}}
  // expected-note @+1 {{remedy: correct node 'cut' (Slice) or what feeds it}}
  %y = frontend.op "onnx.Slice"(%0, %s, %s, %s, %t) {version = 17 : i64, node = "cut", names = ["y"]} : (!frontend.value, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<6xf32>):
  %0 = frontend.op "onnx.NonZero"(%x) {version = 17 : i64, node = "one", names = ["a"]} : (tensor<6xf32>) -> !frontend.value
  %s = frontend.initializer "s" {value = dense<[4611686018427387904, 4, -1]> : tensor<3xi64>} : tensor<3xi64>
  // expected-error @+2 {{the shape has more elements than 63 bits can count}}
  // expected-note @+1 {{remedy: correct node 'huge' (Reshape) or what feeds it}}
  %y = frontend.op "onnx.Reshape"(%0, %s) {version = 17 : i64, node = "huge", names = ["y"]} : (!frontend.value, tensor<3xi64>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}
