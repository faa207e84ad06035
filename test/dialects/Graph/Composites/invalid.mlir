// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of softmax
func.func @softmax(%x: tensor<2x0xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.softmax' op (C1) dimension 1 of tensor<2x0xf32> is empty}}
  // expected-note @+1 {{softmax needs at least one element per row}}
  %0 = graph.softmax %x {dim = 1 : i64} : (tensor<2x0xf32>) -> tensor<2x0xf32>
  return
}

// -----

// (C1) of layer_norm
func.func @layer_norm_begin(%x: tensor<2x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.layer_norm' op (C1) `begin` is 2, the tensor has rank 2}}
  // expected-note @+1 {{give a dimension from 0 to 1}}
  %0 = graph.layer_norm %x {begin = 2 : i64, epsilon = 0.0 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C2) of layer_norm
func.func @layer_norm_scale(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.layer_norm' op (C2) scale is tensor<2xf32> for x tensor<2x3xf32> and `begin` = 1}}
  // expected-note @+1 {{it has the shape of the normalized dimensions, [3], and the element type of x}}
  %0 = graph.layer_norm %x, %s {begin = 1 : i64, epsilon = 0.0 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C3) of layer_norm
func.func @layer_norm_epsilon(%x: tensor<2x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.layer_norm' op (C3) `epsilon` is -1.000000}}
  // expected-note @+1 {{it is not negative}}
  %0 = graph.layer_norm %x {begin = 1 : i64, epsilon = -1.0 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C2) of rms_norm
func.func @rms_norm(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.rms_norm' op (C2) scale is tensor<2xf32> for x tensor<2x3xf32> and `begin` = 1}}
  // expected-note @+1 {{it has the shape of the normalized dimensions, [3]}}
  %0 = graph.rms_norm %x, %s {begin = 1 : i64, epsilon = 0.0 : f64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C1) of batch_norm
func.func @batch_norm(%x: tensor<2x4x3xf32>, %c: tensor<3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.batch_norm' op (C1) scale is tensor<3xf32> for x tensor<2x4x3xf32>}}
  // expected-note @+1 {{it has one entry per channel, [4]}}
  %0:3 = graph.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

// (C1) of attention
func.func @attention_sizes(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.attention' op (C1) q is tensor<2x4x3x8xf32>, k tensor<2x4x3x6xf32>, v tensor<2x4x3x6xf32>}}
  // expected-note @+1 {{expected q [B,H,S,D], k [B,K,T,D], v [B,K,T,E] of one element type}}
  %0 = graph.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x4x3x8xf32>, tensor<2x4x3x6xf32>, tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32>
  return
}

// -----

// (C2) of attention
func.func @attention_heads(%q: tensor<2x4x3x8xf32>, %k: tensor<2x3x3x8xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.attention' op (C2) q has 4 heads, k and v have 3}}
  // expected-note @+1 {{the number of query heads is a multiple of that of key heads}}
  %0 = graph.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x4x3x8xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

// (C3) of attention
func.func @attention_bias(%q: tensor<2x4x3x8xf32>, %b: tensor<2x2x3x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.attention' op (C3) bias is tensor<2x2x3x3xf32>, the scores have shape [2, 4, 3, 3]}}
  // expected-note @+1 {{rank is 4 and each dimension is equal or 1; reshape the bias}}
  %0 = graph.attention %q, %q, %q, %b {scale = 1.0 : f64} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x2x3x3xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

// (C1) of rope
func.func @rope(%x: tensor<2x4x3x8xf32>, %a: tensor<3x5xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.rope' op (C1) x is tensor<2x4x3x8xf32>, cos tensor<3x5xf32>, sin tensor<3x5xf32>}}
  // expected-note @+1 {{expected x [B,H,S,D] and cos, sin both [S,R/2] or [B,S,R/2] with R ≤ D}}
  %0 = graph.rope %x, %a, %a : (tensor<2x4x3x8xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

// (C1) of cross_entropy
func.func @cross_entropy(%x: tensor<4x5xf32>, %l: tensor<5xi64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.cross_entropy' op (C1) logits are tensor<4x5xf32>, labels tensor<5xi64>}}
  // expected-note @+1 {{labels have the shape of logits without the last dimension, the classes}}
  %0:2 = graph.cross_entropy %x, %l {ignore_index = -1 : i64} : (tensor<4x5xf32>, tensor<5xi64>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// (C1) of dropout
func.func @dropout_ratio(%x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.dropout' op (C1) `ratio` is 1.000000}}
  // expected-note @+1 {{it is the probability of zeroing an element: at least 0 and less than 1}}
  %0 = graph.dropout %x, %n, %n {ratio = 1.0 : f64, seed = 1 : i64, ordinal = 2 : i64, global_shape = array<i64: 4>} : (tensor<4xf32>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

// (C2) of dropout
func.func @dropout_shape(%x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.dropout' op (C2) x is tensor<4xf32>, `global_shape` = [4], there are 0 offsets}}
  // expected-note @+1 {{`global_shape` has x's rank and is no smaller, with one offset per dimension}}
  %0 = graph.dropout %x, %n {ratio = 0.5 : f64, seed = 1 : i64, ordinal = 2 : i64, global_shape = array<i64: 4>} : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

// (C1) of top_k
func.func @top_k_scalar(%x: tensor<f32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.top_k' op (C1) x is a scalar}}
  // expected-note @+1 {{reshape it to one dimension of size 1}}
  %0:2 = graph.top_k %x {k = 1 : i64} : (tensor<f32>) -> (tensor<f32>, tensor<i64>)
  return
}

// -----

// (C3) of top_k
func.func @top_k_long(%x: tensor<2147483648xi8>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.top_k' op (C3) rows have 2147483648 elements}}
  // expected-note @+1 {{split rows of more than 2^30}}
  %0:2 = graph.top_k %x {k = 1 : i64} : (tensor<2147483648xi8>) -> (tensor<1xi8>, tensor<1xi64>)
  return
}

// -----

// (C2) of top_k
func.func @top_k_many(%x: tensor<2x3xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.top_k' op (C2) `k` is 4 for rows of 3}}
  // expected-note @+1 {{give from 1 to 3}}
  %0:2 = graph.top_k %x {k = 4 : i64} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  return
}
