// RUN: gpucc-opt %s --split-input-file --pass-pipeline="builtin.module(gpucc-mixed-precision{precision=mixed-bf16})" | FileCheck %s
// RUN: gpucc-opt %s --split-input-file --pass-pipeline="builtin.module(gpucc-mixed-precision{precision=tf32})" | FileCheck %s --check-prefix=TF32

// The weight behind its transpose and the bias become bf16 state; the scale of the norm stays f32, and
// so do input and output. The product's result is bf16; the norm works in f32 and gives back bf16.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x16xf32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x16xbf16>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xbf16>
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<4xf32>
// CHECK-DAG: %[[T:.*]] = graph.transpose %[[W]] {{.*}} -> tensor<16x4xbf16>
// CHECK-DAG: %[[XL:.*]] = graph.convert %[[X]] to bf16
// CHECK: %[[P:.*]] = graph.contract %[[XL]], %[[T]] {{.*}} -> tensor<8x4xbf16>
// CHECK: %[[BB:.*]] = graph.broadcast %[[B]] {{.*}} -> tensor<8x4xbf16>
// CHECK: %[[A:.*]] = graph.binary {{ *}}add %[[P]], %[[BB]]
// CHECK: %[[AW:.*]] = graph.convert %[[A]] to f32
// CHECK: %[[N:.*]] = graph.rms_norm %[[AW]], %[[S]] {{.*}} -> tensor<8x4xf32>
// CHECK: %[[NL:.*]] = graph.convert %[[N]] to bf16
// CHECK: %[[Y:.*]] = graph.convert %[[NL]] to f32
// CHECK: return %[[Y]] : tensor<8x4xf32>
// TF32-LABEL: func.func @main
// TF32: graph.contract {{.*}}precision = #graph<precision tf32>{{.*}} -> tensor<8x4xf32>
func.func @main(%x: tensor<8x16xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<4x16xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>},
                %b: tensor<4xf32> {base.name = "b", base.kind = "state", base.state = #base.state<param>},
                %s: tensor<4xf32> {base.name = "s", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<8x4xf32> {base.name = "y", base.kind = "output"}) {
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %p = graph.contract %x, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %bb = graph.broadcast %b {shape = array<i64: 8, 4>, dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  %a = graph.binary add %p, %bb : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %n = graph.rms_norm %a, %s {begin = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %n : tensor<8x4xf32>
}

// -----

// Inference: the weight is stored rounded. A sum stays in f32.
module attributes {graph.files = ["m.onnx"]} {
  graph.weight_data @w {file = 0 : i64, offset = 0 : i64, bytes = 256 : i64} : tensor<16x4xf32>
  // CHECK-LABEL: func.func @main
  // CHECK-DAG: graph.weight @w : tensor<16x4xbf16>
  // CHECK: %[[P:.*]] = graph.contract {{.*}} -> tensor<8x4xbf16>
  // CHECK: %[[W:.*]] = graph.convert %[[P]] to f32
  // CHECK: graph.reduce {{ *}}sum %[[W]] {{.*}} -> tensor<8xf32>
  func.func @main(%x: tensor<8x16xf32> {base.name = "x", base.kind = "input"})
      -> (tensor<8xf32> {base.name = "y", base.kind = "output"}) {
    %w = graph.weight @w : tensor<16x4xf32>
    %p = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %y = graph.reduce sum %p {dims = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
