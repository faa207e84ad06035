//===- Movement.cpp - instances of the movement ops ---===//
#include "../InstanceTexts.h"

const char *const gpucc::test::instancesMovement = R"mlir(
func.func @reshape_split(%x: tensor<6x4xf64>) -> (tensor<2x3x4xf64>) {
  %y = graph.reshape %x {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf64>) -> tensor<2x3x4xf64>
  return %y : tensor<2x3x4xf64>
}
func.func @reshape_merge(%x: tensor<2x3x4xf64>) -> (tensor<6x4xf64>) {
  %y = graph.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf64>) -> tensor<6x4xf64>
  return %y : tensor<6x4xf64>
}
func.func @reshape_mixed(%x: tensor<4x6x2xf64>) -> (tensor<2x2x12xf64>) {
  %y = graph.reshape %x {shape = array<i64: 2, 2, 12>} : (tensor<4x6x2xf64>) -> tensor<2x2x12xf64>
  return %y : tensor<2x2x12xf64>
}
func.func @reshape_gcd(%x: tensor<6x4xf64>) -> (tensor<4x6xf64>) {
  %y = graph.reshape %x {shape = array<i64: 4, 6>} : (tensor<6x4xf64>) -> tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}
func.func @reshape_ones(%x: tensor<1x6x1x4xf64>) -> (tensor<6x1x2x2xf64>) {
  %y = graph.reshape %x {shape = array<i64: 6, 1, 2, 2>} : (tensor<1x6x1x4xf64>) -> tensor<6x1x2x2xf64>
  return %y : tensor<6x1x2x2xf64>
}
func.func @reshape_flat(%x: tensor<2x3x4xf64>) -> (tensor<24xf64>) {
  %y = graph.reshape %x {shape = array<i64: 24>} : (tensor<2x3x4xf64>) -> tensor<24xf64>
  return %y : tensor<24xf64>
}
func.func @reshape_crossed(%x: tensor<4x3x2xf64>) -> (tensor<2x6x2xf64>) {
  %y = graph.reshape %x {shape = array<i64: 2, 6, 2>} : (tensor<4x3x2xf64>) -> tensor<2x6x2xf64>
  return %y : tensor<2x6x2xf64>
}
func.func @transpose(%x: tensor<2x4x3xf64>) -> (tensor<3x2x4xf64>) {
  %y = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x4x3xf64>) -> tensor<3x2x4xf64>
  return %y : tensor<3x2x4xf64>
}
func.func @broadcast(%x: tensor<4x1xf64>) -> (tensor<2x4x6xf64>) {
  %y = graph.broadcast %x {shape = array<i64: 2, 4, 6>, dims = array<i64: 1, 2>} : (tensor<4x1xf64>) -> tensor<2x4x6xf64>
  return %y : tensor<2x4x6xf64>
}
func.func @slice(%x: tensor<4x9x6xf64>) -> (tensor<4x3x2xf64>) {
  %y = graph.slice %x {start = array<i64: 0, 8, 1>, sizes = array<i64: 4, 3, 2>, strides = array<i64: 1, -2, 3>} : (tensor<4x9x6xf64>) -> tensor<4x3x2xf64>
  return %y : tensor<4x3x2xf64>
}
func.func @slice_one(%x: tensor<4x6xf64>) -> (tensor<4x1xf64>) {
  %y = graph.slice %x {start = array<i64: 0, 2>, sizes = array<i64: 4, 1>, strides = array<i64: 1, 5>} : (tensor<4x6xf64>) -> tensor<4x1xf64>
  return %y : tensor<4x1xf64>
}
func.func @slice_moving(%x: tensor<4x9x6xf64>, %a: tensor<i64>, %b: tensor<i64> {test.ints = [-3, 9]}, %c: tensor<i64> {test.ints = [-3, 9]}) -> (tensor<4x3x2xf64>) {
  %y = graph.slice %x, %a, %b, %c {start = array<i64: 0, 8, 1>, sizes = array<i64: 4, 3, 2>, strides = array<i64: 1, -2, 3>} : (tensor<4x9x6xf64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x3x2xf64>
  return %y : tensor<4x3x2xf64>
}
func.func @pad_constant(%x: tensor<4x3x2xf64>, %v: tensor<f64>) -> (tensor<4x10x4xf64>) {
  %y = graph.pad constant %x, %v {low = array<i64: 0, 1, 0>, high = array<i64: 0, 2, 1>, interior = array<i64: 0, 2, 1>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<4x10x4xf64>
  return %y : tensor<4x10x4xf64>
}
func.func @pad_zero(%x: tensor<4x3xf64>) -> (tensor<4x6xf64>) {
  %v = graph.constant dense<0.0> : tensor<f64>
  %y = graph.pad constant %x, %v {low = array<i64: 0, 1>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>} : (tensor<4x3xf64>, tensor<f64>) -> tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}
func.func @pad_reflect(%x: tensor<2x3x4xf64>) -> (tensor<2x4x7xf64>) {
  %y = graph.pad reflect %x {low = array<i64: 0, 1, 2>, high = array<i64: 0, 0, 1>, interior = array<i64: 0, 0, 0>} : (tensor<2x3x4xf64>) -> tensor<2x4x7xf64>
  return %y : tensor<2x4x7xf64>
}
func.func @pad_edge(%x: tensor<2x3x4xf64>) -> (tensor<2x4x9xf64>) {
  %y = graph.pad edge %x {low = array<i64: 0, 1, 3>, high = array<i64: 0, 0, 2>, interior = array<i64: 0, 0, 0>} : (tensor<2x3x4xf64>) -> tensor<2x4x9xf64>
  return %y : tensor<2x4x9xf64>
}
func.func @pad_wrap(%x: tensor<2x3x4xf64>) -> (tensor<2x4x12xf64>) {
  %y = graph.pad wrap %x {low = array<i64: 0, 1, 3>, high = array<i64: 0, 0, 5>, interior = array<i64: 0, 0, 0>} : (tensor<2x3x4xf64>) -> tensor<2x4x12xf64>
  return %y : tensor<2x4x12xf64>
}
func.func @concat(%a: tensor<4x2x2xf64>, %b: tensor<4x3x2xf64>, %c: tensor<4x1x2xf64>) -> (tensor<4x6x2xf64>) {
  %y = graph.concat %a, %b, %c {dim = 1 : i64} : (tensor<4x2x2xf64>, tensor<4x3x2xf64>, tensor<4x1x2xf64>) -> tensor<4x6x2xf64>
  return %y : tensor<4x6x2xf64>
}
func.func @gather(%d: tensor<2x5x4xf64>, %i: tensor<2x3xi64> {test.ints = [-8, 8]}) -> (tensor<2x2x3x4xf64>) {
  %y = graph.gather %d, %i {dim = 1 : i64} : (tensor<2x5x4xf64>, tensor<2x3xi64>) -> tensor<2x2x3x4xf64>
  return %y : tensor<2x2x3x4xf64>
}
func.func @scatter_last(%d: tensor<2x5x2xf64> {test.distinct}, %i: tensor<2x4xi64> {test.ints = [-7, 7]}, %u: tensor<2x2x4x2xf64> {test.distinct, test.range = [-1.9, 2.1]}) -> (tensor<2x5x2xf64>) {
  %y = graph.scatter %d, %i, %u {dim = 1 : i64} : (tensor<2x5x2xf64>, tensor<2x4xi64>, tensor<2x2x4x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scatter_sum(%d: tensor<2x5x2xf64> {test.distinct}, %i: tensor<2x4xi64> {test.ints = [-7, 7]}, %u: tensor<2x2x4x2xf64> {test.distinct, test.range = [-1.9, 2.1]}) -> (tensor<2x5x2xf64>) {
  %y = graph.scatter %d, %i, %u {dim = 1 : i64, kind = #graph<reduction sum>} : (tensor<2x5x2xf64>, tensor<2x4xi64>, tensor<2x2x4x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scatter_prod(%d: tensor<2x5x2xf64> {test.distinct}, %i: tensor<2x4xi64> {test.ints = [-7, 7]}, %u: tensor<2x2x4x2xf64> {test.distinct, test.range = [-1.9, 2.1]}) -> (tensor<2x5x2xf64>) {
  %y = graph.scatter %d, %i, %u {dim = 1 : i64, kind = #graph<reduction prod>} : (tensor<2x5x2xf64>, tensor<2x4xi64>, tensor<2x2x4x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scatter_max(%d: tensor<2x5x2xf64> {test.distinct}, %i: tensor<2x4xi64> {test.ints = [-7, 7]}, %u: tensor<2x2x4x2xf64> {test.distinct, test.range = [-1.9, 2.1]}) -> (tensor<2x5x2xf64>) {
  %y = graph.scatter %d, %i, %u {dim = 1 : i64, kind = #graph<reduction max>} : (tensor<2x5x2xf64>, tensor<2x4xi64>, tensor<2x2x4x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scatter_min(%d: tensor<2x5x2xf64> {test.distinct}, %i: tensor<2x4xi64> {test.ints = [-7, 7]}, %u: tensor<2x2x4x2xf64> {test.distinct, test.range = [-1.9, 2.1]}) -> (tensor<2x5x2xf64>) {
  %y = graph.scatter %d, %i, %u {dim = 1 : i64, kind = #graph<reduction min>} : (tensor<2x5x2xf64>, tensor<2x4xi64>, tensor<2x2x4x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scatter_zeros(%i: tensor<4xi64> {test.ints = [0, 5]}, %u: tensor<4x2xf64>) -> (tensor<5x2xf64>) {
  %d = graph.constant dense<0.0> : tensor<5x2xf64>
  %y = graph.scatter %d, %i, %u {dim = 0 : i64, kind = #graph<reduction sum>} : (tensor<5x2xf64>, tensor<4xi64>, tensor<4x2xf64>) -> tensor<5x2xf64>
  return %y : tensor<5x2xf64>
}
)mlir";
