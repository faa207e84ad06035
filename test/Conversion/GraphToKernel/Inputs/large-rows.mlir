// Sizes at which kernels change their form: rows too long for a tile, reductions in two steps,
// columns that do not fill tiles, a transpose with remainders, a matrix times a vector.
func.func @main(%x: tensor<3x20000xf32>, %y: tensor<2100x70xf32>, %v: tensor<1x70xf32>)
    -> (tensor<3x20000xf32>, tensor<70xf32>, tensor<f32>, tensor<70x2100xf32>, tensor<1x2100xf32>, tensor<3xi64>) {
  %0 = graph.softmax %x {dim = 1 : i64} : (tensor<3x20000xf32>) -> tensor<3x20000xf32>
  %1 = graph.reduce sum %y {dims = array<i64: 0>} : (tensor<2100x70xf32>) -> tensor<70xf32>
  %2 = graph.reduce max %y {dims = array<i64: 0, 1>} : (tensor<2100x70xf32>) -> tensor<f32>
  %3 = graph.transpose %y {permutation = array<i64: 1, 0>} : (tensor<2100x70xf32>) -> tensor<70x2100xf32>
  %4 = graph.contract %v, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<1x70xf32>, tensor<2100x70xf32>) -> tensor<1x2100xf32>
  %5 = graph.arg_reduce max %x {dim = 1 : i64} : (tensor<3x20000xf32>) -> tensor<3xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<3x20000xf32>, tensor<70xf32>, tensor<f32>, tensor<70x2100xf32>, tensor<1x2100xf32>, tensor<3xi64>
}
