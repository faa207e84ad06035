// RUN: gpucc-opt %s -canonicalize | FileCheck %s

// Equal constants become one.
// CHECK-LABEL: func @one_constant
// CHECK: %[[C:.*]] = graph.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NOT: graph.constant
// CHECK: return %[[C]], %[[C]]
func.func @one_constant() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.constant dense<1.0> : tensor<4xf32>
  %1 = graph.constant dense<1.0> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
