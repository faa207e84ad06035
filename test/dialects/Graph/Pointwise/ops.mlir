// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s

// CHECK-LABEL: func @pointwise
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[C:.*]]: tensor<2x3xi1>)
func.func @pointwise(%x: tensor<2x3xf32>, %c: tensor<2x3xi1>) -> tensor<2x3xbf16> {
  // CHECK: %[[E:.*]] = graph.unary exp %[[X]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = graph.unary exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.unary is_nan %[[X]] : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = graph.unary is_nan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: graph.unary not %[[C]] : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %2 = graph.unary not %c : (tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: %[[A:.*]] = graph.binary add %[[X]], %[[E]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.binary add %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.compare lt %[[X]], %[[A]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %4 = graph.compare lt %x, %3 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: %[[S:.*]] = graph.select %[[C]], %[[X]], %[[A]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.select %c, %x, %3 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.convert %[[S]] to bf16 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %6 = graph.convert %5 to bf16 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  return %6 : tensor<2x3xbf16>
}
