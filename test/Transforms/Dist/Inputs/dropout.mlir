// A decoder as exporters write it: tied embedding, dropout, causal attention.
func.func @main(
    %a0: tensor<4x4xi64> {base.name = "ids", base.kind = "input"},
    %a1: tensor<6x8xf32> {base.name = "embed.weight", base.kind = "state", base.state = #base.state<param>},
    %a2: tensor<4x8xf32> {base.name = "position.weight", base.kind = "state", base.state = #base.state<param>},
    %a3: tensor<i64> {base.name = "micro", base.kind = "state", base.state = #base.state<counter>},
    %a4: tensor<8xf32> {base.name = "l0.ln1.weight", base.kind = "state", base.state = #base.state<param>},
    %a5: tensor<8xf32> {base.name = "l0.ln1.bias", base.kind = "state", base.state = #base.state<param>},
    %a6: tensor<8x8xf32> {base.name = "l0.q.weight", base.kind = "state", base.state = #base.state<param>},
    %a7: tensor<8xf32> {base.name = "l0.q.bias", base.kind = "state", base.state = #base.state<param>},
    %a8: tensor<8x8xf32> {base.name = "l0.k.weight", base.kind = "state", base.state = #base.state<param>},
    %a9: tensor<8xf32> {base.name = "l0.k.bias", base.kind = "state", base.state = #base.state<param>},
    %a10: tensor<8x8xf32> {base.name = "l0.v.weight", base.kind = "state", base.state = #base.state<param>},
    %a11: tensor<8xf32> {base.name = "l0.v.bias", base.kind = "state", base.state = #base.state<param>},
    %a12: tensor<8x8xf32> {base.name = "l0.proj.weight", base.kind = "state", base.state = #base.state<param>},
    %a13: tensor<8xf32> {base.name = "l0.proj.bias", base.kind = "state", base.state = #base.state<param>},
    %a14: tensor<8xf32> {base.name = "l0.ln2.weight", base.kind = "state", base.state = #base.state<param>},
    %a15: tensor<8xf32> {base.name = "l0.ln2.bias", base.kind = "state", base.state = #base.state<param>},
    %a16: tensor<8x32xf32> {base.name = "l0.fc1.weight", base.kind = "state", base.state = #base.state<param>},
    %a17: tensor<32xf32> {base.name = "l0.fc1.bias", base.kind = "state", base.state = #base.state<param>},
    %a18: tensor<32x8xf32> {base.name = "l0.fc2.weight", base.kind = "state", base.state = #base.state<param>},
    %a19: tensor<8xf32> {base.name = "l0.fc2.bias", base.kind = "state", base.state = #base.state<param>},
    %a20: tensor<8xf32> {base.name = "final.weight", base.kind = "state", base.state = #base.state<param>},
    %a21: tensor<8xf32> {base.name = "final.bias", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<4x4x6xf32> {base.name = "y", base.kind = "output"}) {
  %v1 = graph.gather %a1, %a0 {dim = 0 : i64} : (tensor<6x8xf32>, tensor<4x4xi64>) -> tensor<4x4x8xf32>
  %v2 = graph.broadcast %a2 {shape = array<i64: 4, 4, 8>, dims = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<4x4x8xf32>
  %v3 = graph.binary add %v1, %v2 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %zero = graph.constant dense<0> : tensor<i64>
  %v4 = graph.dropout %v3, %a3, %zero, %zero, %zero {ratio = 0.25 : f64, seed = 5 : i64, ordinal = 1 : i64, global_shape = array<i64: 4, 4, 8>} : (tensor<4x4x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x4x8xf32>
  %v5 = graph.layer_norm %v4, %a4, %a5 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x4x8xf32>
  %v6 = graph.contract %v5, %a6 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x4x8xf32>, tensor<8x8xf32>) -> tensor<4x4x8xf32>
  %v7 = graph.broadcast %a7 {shape = array<i64: 4, 4, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<4x4x8xf32>
  %v8 = graph.binary add %v6, %v7 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %v9 = graph.reshape %v8 {shape = array<i64: 4, 4, 2, 4>} : (tensor<4x4x8xf32>) -> tensor<4x4x2x4xf32>
  %v10 = graph.transpose %v9 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x2x4xf32>) -> tensor<4x2x4x4xf32>
  %v11 = graph.contract %v5, %a8 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x4x8xf32>, tensor<8x8xf32>) -> tensor<4x4x8xf32>
  %v12 = graph.broadcast %a9 {shape = array<i64: 4, 4, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<4x4x8xf32>
  %v13 = graph.binary add %v11, %v12 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %v14 = graph.reshape %v13 {shape = array<i64: 4, 4, 2, 4>} : (tensor<4x4x8xf32>) -> tensor<4x4x2x4xf32>
  %v15 = graph.transpose %v14 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x2x4xf32>) -> tensor<4x2x4x4xf32>
  %v16 = graph.contract %v5, %a10 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x4x8xf32>, tensor<8x8xf32>) -> tensor<4x4x8xf32>
  %v17 = graph.broadcast %a11 {shape = array<i64: 4, 4, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<4x4x8xf32>
  %v18 = graph.binary add %v16, %v17 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %v19 = graph.reshape %v18 {shape = array<i64: 4, 4, 2, 4>} : (tensor<4x4x8xf32>) -> tensor<4x4x2x4xf32>
  %v20 = graph.transpose %v19 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x2x4xf32>) -> tensor<4x2x4x4xf32>
  %v21 = graph.attention %v10, %v15, %v20 {scale = 0.5 : f64, causal} : (tensor<4x2x4x4xf32>, tensor<4x2x4x4xf32>, tensor<4x2x4x4xf32>) -> tensor<4x2x4x4xf32>
  %v22 = graph.transpose %v21 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x2x4x4xf32>) -> tensor<4x4x2x4xf32>
  %v23 = graph.reshape %v22 {shape = array<i64: 4, 4, 8>} : (tensor<4x4x2x4xf32>) -> tensor<4x4x8xf32>
  %v24 = graph.contract %v23, %a12 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x4x8xf32>, tensor<8x8xf32>) -> tensor<4x4x8xf32>
  %v25 = graph.broadcast %a13 {shape = array<i64: 4, 4, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<4x4x8xf32>
  %v26 = graph.binary add %v24, %v25 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %v27 = graph.binary add %v4, %v26 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %v28 = graph.layer_norm %v27, %a14, %a15 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x4x8xf32>
  %v29 = graph.contract %v28, %a16 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x4x8xf32>, tensor<8x32xf32>) -> tensor<4x4x32xf32>
  %v30 = graph.broadcast %a17 {shape = array<i64: 4, 4, 32>, dims = array<i64: 2>} : (tensor<32xf32>) -> tensor<4x4x32xf32>
  %v31 = graph.binary add %v29, %v30 : (tensor<4x4x32xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xf32>
  %v32 = graph.gelu tanh %v31 : (tensor<4x4x32xf32>) -> tensor<4x4x32xf32>
  %v33 = graph.contract %v32, %a18 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x4x32xf32>, tensor<32x8xf32>) -> tensor<4x4x8xf32>
  %v34 = graph.broadcast %a19 {shape = array<i64: 4, 4, 8>, dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<4x4x8xf32>
  %v35 = graph.binary add %v33, %v34 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %v36 = graph.binary add %v27, %v35 : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %v37 = graph.layer_norm %v36, %a20, %a21 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x4x8xf32>
  %v38 = graph.contract %v37, %a1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<4x4x8xf32>, tensor<6x8xf32>) -> tensor<4x4x6xf32>
  return %v38 : tensor<4x4x6xf32>
}
