// RUN: gpucc-opt %s -split-input-file -verify-diagnostics
// One case per numbered constraint.

// expected-error @+1 {{(C1) 1 arguments, but 2 names and 1 lists of dimension names}}
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {}, inputs = ["x", "z"],
    dims = [["", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<2x4xf32>):
  frontend.yield %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{(C2) input 'x' has 2 dimensions but 1 dimension names}}
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {}, inputs = ["x"],
    dims = [["batch"]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<2x4xf32>):
  frontend.yield %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{(C2) dimension 0 of input 'x' is unknown and has no name; give it one so that a profile can bind it}}
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {}, inputs = ["x"],
    dims = [["", ""]], outputs = ["y"], output_dims = [[]]} {
^bb0(%x: tensor<?x4xf32>):
  frontend.yield %x : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{(C3) yields 1 values, but has 2 output names and 1 lists of dimension names}}
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {}, inputs = ["x"],
    dims = [["", ""]], outputs = ["y", "z"], output_dims = [[]]} {
^bb0(%x: tensor<2x4xf32>):
  frontend.yield %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{(C1) 'w' needs either 'value', or 'file', 'offset' and 'bytes'}}
%w = frontend.initializer "w" {file = 0 : i64} : tensor<4xf32>

// -----

// expected-error @+1 {{(C2) 'w' lies in file 0, but the module's frontend.files has 0 entries}}
%w = frontend.initializer "w" {file = 0 : i64, offset = 0 : i64, bytes = 16 : i64} : tensor<4xf32>

// -----

module attributes {frontend.files = ["m"]} {
  // expected-error @+1 {{(C3) 'w' has 12 bytes at offset 0; its type 'tensor<4xf32>' takes 16}}
  %w = frontend.initializer "w" {file = 0 : i64, offset = 0 : i64, bytes = 12 : i64} : tensor<4xf32>
}

// -----

// expected-error @+1 {{(C4) the value of 'w' is a 'tensor<2xf32>', the result a 'tensor<4xf32>'}}
%w = frontend.initializer "w" {value = dense<1.0> : tensor<2xf32>} : tensor<4xf32>

// -----

// expected-error @+1 {{(C1) 'n' has 1 results but 2 names}}
%y = frontend.op "onnx.A"() {version = 1 : i64, node = "n", names = ["a", "b"]} : () -> !frontend.value

// -----

// expected-error @+1 {{(C2) 'n' has 0 regions but 1 names of them}}
%y = frontend.op "onnx.A"() {version = 1 : i64, node = "n", names = ["a"], body_names = ["b"]} : () -> !frontend.value

// -----

// expected-error @+1 {{(C3) version 0 of 'n' is below 1}}
%y = frontend.op "onnx.A"() {version = 0 : i64, node = "n", names = ["a"]} : () -> !frontend.value

// -----

// expected-error @+1 {{(C3) names of the dimensions of output 'y' must be an array of strings}}
frontend.graph @main attributes {ir_version = 8 : i64, opsets = {}, inputs = ["x"],
    dims = [["", ""]], outputs = ["y"], output_dims = [[1, 2]]} {
^bb0(%x: tensor<2x4xf32>):
  frontend.yield %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{(C4) 'frontend.declared' is []; expected an array with one type per output (1)}}
frontend.graph @main attributes {frontend.declared = [], ir_version = 8 : i64, opsets = {}, inputs = ["x"],
    dims = [["", ""]], outputs = ["y"], output_dims = [["", ""]]} {
^bb0(%x: tensor<2x4xf32>):
  frontend.yield %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{(C4) output 'y' is declared as "f32"; 'frontend.declared' holds one type per output}}
frontend.graph @main attributes {frontend.declared = ["f32"], ir_version = 8 : i64, opsets = {}, inputs = ["x"],
    dims = [["", ""]], outputs = ["y"], output_dims = [["", ""]]} {
^bb0(%x: tensor<2x4xf32>):
  frontend.yield %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{(C4) output 'y' is declared as 'tensor<2x4xf32>' with 1 dimension names; give one per dimension}}
frontend.graph @main attributes {frontend.declared = [tensor<2x4xf32>], ir_version = 8 : i64, opsets = {}, inputs = ["x"],
    dims = [["", ""]], outputs = ["y"], output_dims = [["batch"]]} {
^bb0(%x: tensor<2x4xf32>):
  frontend.yield %x : tensor<2x4xf32>
}
