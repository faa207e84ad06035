// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of weight_data
module attributes {graph.files = ["weights.bin"]} {
  // expected-error @+2 {{(C1) has 4 bytes, 'tensor<8xf32>' takes 32}}
  // expected-note @+1 {{set `bytes` to 32 or correct the type}}
  graph.weight_data @w {file = 0 : i64, offset = 0 : i64, bytes = 4 : i64} : tensor<8xf32>
}

// -----

// (C2) of weight_data
module {
  // expected-error @+2 {{(C2) names file number 0, the module's `graph.files` lists 0}}
  // expected-note @+1 {{add the file to `graph.files` of the module}}
  graph.weight_data @w {file = 0 : i64, offset = 0 : i64, bytes = 32 : i64} : tensor<8xf32>
}

// -----

// (C3) of weight_data
module attributes {graph.files = ["weights.bin"]} {
  // expected-error @+2 {{(C3) starts at offset -8}}
  // expected-note @+1 {{offsets count bytes from the start of the file}}
  graph.weight_data @w {file = 0 : i64, offset = -8 : i64, bytes = 32 : i64} : tensor<8xf32>
}

// -----

// (C1) of weight
func.func @weight_key() {
  // expected-error @+2 {{'graph.weight' op (C1) no graph.weight_data is named @w}}
  // expected-note @+1 {{declare it in the module, or correct `key`}}
  %0 = graph.weight @w : tensor<8xf32>
  return
}

// -----

// (C2) of weight
module attributes {graph.files = ["weights.bin"]} {
  graph.weight_data @w {file = 0 : i64, offset = 0 : i64, bytes = 32 : i64} : tensor<8xf32>
  func.func @weight_block() {
    // expected-error @+2 {{'graph.weight' op (C2) the block tensor<4xf32> at [5] does not lie inside the stored tensor<8xf32>}}
    // expected-note @+1 {{the block keeps the element type, or rounds floats to other floats, and ends inside the weight}}
    %0 = graph.weight @w {start = array<i64: 5>} : tensor<4xf32>
    return
  }
}

// -----

// (C1) of iota
func.func @iota_dim() {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.iota' op (C1) `dim` is 2, the tensor has rank 2}}
  // expected-note @+1 {{give a dimension from 0 to 1}}
  %0 = graph.iota {type = tensor<2x3xi64>, dim = 2 : i64} : () -> tensor<2x3xi64>
  return
}

// -----

// (C1) of rng_uniform
func.func @rng_offsets(%s: tensor<i64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.rng_uniform' op (C1) has 0 offsets, `global_shape` = [8]}}
  // expected-note @+1 {{give one scalar i64 per dimension}}
  %0 = graph.rng_uniform %s {type = tensor<4xf32>, seed = 1 : i64, ordinal = 2 : i64, global_shape = array<i64: 8>} : (tensor<i64>) -> tensor<4xf32>
  return
}

// -----

// (C2) of rng_uniform
func.func @rng_block(%s: tensor<i64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.rng_uniform' op (C2) tensor<9xf32> is no block of `global_shape` = [8]}}
  // expected-note @+1 {{the result has the rank of `global_shape` and is no larger in any dimension}}
  %0 = graph.rng_uniform %s, %s {type = tensor<9xf32>, seed = 1 : i64, ordinal = 2 : i64, global_shape = array<i64: 8>} : (tensor<i64>, tensor<i64>) -> tensor<9xf32>
  return
}
