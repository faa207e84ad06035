// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-decompose-composites))' | FileCheck %s
// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-decompose-composites{keep=attention,softmax}))' | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: @all
// CHECK-NOT: graph.silu
// CHECK-NOT: graph.softmax
// CHECK-NOT: graph.attention
// CHECK: return
// KEEP-LABEL: @all
// KEEP-NOT: graph.silu
// KEEP: graph.softmax
// KEEP: graph.attention
func.func @all(%x: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) {
  %a = graph.silu %x : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %b = graph.softmax %x {dim = 3 : i64} : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %c = graph.attention %x, %x, %x {scale = 1.0 : f64, causal} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %a, %b, %c : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
}
