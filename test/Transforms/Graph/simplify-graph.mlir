// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-simplify-graph))' | FileCheck %s

// CHECK-LABEL: @movement
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
func.func @movement(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<24xf32>, tensor<2x3x4xf32>) {
  %a = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %b = graph.transpose %a {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  %c = graph.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %d = graph.reshape %c {shape = array<i64: 24>} : (tensor<6x4xf32>) -> tensor<24xf32>
  %e = graph.slice %x {start = array<i64: 0, 0, 0>, sizes = array<i64: 2, 3, 4>, strides = array<i64: 1, 1, 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.reshape %[[X]] {shape = array<i64: 24>}
  // CHECK-NEXT: return %[[X]], %[[D]], %[[X]]
  return %b, %d, %e : tensor<2x3x4xf32>, tensor<24xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @neutral
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>
func.func @neutral(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %minus = graph.constant dense<-0.0> : tensor<4xf32>
  %izero = graph.constant dense<0> : tensor<4xi32>
  %a = graph.binary mul %one, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.binary sub %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.binary add %x, %minus : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.binary add %i, %izero : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// What looks neutral and is not: x + 0 turns -0 into 0, x * 0 keeps NaN, x - x is NaN for inf,
// pow(x, 0.5) of -inf is inf.
// CHECK-LABEL: @traps
func.func @traps(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %minus = graph.constant dense<-0.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  // CHECK-DAG: graph.binary add
  %a = graph.binary add %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-DAG: graph.binary mul
  %b = graph.binary mul %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-DAG: graph.binary sub
  %c = graph.binary sub %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-DAG: graph.binary pow
  %d = graph.binary pow %x, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-DAG: graph.binary sub
  %e = graph.binary sub %x, %minus : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @exact_quotient
func.func @exact_quotient(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %eight = graph.constant dense<8.0> : tensor<4xf32>
  %three = graph.constant dense<3.0> : tensor<4xf32>
  // CHECK: %[[C:.*]] = graph.constant dense<1.250000e-01>
  // CHECK: graph.binary mul %{{.*}}, %[[C]]
  %a = graph.binary div %x, %eight : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.binary div
  %b = graph.binary div %x, %three : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A detour through a wider type goes, one through a narrower type stays.
// CHECK-LABEL: @converts
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>, %[[Y:.*]]: tensor<4xf32>)
func.func @converts(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %a = graph.convert %x to f32 : (tensor<4xbf16>) -> tensor<4xf32>
  %b = graph.convert %a to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %[[N:.*]] = graph.convert %[[Y]] to bf16
  %c = graph.convert %y to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %[[W:.*]] = graph.convert %[[N]] to f32
  %d = graph.convert %c to f32 : (tensor<4xbf16>) -> tensor<4xf32>
  // CHECK: return %[[X]], %[[W]]
  return %b, %d : tensor<4xbf16>, tensor<4xf32>
}

// CHECK-LABEL: @products
// CHECK-SAME: (%[[X:.*]]: tensor<8x16xf32>, %[[W:.*]]: tensor<4x16xf32>
func.func @products(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %v: tensor<2x3x16xf32>) -> (tensor<8x4xf32>, tensor<8x3x2xf32>) {
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  // CHECK-NEXT: graph.contract %[[X]], %[[W]] {{.*}}rhs_contract = array<i64: 1>
  %a = graph.contract %x, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  // Free dimensions change their order: the transpose stays.
  // CHECK: graph.transpose
  %u = graph.transpose %v {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x16xf32>) -> tensor<3x2x16xf32>
  %b = graph.contract %x, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 2>} : (tensor<8x16xf32>, tensor<3x2x16xf32>) -> tensor<8x3x2xf32>
  return %a, %b : tensor<8x4xf32>, tensor<8x3x2xf32>
}

// A sequence that an exporter wrote as an image: one dimension less, transposes stay outside.
// CHECK-LABEL: @narrow_image
// CHECK: %[[R:.*]] = graph.reshape %arg0 {shape = array<i64: 1, 12, 4>}
// CHECK: %[[T:.*]] = graph.transpose %[[R]] {permutation = array<i64: 0, 2, 1>}
// CHECK: %[[F:.*]] = graph.reshape %arg1 {shape = array<i64: 6, 4, 5>}
// CHECK: graph.convolution %[[T]], %[[F]] {dilations = array<i64: 1>, {{.*}} strides = array<i64: 2>} : {{.*}} -> tensor<1x6x4xf32>
// CHECK: graph.reshape {{.*}} -> tensor<1x6x4x1xf32>
func.func @narrow_image(%x: tensor<1x12x4x1xf32>, %w: tensor<6x4x5x1xf32>) -> tensor<1x6x4x1xf32> {
  %t = graph.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x12x4x1xf32>) -> tensor<1x4x12x1xf32>
  %y = graph.convolution %t, %w {strides = array<i64: 2, 3>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x12x1xf32>, tensor<6x4x5x1xf32>) -> tensor<1x6x4x1xf32>
  return %y : tensor<1x6x4x1xf32>
}

// A window of 3 over a padded dimension of size 1 moves; of two spatial dimensions one must stay.
// CHECK-LABEL: @stays
// CHECK: graph.convolution {{.*}} -> tensor<1x6x8x1xf32>
// CHECK: graph.convolution {{.*}} -> tensor<1x6x1xf32>
func.func @stays(%x: tensor<1x4x12x1xf32>, %w: tensor<6x4x5x3xf32>, %p: tensor<1x4x1x1xf32>, %q: tensor<6x4x1x1xf32>) -> (tensor<1x6x8x1xf32>, tensor<1x6x1x1xf32>) {
  %y = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 1>, pads_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x12x1xf32>, tensor<6x4x5x3xf32>) -> tensor<1x6x8x1xf32>
  %z = graph.convolution %p, %q {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x1x1xf32>, tensor<6x4x1x1xf32>) -> tensor<1x6x1x1xf32>
  return %y, %z : tensor<1x6x8x1xf32>, tensor<1x6x1x1xf32>
}
