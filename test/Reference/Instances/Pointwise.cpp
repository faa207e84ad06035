//===- Pointwise.cpp - instances of the pointwise ops ---===//
#include "../InstanceTexts.h"

const char *const gpucc::test::instancesPointwise = R"mlir(
func.func @unary_neg(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary neg %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_abs(%x: tensor<2x3xf64> {test.distinct, test.range = [-2.0, 2.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary abs %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_sign(%x: tensor<2x3xf64> {test.distinct}) -> (tensor<2x3xf64>) {
  %y = graph.unary sign %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_exp(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary exp %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_expm1(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary expm1 %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_log(%x: tensor<2x3xf64> {test.range = [0.2, 3.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary log %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_log1p(%x: tensor<2x3xf64> {test.range = [-0.8, 3.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary log1p %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_sqrt(%x: tensor<2x3xf64> {test.range = [0.2, 3.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary sqrt %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_rsqrt(%x: tensor<2x3xf64> {test.range = [0.3, 3.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary rsqrt %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_reciprocal(%x: tensor<2x3xf64> {test.range = [0.3, 3.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary reciprocal %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_tanh(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary tanh %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_erf(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary erf %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_logistic(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary logistic %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_relu(%x: tensor<2x3xf64> {test.distinct}) -> (tensor<2x3xf64>) {
  %y = graph.unary relu %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_sin(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary sin %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_cos(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary cos %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_tan(%x: tensor<2x3xf64> {test.range = [-1.0, 1.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary tan %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_asin(%x: tensor<2x3xf64> {test.range = [-0.8, 0.8]}) -> (tensor<2x3xf64>) {
  %y = graph.unary asin %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_acos(%x: tensor<2x3xf64> {test.range = [-0.8, 0.8]}) -> (tensor<2x3xf64>) {
  %y = graph.unary acos %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_atan(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary atan %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_sinh(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary sinh %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_cosh(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary cosh %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_asinh(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.unary asinh %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_acosh(%x: tensor<2x3xf64> {test.range = [1.3, 3.0]}) -> (tensor<2x3xf64>) {
  %y = graph.unary acosh %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_atanh(%x: tensor<2x3xf64> {test.range = [-0.8, 0.8]}) -> (tensor<2x3xf64>) {
  %y = graph.unary atanh %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_floor(%x: tensor<2x3xf64> {test.range = [0.1, 0.9]}) -> (tensor<2x3xf64>) {
  %y = graph.unary floor %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_ceil(%x: tensor<2x3xf64> {test.range = [1.1, 1.9]}) -> (tensor<2x3xf64>) {
  %y = graph.unary ceil %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_round_even(%x: tensor<2x3xf64> {test.range = [0.6, 1.4]}) -> (tensor<2x3xf64>) {
  %y = graph.unary round_even %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @unary_is_nan(%x: tensor<2x3xf64>) -> (tensor<2x3xi1>) {
  %y = graph.unary is_nan %x : (tensor<2x3xf64>) -> tensor<2x3xi1>
  return %y : tensor<2x3xi1>
}
func.func @unary_is_inf(%x: tensor<2x3xf64>) -> (tensor<2x3xi1>) {
  %y = graph.unary is_inf %x : (tensor<2x3xf64>) -> tensor<2x3xi1>
  return %y : tensor<2x3xi1>
}
func.func @unary_not(%x: tensor<4x2xi1>) -> (tensor<4x2xi1>) {
  %y = graph.unary not %x : (tensor<4x2xi1>) -> tensor<4x2xi1>
  return %y : tensor<4x2xi1>
}
func.func @unary_neg_int(%x: tensor<4x2xi32> {test.ints = [-9, 9]}) -> (tensor<4x2xi32>) {
  %y = graph.unary neg %x : (tensor<4x2xi32>) -> tensor<4x2xi32>
  return %y : tensor<4x2xi32>
}
func.func @binary_add(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.binary add %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_sub(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.binary sub %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_mul(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.binary mul %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_div(%a: tensor<2x3xf64>, %b: tensor<2x3xf64> {test.range = [0.5, 2.0]}) -> (tensor<2x3xf64>) {
  %y = graph.binary div %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_pow(%a: tensor<2x3xf64> {test.range = [0.3, 2.0]}, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.binary pow %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_max(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.binary max %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_min(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.binary min %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_rem(%a: tensor<2x3xf64> {test.range = [1.1, 1.9]}, %b: tensor<2x3xf64> {test.range = [0.95, 1.05]}) -> (tensor<2x3xf64>) {
  %y = graph.binary rem %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_mod(%a: tensor<2x3xf64> {test.range = [-1.9, -1.1]}, %b: tensor<2x3xf64> {test.range = [0.95, 1.05]}) -> (tensor<2x3xf64>) {
  %y = graph.binary mod %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @binary_int_add(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary add %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_sub(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary sub %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_mul(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary mul %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_div(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary div %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_max(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary max %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_rem(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary rem %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_mod(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary mod %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_pow(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary pow %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_and(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary and %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_or(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary or %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_xor(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary xor %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_shl(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary shl %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @binary_int_shr(%a: tensor<4x2xi64> {test.ints = [-9, 9]}, %b: tensor<4x2xi64> {test.ints = [-5, 5]}) -> (tensor<4x2xi64>) {
  %y = graph.binary shr %a, %b : (tensor<4x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}
func.func @compare_lt(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xi1>) {
  %y = graph.compare lt %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
  return %y : tensor<2x3xi1>
}
func.func @select(%c: tensor<2x3xi1>, %a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %y = graph.select %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @select_zero(%c: tensor<2x3xi1>, %a: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %b = graph.constant dense<0.0> : tensor<2x3xf64>
  %y = graph.select %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @convert_narrow(%x: tensor<4xf64>) -> (tensor<4xi32>) {
  %y = graph.convert %x to i32 : (tensor<4xf64>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}
func.func @convert_same(%x: tensor<4xf64>) -> (tensor<4xf64>) {
  %y = graph.convert %x to f64 : (tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
)mlir";
