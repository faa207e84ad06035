//===- Leaves.cpp - instances of the leaves ops ---===//
#include "../InstanceTexts.h"

const char *const gpucc::test::instancesLeaves = R"mlir(
func.func @constant_splat() -> (tensor<4x6xf64>) {
  %y = graph.constant dense<1.5> : tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}
func.func @constant_dense() -> (tensor<4x2xf64>) {
  %y = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64>
  return %y : tensor<4x2xf64>
}
graph.weight_data @w {file = 0 : i64, offset = 0 : i64, bytes = 64 : i64} : tensor<4x2xf64>
func.func @weight() -> (tensor<4x2xf64>) {
  %y = graph.weight @w : tensor<4x2xf64>
  return %y : tensor<4x2xf64>
}
func.func @iota() -> (tensor<4x6xi64>) {
  %y = graph.iota {type = tensor<4x6xi64>, dim = 1 : i64} : () -> tensor<4x6xi64>
  return %y : tensor<4x6xi64>
}
func.func @iota_start(%s: tensor<i64> {test.ints = [-5, 5]}) -> (tensor<4x6xf64>) {
  %y = graph.iota %s {type = tensor<4x6xf64>, dim = 0 : i64} : (tensor<i64>) -> tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}
func.func @rng(%s: tensor<i64> {test.ints = [0, 99]}, %a: tensor<i64> {test.ints = [1, 2]}, %b: tensor<i64> {test.ints = [2, 3]}) -> (tensor<4x6xf64>) {
  %y = graph.rng_uniform %s, %a, %b {type = tensor<4x6xf64>, seed = 7 : i64, ordinal = 3 : i64, global_shape = array<i64: 5, 8>} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}
)mlir";
