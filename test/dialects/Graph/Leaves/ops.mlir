// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

module attributes {graph.files = ["weights.bin"]} {
  // CHECK: graph.weight_data @w {bytes = 256 : i64, file = 0 : i64, offset = 64 : i64} : tensor<8x8xf32>
  graph.weight_data @w {file = 0 : i64, offset = 64 : i64, bytes = 256 : i64} : tensor<8x8xf32>

  // CHECK-LABEL: func @leaves
  func.func @leaves(%step: tensor<i64>) {
    // CHECK: graph.constant dense<1.000000e+00> : tensor<4xf32>
    %0 = graph.constant dense<1.0> : tensor<4xf32>
    // CHECK: graph.weight @w : tensor<8x8xf32>
    %1 = graph.weight @w : tensor<8x8xf32>
    // CHECK: graph.weight @w {start = array<i64: 4, 2>} : tensor<4x4xf32>
    %2 = graph.weight @w {start = array<i64: 4, 2>} : tensor<4x4xf32>
    // CHECK: graph.iota {dim = 1 : i64, type = tensor<2x3xi64>} : () -> tensor<2x3xi64>
    %3 = graph.iota {type = tensor<2x3xi64>, dim = 1 : i64} : () -> tensor<2x3xi64>
    // CHECK: graph.iota %{{.*}} {dim = 0 : i64, type = tensor<2xf32>} : (tensor<i64>) -> tensor<2xf32>
    %4 = graph.iota %step {type = tensor<2xf32>, dim = 0 : i64} : (tensor<i64>) -> tensor<2xf32>
    // CHECK: graph.rng_uniform
    // CHECK-SAME: global_shape = array<i64: 8>
    %5 = graph.rng_uniform %step, %step {type = tensor<4xf32>, seed = 1 : i64, ordinal = 2 : i64, global_shape = array<i64: 8>} : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
    return
  }
}
