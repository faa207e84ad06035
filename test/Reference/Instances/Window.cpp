//===- Window.cpp - instances of the window ops ---===//
#include "../InstanceTexts.h"

const char *const gpucc::test::instancesWindow = R"mlir(
func.func @pool_max(%x: tensor<2x2x5x5xf64> {test.distinct}) -> (tensor<2x2x3x3xf64>) {
  %y = graph.pool max %x {window = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 0>, extra_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x2x5x5xf64>) -> tensor<2x2x3x3xf64>
  return %y : tensor<2x2x3x3xf64>
}
func.func @pool_grad_max(%x: tensor<2x2x5x5xf64> {test.distinct}, %g: tensor<2x2x3x3xf64>) -> (tensor<2x2x5x5xf64>) {
  %y = graph.pool_grad max %x, %g {window = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 0>, extra_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x2x5x5xf64>, tensor<2x2x3x3xf64>) -> tensor<2x2x5x5xf64>
  return %y : tensor<2x2x5x5xf64>
}
func.func @pool_avg(%x: tensor<2x2x5x5xf64> {test.distinct}) -> (tensor<2x2x3x3xf64>) {
  %y = graph.pool avg %x {window = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 0>, extra_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x2x5x5xf64>) -> tensor<2x2x3x3xf64>
  return %y : tensor<2x2x3x3xf64>
}
func.func @pool_grad_avg(%x: tensor<2x2x5x5xf64> {test.distinct}, %g: tensor<2x2x3x3xf64>) -> (tensor<2x2x5x5xf64>) {
  %y = graph.pool_grad avg %x, %g {window = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 0>, extra_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x2x5x5xf64>, tensor<2x2x3x3xf64>) -> tensor<2x2x5x5xf64>
  return %y : tensor<2x2x5x5xf64>
}
func.func @pool_avg_padded(%x: tensor<2x2x5x5xf64> {test.distinct}) -> (tensor<2x2x3x3xf64>) {
  %y = graph.pool avg %x {window = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 0>, extra_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, count_include_pad} : (tensor<2x2x5x5xf64>) -> tensor<2x2x3x3xf64>
  return %y : tensor<2x2x3x3xf64>
}
func.func @pool_grad_avg_padded(%x: tensor<2x2x5x5xf64> {test.distinct}, %g: tensor<2x2x3x3xf64>) -> (tensor<2x2x5x5xf64>) {
  %y = graph.pool_grad avg %x, %g {window = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 0>, extra_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, count_include_pad} : (tensor<2x2x5x5xf64>, tensor<2x2x3x3xf64>) -> tensor<2x2x5x5xf64>
  return %y : tensor<2x2x5x5xf64>
}
func.func @pool_dilated(%x: tensor<2x2x9xf64> {test.distinct}) -> (tensor<2x2x6xf64>) {
  %y = graph.pool max %x {window = array<i64: 3>, strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 2>, extra_high = array<i64: 0>, dilations = array<i64: 3>} : (tensor<2x2x9xf64>) -> tensor<2x2x6xf64>
  return %y : tensor<2x2x6xf64>
}
)mlir";
