// RUN: gpucc-opt %s --pass-pipeline='builtin.module(func.func(gpucc-simplify-graph,gpucc-raise-composites))' | FileCheck %s
// Attention from its parts. What may not be raised: masks under which a row may be -inf only,
// where softmax gives NaN and attention zero (bug kinds 6, 7).

// CHECK-LABEL: @plain
// CHECK-SAME: (%[[Q:[^:]*]]: tensor<2x4x3x8xf32>, %[[K:[^:]*]]: tensor<2x4x5x8xf32>, %[[V:[^:]*]]: tensor<2x4x5x8xf32>)
// CHECK: %[[Y:.*]] = graph.attention %[[Q]], %[[K]], %[[V]] {scale = 0.353553{{.*}}}
// CHECK-NEXT: return %[[Y]]
func.func @plain(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %m = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// Row s sees columns up to s + (5 - 3): causal, by evaluating the mask.
// CHECK-LABEL: @causal
// CHECK: graph.attention %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {causal
func.func @causal(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %t = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %i = graph.iota {type = tensor<3x5xi64>, dim = 0 : i64} : () -> tensor<3x5xi64>
  %j = graph.iota {type = tensor<3x5xi64>, dim = 1 : i64} : () -> tensor<3x5xi64>
  %d = graph.binary sub %j, %i : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi64>
  %two = graph.constant dense<2> : tensor<3x5xi64>
  %see = graph.compare le %d, %two : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
  %seen = graph.broadcast %see {shape = array<i64: 2, 4, 3, 5>, dims = array<i64: 2, 3>} : (tensor<3x5xi1>) -> tensor<2x4x3x5xi1>
  %low = graph.constant dense<0xFF800000> : tensor<2x4x3x5xf32>
  %m = graph.select %seen, %t, %low : (tensor<2x4x3x5xi1>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// Aligned to the upper left, it is another mask: a bias, not causal.
// CHECK-LABEL: @upper_left
// CHECK: graph.attention %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {scale
func.func @upper_left(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %t = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %i = graph.iota {type = tensor<3x5xi64>, dim = 0 : i64} : () -> tensor<3x5xi64>
  %j = graph.iota {type = tensor<3x5xi64>, dim = 1 : i64} : () -> tensor<3x5xi64>
  %d = graph.binary sub %j, %i : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi64>
  %two = graph.constant dense<0> : tensor<3x5xi64>
  %see = graph.compare le %d, %two : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
  %seen = graph.broadcast %see {shape = array<i64: 2, 4, 3, 5>, dims = array<i64: 2, 3>} : (tensor<3x5xi1>) -> tensor<2x4x3x5xi1>
  %low = graph.constant dense<-3.40282347E+38> : tensor<2x4x3x5xf32>
  %m = graph.select %seen, %t, %low : (tensor<2x4x3x5xi1>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// Row 0 sees nothing and the hidden scores are -inf.
// CHECK-LABEL: @blind_row
// CHECK-NOT: graph.attention
// CHECK: graph.softmax
func.func @blind_row(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %t = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %i = graph.iota {type = tensor<3x5xi64>, dim = 0 : i64} : () -> tensor<3x5xi64>
  %j = graph.iota {type = tensor<3x5xi64>, dim = 1 : i64} : () -> tensor<3x5xi64>
  %d = graph.binary sub %j, %i : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi64>
  %two = graph.constant dense<-1> : tensor<3x5xi64>
  %see = graph.compare le %d, %two : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
  %seen = graph.broadcast %see {shape = array<i64: 2, 4, 3, 5>, dims = array<i64: 2, 3>} : (tensor<3x5xi1>) -> tensor<2x4x3x5xi1>
  %low = graph.constant dense<0xFF800000> : tensor<2x4x3x5xf32>
  %m = graph.select %seen, %t, %low : (tensor<2x4x3x5xi1>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// A mask that the caller gives in floats may hold rows of -inf.
// CHECK-LABEL: @float_mask
// CHECK-NOT: graph.attention
// CHECK: graph.softmax
func.func @float_mask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %b: tensor<2x1x1x5xf32>) -> tensor<2x4x3x8xf32> {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %t = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %w = graph.broadcast %b {shape = array<i64: 2, 4, 3, 5>, dims = array<i64: 0, 1, 2, 3>} : (tensor<2x1x1x5xf32>) -> tensor<2x4x3x5xf32>
  %m = graph.binary add %t, %w : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// One of zeros and ones times the least float cannot.
// CHECK-LABEL: @integer_mask
// CHECK: %[[B:.*]] = graph.reshape %{{.*}} {shape = array<i64: 2, 1, 1, 5>}
// CHECK: graph.attention %{{.*}}, %{{.*}}, %{{.*}}, %[[B]]
func.func @integer_mask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %a: tensor<2x5xi64>) -> tensor<2x4x3x8xf32> {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %t = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %f = graph.convert %a to f32 : (tensor<2x5xi64>) -> tensor<2x5xf32>
  %one = graph.constant dense<1.0> : tensor<2x5xf32>
  %o = graph.binary sub %one, %f : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %least = graph.constant dense<-3.40282347E+38> : tensor<2x5xf32>
  %b = graph.binary mul %o, %least : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %w = graph.broadcast %b {shape = array<i64: 2, 4, 3, 5>, dims = array<i64: 0, 3>} : (tensor<2x5xf32>) -> tensor<2x4x3x5xf32>
  %m = graph.binary add %w, %t : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// -1e4 replaces scores in a mask known at run time only: adding it would not do the same.
// CHECK-LABEL: @small_fill
// CHECK-NOT: graph.attention
// CHECK: graph.softmax
func.func @small_fill(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %seen: tensor<2x4x3x5xi1>) -> tensor<2x4x3x8xf32> {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %t = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %low = graph.constant dense<-1.0e4> : tensor<2x4x3x5xf32>
  %m = graph.select %seen, %t, %low : (tensor<2x4x3x5xi1>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// The probabilities are a result, too.
// CHECK-LABEL: @inner_result
// CHECK-NOT: graph.attention
// CHECK: return
func.func @inner_result(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x5xf32>) {
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %m = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y, %p : tensor<2x4x3x8xf32>, tensor<2x4x3x5xf32>
}

// Keys and values that were repeated for groups of queries are taken before that.
// CHECK-LABEL: @grouped
// CHECK-SAME: (%[[Q:[^:]*]]: tensor<2x4x3x8xf32>, %[[K:[^:]*]]: tensor<2x2x5x8xf32>, %[[V:[^:]*]]: tensor<2x2x5x8xf32>)
// CHECK: graph.attention %[[Q]], %[[K]], %[[V]]
func.func @grouped(%q: tensor<2x4x3x8xf32>, %k0: tensor<2x2x5x8xf32>, %v0: tensor<2x2x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %k1 = graph.broadcast %k0 {shape = array<i64: 2, 2, 2, 5, 8>, dims = array<i64: 0, 1, 3, 4>} : (tensor<2x2x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %k = graph.reshape %k1 {shape = array<i64: 2, 4, 5, 8>} : (tensor<2x2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  %v1 = graph.broadcast %v0 {shape = array<i64: 2, 2, 2, 5, 8>, dims = array<i64: 0, 1, 3, 4>} : (tensor<2x2x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %v = graph.reshape %v1 {shape = array<i64: 2, 4, 5, 8>} : (tensor<2x2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  %s = graph.contract %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %c = graph.constant dense<0.353553385> : tensor<2x4x3x5xf32>
  %m = graph.binary mul %s, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = graph.softmax %m {dim = 3 : i64} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %y = graph.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}
