// RUN: gpucc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(gpucc-check-indices))' -verify-diagnostics

module attributes {graph.files = ["m"]} {
graph.weight_data @positions {file = 0, offset = 0, bytes = 32} : tensor<4x2xf32>

// The whole range, from both ends; indices that depend on an input are not known.
func.func @inside(%i: tensor<2xi64>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = graph.weight @positions : tensor<4x2xf32>
  %c = graph.constant dense<[-4, 3]> : tensor<2xi64>
  %a = graph.gather %w, %c {dim = 0 : i64} : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %b = graph.gather %w, %i {dim = 0 : i64} : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
}
}

// -----

module attributes {graph.files = ["m"]} {
graph.weight_data @positions {file = 0, offset = 0, bytes = 32} : tensor<4x2xf32>

// More positions than the table has.
func.func @positions_of_a_long_profile() -> tensor<1x6x2xf32> {
  %w = graph.weight @positions : tensor<4x2xf32>
  %p = graph.iota {type = tensor<1x6xi64>, dim = 1} : () -> tensor<1x6xi64>
  // expected-error @+2 {{index 4 (element [0, 4] of the indices) is outside dimension 0, which has 4 entries; allowed are -4 to 3}}
  // expected-note @+1 {{these indices are known while compiling and pick from 'positions'; if they are positions, choose a smaller --profile, else mend the model}}
  %a = graph.gather %w, %p {dim = 0 : i64} : (tensor<4x2xf32>, tensor<1x6xi64>) -> tensor<1x6x2xf32>
  return %a : tensor<1x6x2xf32>
}
}

// -----

func.func @before_the_first(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %c = graph.constant dense<-4> : tensor<i64>
  // expected-error @+2 {{index -4 (element [] of the indices) is outside dimension 1, which has 3 entries; allowed are -3 to 2}}
  // expected-note @+1 {{these indices are known while compiling; if they are positions, choose a smaller --profile, else mend the model}}
  %a = graph.gather %x, %c {dim = 1 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<2xf32>
  return %a : tensor<2xf32>
}
