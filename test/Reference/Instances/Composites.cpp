//===- Composites.cpp - instances of the composites ops ---===//
#include "../InstanceTexts.h"

const char *const gpucc::test::instancesComposites = R"mlir(
func.func @softmax(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.softmax %x {dim = 1 : i64} : (tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @log_softmax(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.softmax %x {dim = 2 : i64, log} : (tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @layer_norm(%x: tensor<2x4x3xf64>, %s: tensor<4x3xf64>, %b: tensor<4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.layer_norm %x, %s, %b {begin = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @layer_norm_bias(%x: tensor<2x4x3xf64>, %b: tensor<3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.layer_norm %x, %b {begin = 2 : i64, epsilon = 1.0e-2 : f64, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<2x4x3xf64>, tensor<3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @rms_norm(%x: tensor<2x4x3xf64>, %s: tensor<3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.rms_norm %x, %s {begin = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x4x3xf64>, tensor<3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @rms_norm_plain(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.rms_norm %x {begin = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @batch_norm_training(%x: tensor<3x4x2xf64>, %s: tensor<4xf64>, %b: tensor<4xf64>, %m: tensor<4xf64>, %v: tensor<4xf64> {test.range = [0.5, 2.0]}) -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>) {
  %y:3 = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training} : (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1, %y#2 : tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>
}
func.func @batch_norm_inference(%x: tensor<3x4x2xf64>, %s: tensor<4xf64>, %b: tensor<4xf64>, %m: tensor<4xf64>, %v: tensor<4xf64> {test.range = [0.5, 2.0]}) -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>) {
  %y:3 = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1, %y#2 : tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>
}
func.func @gelu_erf(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.gelu erf %x : (tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @gelu_tanh(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.gelu tanh %x : (tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @silu(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.silu %x : (tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @mish(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>) {
  %y = graph.mish %x : (tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}
func.func @attention(%q: tensor<2x2x4x3xf64>, %k: tensor<2x2x4x3xf64>, %v: tensor<2x2x4x2xf64>) -> (tensor<2x2x4x2xf64>) {
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x2x4x3xf64>, tensor<2x2x4x3xf64>, tensor<2x2x4x2xf64>) -> tensor<2x2x4x2xf64>
  return %y : tensor<2x2x4x2xf64>
}
func.func @attention_causal(%q: tensor<2x2x3x3xf64>, %k: tensor<2x2x5x3xf64>, %v: tensor<2x2x5x2xf64>) -> (tensor<2x2x3x2xf64>) {
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x2x3x3xf64>, tensor<2x2x5x3xf64>, tensor<2x2x5x2xf64>) -> tensor<2x2x3x2xf64>
  return %y : tensor<2x2x3x2xf64>
}
func.func @attention_blind_rows(%q: tensor<2x2x5x3xf64>, %k: tensor<2x2x3x3xf64>, %v: tensor<2x2x3x2xf64>) -> (tensor<2x2x5x2xf64>) {
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x2x5x3xf64>, tensor<2x2x3x3xf64>, tensor<2x2x3x2xf64>) -> tensor<2x2x5x2xf64>
  return %y : tensor<2x2x5x2xf64>
}
func.func @attention_grouped(%q: tensor<2x4x4x3xf64>, %k: tensor<2x2x6x3xf64>, %v: tensor<2x2x6x2xf64>, %b: tensor<1x4x4x6xf64>) -> (tensor<2x4x4x2xf64>) {
  %y = graph.attention %q, %k, %v, %b {scale = 0.5 : f64} : (tensor<2x4x4x3xf64>, tensor<2x2x6x3xf64>, tensor<2x2x6x2xf64>, tensor<1x4x4x6xf64>) -> tensor<2x4x4x2xf64>
  return %y : tensor<2x4x4x2xf64>
}
func.func @attention_bias(%q: tensor<2x2x4x3xf64>, %k: tensor<2x2x3x3xf64>, %v: tensor<2x2x3x2xf64>, %b: tensor<2x1x1x3xf64>) -> (tensor<2x2x4x2xf64>) {
  %y = graph.attention %q, %k, %v, %b {scale = 0.5 : f64} : (tensor<2x2x4x3xf64>, tensor<2x2x3x3xf64>, tensor<2x2x3x2xf64>, tensor<2x1x1x3xf64>) -> tensor<2x2x4x2xf64>
  return %y : tensor<2x2x4x2xf64>
}
func.func @attention_grouped_causal(%q: tensor<2x4x3x3xf64>, %k: tensor<2x2x3x3xf64>, %v: tensor<2x2x3x2xf64>, %b: tensor<1x1x3x3xf64>) -> (tensor<2x4x3x2xf64>) {
  %y = graph.attention %q, %k, %v, %b {scale = 0.5 : f64, causal} : (tensor<2x4x3x3xf64>, tensor<2x2x3x3xf64>, tensor<2x2x3x2xf64>, tensor<1x1x3x3xf64>) -> tensor<2x4x3x2xf64>
  return %y : tensor<2x4x3x2xf64>
}
func.func @rope(%x: tensor<2x2x4x6xf64>, %c: tensor<4x3xf64>, %s: tensor<4x3xf64>) -> (tensor<2x2x4x6xf64>) {
  %y = graph.rope %x, %c, %s {} : (tensor<2x2x4x6xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<2x2x4x6xf64>
  return %y : tensor<2x2x4x6xf64>
}
func.func @rope_interleaved(%x: tensor<2x2x4x6xf64>, %c: tensor<4x3xf64>, %s: tensor<4x3xf64>) -> (tensor<2x2x4x6xf64>) {
  %y = graph.rope %x, %c, %s {interleaved} : (tensor<2x2x4x6xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<2x2x4x6xf64>
  return %y : tensor<2x2x4x6xf64>
}
func.func @rope_partial(%x: tensor<2x2x4x6xf64>, %c: tensor<2x4x2xf64>, %s: tensor<2x4x2xf64>) -> (tensor<2x2x4x6xf64>) {
  %y = graph.rope %x, %c, %s {} : (tensor<2x2x4x6xf64>, tensor<2x4x2xf64>, tensor<2x4x2xf64>) -> tensor<2x2x4x6xf64>
  return %y : tensor<2x2x4x6xf64>
}
func.func @rope_partial_interleaved(%x: tensor<2x2x4x6xf64>, %c: tensor<2x4x2xf64>, %s: tensor<2x4x2xf64>) -> (tensor<2x2x4x6xf64>) {
  %y = graph.rope %x, %c, %s {interleaved} : (tensor<2x2x4x6xf64>, tensor<2x4x2xf64>, tensor<2x4x2xf64>) -> tensor<2x2x4x6xf64>
  return %y : tensor<2x2x4x6xf64>
}
func.func @cross_entropy(%x: tensor<4x5xf64>, %l: tensor<4xi64> {test.ints = [-1, 6]}) -> (tensor<f64>, tensor<f64>) {
  %y:2 = graph.cross_entropy %x, %l {ignore_index = -1 : i64} : (tensor<4x5xf64>, tensor<4xi64>) -> (tensor<f64>, tensor<f64>)
  return %y#0, %y#1 : tensor<f64>, tensor<f64>
}
func.func @cross_entropy_tokens(%x: tensor<2x4x5xf64>, %l: tensor<2x4xi32> {test.ints = [0, 5]}) -> (tensor<f64>, tensor<f64>) {
  %y:2 = graph.cross_entropy %x, %l {ignore_index = 2 : i64} : (tensor<2x4x5xf64>, tensor<2x4xi32>) -> (tensor<f64>, tensor<f64>)
  return %y#0, %y#1 : tensor<f64>, tensor<f64>
}
func.func @dropout(%x: tensor<4x6xf64>, %s: tensor<i64> {test.ints = [0, 99]}, %a: tensor<i64> {test.ints = [0, 1]}, %b: tensor<i64> {test.ints = [0, 1]}) -> (tensor<4x6xf64>) {
  %y = graph.dropout %x, %s, %a, %b {ratio = 0.4 : f64, seed = 7 : i64, ordinal = 3 : i64, global_shape = array<i64: 4, 6>} : (tensor<4x6xf64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}
func.func @top_k(%x: tensor<2x3x5xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x3xi64>) {
  %y:2 = graph.top_k %x {k = 3 : i64} : (tensor<2x3x5xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x3xi64>)
  return %y#0, %y#1 : tensor<2x3x3xf64>, tensor<2x3x3xi64>
}
func.func @top_k_smallest(%x: tensor<7xf64>) -> (tensor<7xf64>, tensor<7xi64>) {
  %y:2 = graph.top_k %x {k = 7 : i64, smallest} : (tensor<7xf64>) -> (tensor<7xf64>, tensor<7xi64>)
  return %y#0, %y#1 : tensor<7xf64>, tensor<7xi64>
}
)mlir";
