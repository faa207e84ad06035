// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-simplify-graph,gpucc-raise-composites))' | FileCheck %s
// GELU in its orders, SiLU, and near misses.

// CHECK-LABEL: @erf_a
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: graph.gelu erf %[[X]]
func.func @erf_a(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.constant dense<1.41421354> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %u = graph.binary div %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.unary erf %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %x, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %h, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: @erf_b
// CHECK: graph.gelu erf
func.func @erf_b(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.constant dense<0.707106769> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %u = graph.binary mul %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.unary erf %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %half, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %h, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// x itself is a product, and is used elsewhere: it is not inside.
// CHECK-LABEL: @erf_of_product
// CHECK: %[[P:.*]] = graph.binary mul
// CHECK: graph.gelu erf %[[P]]
func.func @erf_of_product(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %x = graph.binary mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %k = graph.constant dense<1.41421354> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %u = graph.binary div %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.unary erf %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %g, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %x, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}
// The wrong constant; another factor; an inner value that is a result.
// CHECK-LABEL: @wrong_constant
// CHECK-NOT: graph.gelu
func.func @wrong_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.constant dense<1.5> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %u = graph.binary div %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.unary erf %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %x, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %h, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: @other_factor
// CHECK-NOT: graph.gelu
func.func @other_factor(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.constant dense<1.41421354> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %u = graph.binary div %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.unary erf %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %z, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %h, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: @inner_result
// CHECK-NOT: graph.gelu
func.func @inner_result(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %k = graph.constant dense<1.41421354> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %u = graph.binary div %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.unary erf %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %x, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %h, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %f : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: @tanh_form
// CHECK: graph.gelu tanh
func.func @tanh_form(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = graph.constant dense<3.0> : tensor<4xf32>
  %c = graph.constant dense<4.471500e-02> : tensor<4xf32>
  %k = graph.constant dense<0.797884583> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %p = graph.binary pow %x, %three : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.binary mul %p, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = graph.binary add %x, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = graph.binary mul %s, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.unary tanh %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %x, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %h, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: @silu
// CHECK-NOT: graph.unary
// CHECK: graph.silu
func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %l = graph.unary logistic %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %l, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// A gate on another value is no SiLU.
// CHECK-LABEL: @gate
// CHECK-NOT: graph.silu
// CHECK: return
func.func @gate(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %l = graph.unary logistic %z : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %x, %l : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
