//===- Contraction.cpp - instances of the contraction ops ---===//
#include "../InstanceTexts.h"

const char *const gpucc::test::instancesContraction = R"mlir(
func.func @contract(%a: tensor<4x6xf64>, %b: tensor<6x2xf64>) -> (tensor<4x2xf64>) {
  %y = graph.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x6xf64>, tensor<6x2xf64>) -> tensor<4x2xf64>
  return %y : tensor<4x2xf64>
}
func.func @contract_batch(%a: tensor<3x2x4x2xf64>, %b: tensor<4x2x3x5x2xf64>) -> (tensor<2x2x5xf64>) {
  %y = graph.contract %a, %b {lhs_batch = array<i64: 3, 1>, rhs_batch = array<i64: 1, 4>, lhs_contract = array<i64: 2, 0>, rhs_contract = array<i64: 0, 2>} : (tensor<3x2x4x2xf64>, tensor<4x2x3x5x2xf64>) -> tensor<2x2x5xf64>
  return %y : tensor<2x2x5xf64>
}
func.func @contract_int(%a: tensor<4x6xi32> {test.ints = [-9, 9]}, %b: tensor<6x2xi32> {test.ints = [-9, 9]}) -> (tensor<4x2xi32>) {
  %y = graph.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x6xi32>, tensor<6x2xi32>) -> tensor<4x2xi32>
  return %y : tensor<4x2xi32>
}
func.func @convolution(%x: tensor<2x2x6x7xf64>, %w: tensor<4x2x3x2xf64>) -> (tensor<2x4x3x7xf64>) {
  %y = graph.convolution %x, %w {strides = array<i64: 2, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 2>, dilations = array<i64: 1, 2>, groups = 1 : i64} : (tensor<2x2x6x7xf64>, tensor<4x2x3x2xf64>) -> tensor<2x4x3x7xf64>
  return %y : tensor<2x4x3x7xf64>
}
func.func @convolution_channels_last(%x: tensor<2x6x7x2xf64>, %w: tensor<4x2x3x2xf64>) -> (tensor<2x3x7x4xf64>) {
  %y = graph.convolution %x, %w {channels_last, strides = array<i64: 2, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 2>, dilations = array<i64: 1, 2>, groups = 1 : i64} : (tensor<2x6x7x2xf64>, tensor<4x2x3x2xf64>) -> tensor<2x3x7x4xf64>
  return %y : tensor<2x3x7x4xf64>
}
func.func @convolution_input_grad(%g: tensor<2x4x3x7xf64>, %w: tensor<4x2x3x2xf64>) -> (tensor<2x2x6x7xf64>) {
  %y = graph.convolution_input_grad %g, %w {input_shape = array<i64: 2, 2, 6, 7>, strides = array<i64: 2, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 2>, dilations = array<i64: 1, 2>, groups = 1 : i64} : (tensor<2x4x3x7xf64>, tensor<4x2x3x2xf64>) -> tensor<2x2x6x7xf64>
  return %y : tensor<2x2x6x7xf64>
}
func.func @convolution_filter_grad(%x: tensor<2x2x6x7xf64>, %g: tensor<2x4x3x7xf64>) -> (tensor<4x2x3x2xf64>) {
  %y = graph.convolution_filter_grad %x, %g {filter_shape = array<i64: 4, 2, 3, 2>, strides = array<i64: 2, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 2>, dilations = array<i64: 1, 2>, groups = 1 : i64} : (tensor<2x2x6x7xf64>, tensor<2x4x3x7xf64>) -> tensor<4x2x3x2xf64>
  return %y : tensor<4x2x3x2xf64>
}
func.func @convolution_groups(%x: tensor<2x4x6x7xf64>, %w: tensor<2x2x3x2xf64>) -> (tensor<2x2x3x7xf64>) {
  %y = graph.convolution %x, %w {strides = array<i64: 2, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 2>, dilations = array<i64: 1, 2>, groups = 2 : i64} : (tensor<2x4x6x7xf64>, tensor<2x2x3x2xf64>) -> tensor<2x2x3x7xf64>
  return %y : tensor<2x2x3x7xf64>
}
func.func @convolution_input_grad_groups(%g: tensor<2x2x3x7xf64>, %w: tensor<2x2x3x2xf64>) -> (tensor<2x4x6x7xf64>) {
  %y = graph.convolution_input_grad %g, %w {input_shape = array<i64: 2, 4, 6, 7>, strides = array<i64: 2, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 2>, dilations = array<i64: 1, 2>, groups = 2 : i64} : (tensor<2x2x3x7xf64>, tensor<2x2x3x2xf64>) -> tensor<2x4x6x7xf64>
  return %y : tensor<2x4x6x7xf64>
}
func.func @convolution_filter_grad_groups(%x: tensor<2x4x6x7xf64>, %g: tensor<2x2x3x7xf64>) -> (tensor<2x2x3x2xf64>) {
  %y = graph.convolution_filter_grad %x, %g {filter_shape = array<i64: 2, 2, 3, 2>, strides = array<i64: 2, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 2>, dilations = array<i64: 1, 2>, groups = 2 : i64} : (tensor<2x4x6x7xf64>, tensor<2x2x3x7xf64>) -> tensor<2x2x3x2xf64>
  return %y : tensor<2x2x3x2xf64>
}
func.func @convolution_1d(%x: tensor<2x2x5xf64>, %w: tensor<2x2x3xf64>) -> (tensor<2x2x5xf64>) {
  %y = graph.convolution %x, %w {strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x2x5xf64>, tensor<2x2x3xf64>) -> tensor<2x2x5xf64>
  return %y : tensor<2x2x5xf64>
}
func.func @convolution_3d(%x: tensor<1x2x3x4x3xf64>, %w: tensor<2x2x2x2x2xf64>) -> (tensor<1x2x3x2x3xf64>) {
  %y = graph.convolution %x, %w {strides = array<i64: 1, 2, 1>, pads_low = array<i64: 0, 0, 1>, pads_high = array<i64: 1, 0, 0>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} : (tensor<1x2x3x4x3xf64>, tensor<2x2x2x2x2xf64>) -> tensor<1x2x3x2x3xf64>
  return %y : tensor<1x2x3x2x3xf64>
}
)mlir";
