//===- Reduction.cpp - instances of the reduction ops ---===//
#include "../InstanceTexts.h"

const char *const gpucc::test::instancesReduction = R"mlir(
func.func @reduce_sum(%x: tensor<2x4x3xf64> {test.distinct}) -> (tensor<4xf64>) {
  %y = graph.reduce sum %x {dims = array<i64: 0, 2>} : (tensor<2x4x3xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
func.func @reduce_prod(%x: tensor<2x4x3xf64> {test.distinct}) -> (tensor<4xf64>) {
  %y = graph.reduce prod %x {dims = array<i64: 0, 2>} : (tensor<2x4x3xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
func.func @reduce_max(%x: tensor<2x4x3xf64> {test.distinct}) -> (tensor<4xf64>) {
  %y = graph.reduce max %x {dims = array<i64: 0, 2>} : (tensor<2x4x3xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
func.func @reduce_min(%x: tensor<2x4x3xf64> {test.distinct}) -> (tensor<4xf64>) {
  %y = graph.reduce min %x {dims = array<i64: 0, 2>} : (tensor<2x4x3xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
func.func @reduce_all(%x: tensor<4x6xf64>) -> (tensor<f64>) {
  %y = graph.reduce sum %x {dims = array<i64: 0, 1>} : (tensor<4x6xf64>) -> tensor<f64>
  return %y : tensor<f64>
}
func.func @reduce_int_max(%x: tensor<4x6xi32> {test.ints = [-50, 50]}) -> (tensor<4xi32>) {
  %y = graph.reduce max %x {dims = array<i64: 1>} : (tensor<4x6xi32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}
func.func @reduce_and(%x: tensor<4x2xi1>) -> (tensor<4xi1>) {
  %y = graph.reduce and %x {dims = array<i64: 1>} : (tensor<4x2xi1>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}
func.func @reduce_or(%x: tensor<4x2xi1>) -> (tensor<4xi1>) {
  %y = graph.reduce or %x {dims = array<i64: 1>} : (tensor<4x2xi1>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}
func.func @arg_reduce_max(%x: tensor<2x4x2xf64>) -> (tensor<2x2xi64>) {
  %y = graph.arg_reduce max %x {dim = 1 : i64} : (tensor<2x4x2xf64>) -> tensor<2x2xi64>
  return %y : tensor<2x2xi64>
}
func.func @arg_reduce_min(%x: tensor<2x4x2xf64>) -> (tensor<2x2xi64>) {
  %y = graph.arg_reduce min %x {dim = 1 : i64} : (tensor<2x4x2xf64>) -> tensor<2x2xi64>
  return %y : tensor<2x2xi64>
}
func.func @scan_sum(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan sum %x {dim = 1 : i64} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_sum_exclusive(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan sum %x {dim = 1 : i64, exclusive} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_sum_reverse(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan sum %x {dim = 1 : i64, reverse} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_sum_both(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan sum %x {dim = 1 : i64, exclusive, reverse} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_prod(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan prod %x {dim = 1 : i64} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_prod_exclusive(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan prod %x {dim = 1 : i64, exclusive} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_prod_reverse(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan prod %x {dim = 1 : i64, reverse} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_prod_both(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan prod %x {dim = 1 : i64, exclusive, reverse} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_max(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan max %x {dim = 1 : i64} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_max_reverse(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan max %x {dim = 1 : i64, reverse} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_min(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan min %x {dim = 1 : i64} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
func.func @scan_min_reverse(%x: tensor<2x5x2xf64> {test.distinct}) -> (tensor<2x5x2xf64>) {
  %y = graph.scan min %x {dim = 1 : i64, reverse} : (tensor<2x5x2xf64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}
)mlir";
