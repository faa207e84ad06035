// One decoder layer with tied embeddings, as an exporter writes it: fused projection, heads split by
// slice, reshape and transpose, causal attention.
func.func @main(%ids: tensor<2x9xi64> {test.ints = [0, 50]}, %wte: tensor<50x24xf32>, %wpe: tensor<9x24xf32>, %g1_0: tensor<24xf32>, %b1_0: tensor<24xf32>, %wqkv_0: tensor<24x72xf32>, %bqkv_0: tensor<72xf32>, %wo_0: tensor<24x24xf32>, %bo_0: tensor<24xf32>, %g2_0: tensor<24xf32>, %b2_0: tensor<24xf32>, %w1_0: tensor<24x40xf32>, %c1_0: tensor<40xf32>, %w2_0: tensor<40x24xf32>, %c2_0: tensor<24xf32>) -> tensor<2x9x50xf32> {
  %v1 = graph.gather %wte, %ids {dim = 0 : i64} : (tensor<50x24xf32>, tensor<2x9xi64>) -> tensor<2x9x24xf32>
  %v2 = graph.broadcast %wpe {shape = array<i64: 2, 9, 24>, dims = array<i64: 1, 2>} : (tensor<9x24xf32>) -> tensor<2x9x24xf32>
  %v3 = graph.binary add %v1, %v2 : (tensor<2x9x24xf32>, tensor<2x9x24xf32>) -> tensor<2x9x24xf32>
  %v4 = graph.layer_norm %v3, %g1_0, %b1_0 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x9x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<2x9x24xf32>
  %v5 = graph.contract %v4, %wqkv_0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x9x24xf32>, tensor<24x72xf32>) -> tensor<2x9x72xf32>
  %v6 = graph.broadcast %bqkv_0 {shape = array<i64: 2, 9, 72>, dims = array<i64: 2>} : (tensor<72xf32>) -> tensor<2x9x72xf32>
  %v7 = graph.binary add %v5, %v6 : (tensor<2x9x72xf32>, tensor<2x9x72xf32>) -> tensor<2x9x72xf32>
  %v8 = graph.slice %v7 {start = array<i64: 0, 0, 0>, sizes = array<i64: 2, 9, 24>, strides = array<i64: 1, 1, 1>} : (tensor<2x9x72xf32>) -> tensor<2x9x24xf32>
  %v9 = graph.reshape %v8 {shape = array<i64: 2, 9, 3, 8>} : (tensor<2x9x24xf32>) -> tensor<2x9x3x8xf32>
  %v10 = graph.transpose %v9 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x9x3x8xf32>) -> tensor<2x3x9x8xf32>
  %v11 = graph.slice %v7 {start = array<i64: 0, 0, 24>, sizes = array<i64: 2, 9, 24>, strides = array<i64: 1, 1, 1>} : (tensor<2x9x72xf32>) -> tensor<2x9x24xf32>
  %v12 = graph.reshape %v11 {shape = array<i64: 2, 9, 3, 8>} : (tensor<2x9x24xf32>) -> tensor<2x9x3x8xf32>
  %v13 = graph.transpose %v12 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x9x3x8xf32>) -> tensor<2x3x9x8xf32>
  %v14 = graph.slice %v7 {start = array<i64: 0, 0, 48>, sizes = array<i64: 2, 9, 24>, strides = array<i64: 1, 1, 1>} : (tensor<2x9x72xf32>) -> tensor<2x9x24xf32>
  %v15 = graph.reshape %v14 {shape = array<i64: 2, 9, 3, 8>} : (tensor<2x9x24xf32>) -> tensor<2x9x3x8xf32>
  %v16 = graph.transpose %v15 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x9x3x8xf32>) -> tensor<2x3x9x8xf32>
  %v17 = graph.attention %v10, %v13, %v16 {scale = 0.17 : f64, causal} : (tensor<2x3x9x8xf32>, tensor<2x3x9x8xf32>, tensor<2x3x9x8xf32>) -> tensor<2x3x9x8xf32>
  %v18 = graph.transpose %v17 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x3x9x8xf32>) -> tensor<2x9x3x8xf32>
  %v19 = graph.reshape %v18 {shape = array<i64: 2, 9, 24>} : (tensor<2x9x3x8xf32>) -> tensor<2x9x24xf32>
  %v20 = graph.contract %v19, %wo_0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x9x24xf32>, tensor<24x24xf32>) -> tensor<2x9x24xf32>
  %v21 = graph.broadcast %bo_0 {shape = array<i64: 2, 9, 24>, dims = array<i64: 2>} : (tensor<24xf32>) -> tensor<2x9x24xf32>
  %v22 = graph.binary add %v20, %v21 : (tensor<2x9x24xf32>, tensor<2x9x24xf32>) -> tensor<2x9x24xf32>
  %v23 = graph.binary add %v22, %v3 : (tensor<2x9x24xf32>, tensor<2x9x24xf32>) -> tensor<2x9x24xf32>
  %v24 = graph.layer_norm %v23, %g2_0, %b2_0 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x9x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<2x9x24xf32>
  %v25 = graph.contract %v24, %w1_0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x9x24xf32>, tensor<24x40xf32>) -> tensor<2x9x40xf32>
  %v26 = graph.broadcast %c1_0 {shape = array<i64: 2, 9, 40>, dims = array<i64: 2>} : (tensor<40xf32>) -> tensor<2x9x40xf32>
  %v27 = graph.binary add %v25, %v26 : (tensor<2x9x40xf32>, tensor<2x9x40xf32>) -> tensor<2x9x40xf32>
  %v28 = graph.gelu tanh %v27 : (tensor<2x9x40xf32>) -> tensor<2x9x40xf32>
  %v29 = graph.contract %v28, %w2_0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x9x40xf32>, tensor<40x24xf32>) -> tensor<2x9x24xf32>
  %v30 = graph.broadcast %c2_0 {shape = array<i64: 2, 9, 24>, dims = array<i64: 2>} : (tensor<24xf32>) -> tensor<2x9x24xf32>
  %v31 = graph.binary add %v29, %v30 : (tensor<2x9x24xf32>, tensor<2x9x24xf32>) -> tensor<2x9x24xf32>
  %v32 = graph.binary add %v31, %v23 : (tensor<2x9x24xf32>, tensor<2x9x24xf32>) -> tensor<2x9x24xf32>
  %v33 = graph.contract %v32, %wte {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x9x24xf32>, tensor<50x24xf32>) -> tensor<2x9x50xf32>
  return %v33 : tensor<2x9x50xf32>
}
