// RUN: gpucc-opt %s -split-input-file --gpucc-frontend-to-graph="profiles=batch=2" -verify-diagnostics

// expected-error @+3 {{profile 'p0' gives no size to seq}}
// expected-note @+2 {{the model has these symbolic dimensions: write --profile batch=1,seq=1 with the sizes you need}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", "seq"]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x?xf32>):
  frontend.yield %x : tensor<?x?xf32>
}
}

// -----

// expected-error @+3 {{profile 'p0' gives a size to batch, which the model does not have}}
// expected-note @+2 {{all its dimensions are fixed: leave --profile out}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [[""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<4xf32>):
  frontend.yield %x : tensor<4xf32>
}
}

// -----

// All missing operators in one error.
// expected-error @+5 {{the model has 3 nodes that gpucc cannot compile}}
// expected-note @+4 {{'n1' (MaxRoiPool, opset 17): gpucc has no conversion for this operator}}
// expected-note @+3 {{'n2' (my.domain.Thing, opset 1): gpucc has no conversion for this operator}}
// expected-note @+2 {{'n4' (Reshape, opset 17): the shape (operand 1) is computed at run time; gpucc needs it while compiling}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x", "s"], dims = [["batch"], [""]], outputs = ["a", "b", "c"], output_dims = [[], [], []]} {
^bb0(%x: tensor<?xf32>, %s: tensor<1xi64>):
  %a = frontend.op "onnx.MaxRoiPool"(%x) {version = 17 : i64, node = "n1", names = ["a"]} : (tensor<?xf32>) -> !frontend.value
  %b = frontend.op "onnx.Thing"(%x) {domain = "my.domain", version = 1 : i64, node = "n2", names = ["b"]} : (tensor<?xf32>) -> !frontend.value
  %dead = frontend.op "onnx.Dead"(%x) {version = 17 : i64, node = "n3", names = ["d"]} : (tensor<?xf32>) -> !frontend.value
  %c = frontend.op "onnx.Reshape"(%x, %s) {version = 17 : i64, node = "n4", names = ["c"]} : (tensor<?xf32>, tensor<1xi64>) -> !frontend.value
  frontend.yield %a, %b, %c : !frontend.value, !frontend.value, !frontend.value
}
}

// -----

module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>):
  %s = frontend.initializer "s" {value = dense<[5, -1]> : tensor<2xi64>} : tensor<2xi64>
  // expected-error @+2 {{node 'bad' (Reshape, opset 17): 12 elements cannot be divided into rows of 5 for the -1 of the shape}}
  // expected-note @+1 {{correct node 'bad' (Reshape) or what feeds it}}
  %y = frontend.op "onnx.Reshape"(%x, %s) {version = 17 : i64, node = "bad", names = ["y"]} : (tensor<?x6xf32>, tensor<2xi64>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x", "z"], dims = [["batch", ""], [""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>, %z: tensor<4xf32>):
  // expected-error @+2 {{operands of shapes [2,6] and [4] do not broadcast: from the last dimension on, sizes must be equal or 1}}
  // expected-note @+1 {{correct node 'add' (Add) or what feeds it}}
  %y = frontend.op "onnx.Add"(%x, %z) {version = 17 : i64, node = "add", names = ["y"]} : (tensor<?x6xf32>, tensor<4xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>):
  // expected-error @+2 {{node 'sm' (Softmax, opset 17): axis 2 is outside [-2, 1], the dimensions of a tensor of rank 2}}
  // expected-note @+1 {{correct node 'sm' (Softmax) or what feeds it}}
  %y = frontend.op "onnx.Softmax"(%x) {version = 17 : i64, node = "sm", names = ["y"], params = {axis = 2 : i64}} : (tensor<?x6xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>):
  // expected-error @+2 {{node 'add' (Add, opset 17): has 1 operand; Add since opset 14 takes 2}}
  // expected-note @+1 {{correct node 'add' (Add) or what feeds it}}
  %y = frontend.op "onnx.Add"(%x) {version = 17 : i64, node = "add", names = ["y"]} : (tensor<?x6xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>):
  // expected-error @+2 {{node 'sm' (Softmax, opset 17): has the attribute 'axs', which Softmax since opset 13 does not have; did you mean 'axis'?}}
  // expected-note @+1 {{correct node 'sm' (Softmax) or what feeds it}}
  %y = frontend.op "onnx.Softmax"(%x) {version = 17 : i64, node = "sm", names = ["y"], params = {axs = 1 : i64}} : (tensor<?x6xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// A name with two underscores in front is the exporter's own; another value than the operator's kind is not.
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y", "z"], output_dims = [[], []]} {
^bb0(%x: tensor<?x6xf32>):
  %y = frontend.op "onnx.Relu"(%x) {version = 17 : i64, node = "re", names = ["y"], params = {__origin = "a"}} : (tensor<?x6xf32>) -> !frontend.value
  // expected-error @+2 {{node 'f' (Flatten, opset 17): its attribute 'axis' is a list of integers; allowed is an integer}}
  // expected-note @+1 {{correct node 'f' (Flatten) or what feeds it}}
  %z = frontend.op "onnx.Flatten"(%x) {version = 17 : i64, node = "f", names = ["z"], params = {axis = array<i64: 1>}} : (tensor<?x6xf32>) -> !frontend.value
  frontend.yield %y, %z : !frontend.value, !frontend.value
}
}

// -----

// Domains that the tables do not know, and newer versions of those that they know, are not checked.
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>):
  %y = frontend.op "onnx.Gelu"(%x) {domain = "com.microsoft", version = 2 : i64, node = "g", names = ["y"], params = {novel = 1 : i64}} : (tensor<?x6xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// What the importer has no value for is said in words; a tensor is one all the same.
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>):
  // expected-error @+2 {{node 'sm' (Softmax, opset 17): its attribute 'axis' is of another kind; allowed is an integer}}
  // expected-note @+1 {{correct node 'sm' (Softmax) or what feeds it}}
  %y = frontend.op "onnx.Softmax"(%x) {version = 17 : i64, node = "sm", names = ["y"], params = {axis = !frontend.value<"attribute of kind 13">}} : (tensor<?x6xf32>) -> !frontend.value
  frontend.yield %y : !frontend.value
}
}

// -----

// expected-error @+3 {{the model has 1 node that gpucc cannot compile}}
// expected-note @+2 {{'c' (Constant, opset 17): its value is a string, a sparse tensor, or of a type gpucc does not have}}
module {
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {ai.onnx = 17 : i64},
    inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x6xf32>):
  %y = frontend.op "onnx.Constant"() {version = 17 : i64, node = "c", names = ["y"], params = {value = !frontend.value<"tensor of string">}} : () -> !frontend.value
  frontend.yield %y : !frontend.value
}
}
