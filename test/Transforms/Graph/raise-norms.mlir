// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-simplify-graph,gpucc-raise-composites))' | FileCheck %s
// LayerNorm, RMSNorm, softmax in the forms exporters write, and what only looks like them
// (bug kinds 6, 8, 9).

// CHECK-LABEL: @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x8xf32>, %[[G:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[Y:.*]] = graph.layer_norm %[[X]], %[[G]], %[[B]] {{.*}}begin = 2 : i64, epsilon = 9.9999{{.*}}E-6
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %s0 = graph.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.unary sqrt %v : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %bb = graph.broadcast %b {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %sc = graph.binary mul %n, %gb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %y = graph.binary add %sc, %bb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// (f) an exponent of 3 is no variance.
// CHECK-LABEL: @exponent
// CHECK-NOT: graph.layer_norm
func.func @exponent(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %s0 = graph.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %three = graph.constant dense<3.0> : tensor<2x3x8xf32>
  %q = graph.binary pow %d, %three : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.unary sqrt %v : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %bb = graph.broadcast %b {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %sc = graph.binary mul %n, %gb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %y = graph.binary add %sc, %bb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// (g) the centered value is read elsewhere, too.
// CHECK-LABEL: @second_reader
// CHECK-NOT: graph.layer_norm
// CHECK: return
func.func @second_reader(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %s0 = graph.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.unary sqrt %v : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %bb = graph.broadcast %b {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %sc = graph.binary mul %n, %gb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %y = graph.binary add %sc, %bb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y, %d : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// (e) the value before the norm may be read by anybody: it is not inside.
// CHECK-LABEL: @input_is_output
// CHECK: graph.layer_norm
func.func @input_is_output(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %s0 = graph.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.unary sqrt %v : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %bb = graph.broadcast %b {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %sc = graph.binary mul %n, %gb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %y = graph.binary add %sc, %bb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y, %x : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// (a) one number as scale is no scale per element: the norm is raised without it.
// CHECK-LABEL: @scalar_scale
// CHECK: %[[N:.*]] = graph.layer_norm %{{[a-z0-9]+}} {
// CHECK: graph.binary mul %[[N]]
func.func @scalar_scale(%x: tensor<2x3x8xf32>, %g: tensor<1xf32>) -> tensor<2x3x8xf32> {
  %s0 = graph.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.unary sqrt %v : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 2, 3, 8>, dims = array<i64: 2>} : (tensor<1xf32>) -> tensor<2x3x8xf32>
  %y = graph.binary mul %n, %gb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// (b) a scale of shape [1,1,8] is one per element.
// CHECK-LABEL: @rank3_scale
// CHECK: %[[G:.*]] = graph.reshape %{{.*}} {shape = array<i64: 8>}
// CHECK: graph.layer_norm %{{.*}}, %[[G]]
func.func @rank3_scale(%x: tensor<2x3x8xf32>, %g: tensor<1x1x8xf32>) -> tensor<2x3x8xf32> {
  %s0 = graph.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.unary sqrt %v : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1, 2>} : (tensor<1x1x8xf32>) -> tensor<2x3x8xf32>
  %y = graph.binary mul %n, %gb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// A scale per row is no scale of the norm.
// CHECK-LABEL: @row_scale
// CHECK: %[[N:.*]] = graph.layer_norm %{{[a-z0-9]+}} {
// CHECK: graph.binary mul %[[N]]
func.func @row_scale(%x: tensor<2x3x8xf32>, %g: tensor<3xf32>) -> tensor<2x3x8xf32> {
  %s0 = graph.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.unary sqrt %v : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 2, 3, 8>, dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x8xf32>
  %y = graph.binary mul %n, %gb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// (c) statistics over dimensions 1 and 2; over dimension 1 alone (not the last ones) it is no
// layer norm.
// CHECK-LABEL: @two_dims
// CHECK: graph.layer_norm %{{.*}} {begin = 1 : i64
func.func @two_dims(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %s0 = graph.reduce sum %x {dims = array<i64: 1, 2>} : (tensor<2x3x8xf32>) -> tensor<2xf32>
  %cnt = graph.constant dense<24.0> : tensor<2xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 1, 2>} : (tensor<2x3x8xf32>) -> tensor<2xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2xf32>
  %v = graph.binary add %m1, %eps : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r = graph.unary sqrt %v : (tensor<2xf32>) -> tensor<2xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %n : tensor<2x3x8xf32>
}
// CHECK-LABEL: @middle_dim
// CHECK-NOT: graph.layer_norm
// CHECK: return
func.func @middle_dim(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %s0 = graph.reduce sum %x {dims = array<i64: 1>} : (tensor<2x3x8xf32>) -> tensor<2x8xf32>
  %cnt = graph.constant dense<3.0> : tensor<2x8xf32>
  %m0 = graph.binary div %s0, %cnt : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %mb = graph.broadcast %m0 {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 2>} : (tensor<2x8xf32>) -> tensor<2x3x8xf32>
  %d = graph.binary sub %x, %mb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %q = graph.binary mul %d, %d : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s1 = graph.reduce sum %q {dims = array<i64: 1>} : (tensor<2x3x8xf32>) -> tensor<2x8xf32>
  %m1 = graph.binary div %s1, %cnt : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x8xf32>
  %v = graph.binary add %m1, %eps : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = graph.unary sqrt %v : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %rb = graph.broadcast %r {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 2>} : (tensor<2x8xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %d, %rb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %n : tensor<2x3x8xf32>
}

// CHECK-LABEL: @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<8xf32>)
// CHECK-NEXT: graph.rms_norm %[[X]], %[[G]] {begin = 1 : i64
func.func @rms_norm(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %q = graph.binary mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = graph.reduce sum %q {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %c = graph.constant dense<8.0> : tensor<4xf32>
  %m = graph.binary div %s, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.constant dense<1.0e-5> : tensor<4xf32>
  %v = graph.binary add %m, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.unary rsqrt %v : (tensor<4xf32>) -> tensor<4xf32>
  %rb = graph.broadcast %r {shape = array<i64: 4, 8>, dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %n = graph.binary mul %x, %rb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %gb = graph.broadcast %g {shape = array<i64: 4, 8>, dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %y = graph.binary mul %gb, %n : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: graph.softmax %[[X]] {dim = 1 : i64}
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = graph.reduce max %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %mb = graph.broadcast %m {shape = array<i64: 4, 8>, dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %c = graph.binary sub %x, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = graph.unary exp %c : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = graph.reduce sum %e {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %sb = graph.broadcast %s {shape = array<i64: 4, 8>, dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = graph.binary div %e, %sb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Without the maximum it overflows where softmax does not.
// CHECK-LABEL: @no_maximum
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @no_maximum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = graph.unary exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = graph.reduce sum %e {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %sb = graph.broadcast %s {shape = array<i64: 4, 8>, dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = graph.binary div %e, %sb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Bug kind 9: the exponentials are a result of the function.
// CHECK-LABEL: @inner_result
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @inner_result(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %m = graph.reduce max %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %mb = graph.broadcast %m {shape = array<i64: 4, 8>, dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %c = graph.binary sub %x, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = graph.unary exp %c : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = graph.reduce sum %e {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %sb = graph.broadcast %s {shape = array<i64: 4, 8>, dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = graph.binary div %e, %sb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %e : tensor<4x8xf32>, tensor<4x8xf32>
}

// Bug kind 6: the floor of the sum of a softmax is not folded to 1.
// CHECK-LABEL: @sum_of_softmax
// CHECK: graph.softmax
// CHECK: graph.reduce sum
// CHECK: graph.unary floor
func.func @sum_of_softmax(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %p = graph.softmax %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = graph.reduce sum %p {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %f = graph.unary floor %s : (tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}

// A quotient without a root is another function.
// CHECK-LABEL: @no_root
// CHECK-NOT: graph.rms_norm
// CHECK: return
func.func @no_root(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %cnt = graph.constant dense<8.0> : tensor<2x3xf32>
  %q = graph.binary mul %x, %x : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s = graph.reduce sum %q {dims = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3xf32>
  %m = graph.binary div %s, %cnt : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2x3xf32>
  %v = graph.binary add %m, %eps : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %vb = graph.broadcast %v {shape = array<i64: 2, 3, 8>, dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %n = graph.binary div %x, %vb : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %n : tensor<2x3x8xf32>
}

// Divided by one less than the count: in bf16 the two numbers are neighbours, and not the same.
// CHECK-LABEL: @unbiased
// CHECK-NOT: graph.rms_norm
// CHECK: return
func.func @unbiased(%x: tensor<2x128xbf16>) -> tensor<2x128xbf16> {
  %cnt = graph.constant dense<127.0> : tensor<2xbf16>
  %q = graph.binary mul %x, %x : (tensor<2x128xbf16>, tensor<2x128xbf16>) -> tensor<2x128xbf16>
  %s = graph.reduce sum %q {dims = array<i64: 1>} : (tensor<2x128xbf16>) -> tensor<2xbf16>
  %m = graph.binary div %s, %cnt : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  %eps = graph.constant dense<1.0e-5> : tensor<2xbf16>
  %v = graph.binary add %m, %eps : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  %r = graph.unary sqrt %v : (tensor<2xbf16>) -> tensor<2xbf16>
  %rb = graph.broadcast %r {shape = array<i64: 2, 128>, dims = array<i64: 0>} : (tensor<2xbf16>) -> tensor<2x128xbf16>
  %n = graph.binary div %x, %rb : (tensor<2x128xbf16>, tensor<2x128xbf16>) -> tensor<2x128xbf16>
  return %n : tensor<2x128xbf16>
}
