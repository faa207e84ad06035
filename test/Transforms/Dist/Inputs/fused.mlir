// A decoder: tied embedding, causal attention, fused projection.
func.func @main(
    %a0: tensor<4x8xi64> {base.name = "ids", base.kind = "input"},
    %a1: tensor<12x16xf32> {base.name = "embed.weight", base.kind = "state", base.state = #base.state<param>},
    %a2: tensor<8x16xf32> {base.name = "position.weight", base.kind = "state", base.state = #base.state<param>},
    %a3: tensor<16xf32> {base.name = "l0.ln1.weight", base.kind = "state", base.state = #base.state<param>},
    %a4: tensor<16xf32> {base.name = "l0.ln1.bias", base.kind = "state", base.state = #base.state<param>},
    %a5: tensor<16x48xf32> {base.name = "l0.qkv.weight", base.kind = "state", base.state = #base.state<param>},
    %a6: tensor<48xf32> {base.name = "l0.qkv.bias", base.kind = "state", base.state = #base.state<param>},
    %a7: tensor<16x16xf32> {base.name = "l0.proj.weight", base.kind = "state", base.state = #base.state<param>},
    %a8: tensor<16xf32> {base.name = "l0.proj.bias", base.kind = "state", base.state = #base.state<param>},
    %a9: tensor<16xf32> {base.name = "l0.ln2.weight", base.kind = "state", base.state = #base.state<param>},
    %a10: tensor<16xf32> {base.name = "l0.ln2.bias", base.kind = "state", base.state = #base.state<param>},
    %a11: tensor<16x64xf32> {base.name = "l0.fc1.weight", base.kind = "state", base.state = #base.state<param>},
    %a12: tensor<64xf32> {base.name = "l0.fc1.bias", base.kind = "state", base.state = #base.state<param>},
    %a13: tensor<64x16xf32> {base.name = "l0.fc2.weight", base.kind = "state", base.state = #base.state<param>},
    %a14: tensor<16xf32> {base.name = "l0.fc2.bias", base.kind = "state", base.state = #base.state<param>},
    %a15: tensor<16xf32> {base.name = "final.weight", base.kind = "state", base.state = #base.state<param>},
    %a16: tensor<16xf32> {base.name = "final.bias", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<4x8x12xf32> {base.name = "y", base.kind = "output"}) {
  %v1 = graph.gather %a1, %a0 {dim = 0 : i64} : (tensor<12x16xf32>, tensor<4x8xi64>) -> tensor<4x8x16xf32>
  %v2 = graph.broadcast %a2 {shape = array<i64: 4, 8, 16>, dims = array<i64: 1, 2>} : (tensor<8x16xf32>) -> tensor<4x8x16xf32>
  %v3 = graph.binary add %v1, %v2 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v4 = graph.layer_norm %v3, %a3, %a4 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v5 = graph.contract %v4, %a5 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x48xf32>) -> tensor<4x8x48xf32>
  %v6 = graph.broadcast %a6 {shape = array<i64: 4, 8, 48>, dims = array<i64: 2>} : (tensor<48xf32>) -> tensor<4x8x48xf32>
  %v7 = graph.binary add %v5, %v6 : (tensor<4x8x48xf32>, tensor<4x8x48xf32>) -> tensor<4x8x48xf32>
  %v8 = graph.slice %v7 {start = array<i64: 0, 0, 0>, sizes = array<i64: 4, 8, 16>, strides = array<i64: 1, 1, 1>} : (tensor<4x8x48xf32>) -> tensor<4x8x16xf32>
  %v9 = graph.reshape %v8 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v10 = graph.transpose %v9 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v11 = graph.slice %v7 {start = array<i64: 0, 0, 16>, sizes = array<i64: 4, 8, 16>, strides = array<i64: 1, 1, 1>} : (tensor<4x8x48xf32>) -> tensor<4x8x16xf32>
  %v12 = graph.reshape %v11 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v13 = graph.transpose %v12 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v14 = graph.slice %v7 {start = array<i64: 0, 0, 32>, sizes = array<i64: 4, 8, 16>, strides = array<i64: 1, 1, 1>} : (tensor<4x8x48xf32>) -> tensor<4x8x16xf32>
  %v15 = graph.reshape %v14 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v16 = graph.transpose %v15 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v17 = graph.attention %v10, %v13, %v16 {scale = 0.5 : f64, causal} : (tensor<4x4x8x4xf32>, tensor<4x4x8x4xf32>, tensor<4x4x8x4xf32>) -> tensor<4x4x8x4xf32>
  %v18 = graph.transpose %v17 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x8x4xf32>) -> tensor<4x8x4x4xf32>
  %v19 = graph.reshape %v18 {shape = array<i64: 4, 8, 16>} : (tensor<4x8x4x4xf32>) -> tensor<4x8x16xf32>
  %v20 = graph.contract %v19, %a7 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v21 = graph.broadcast %a8 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v22 = graph.binary add %v20, %v21 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v23 = graph.binary add %v3, %v22 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v24 = graph.layer_norm %v23, %a9, %a10 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v25 = graph.contract %v24, %a11 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x64xf32>) -> tensor<4x8x64xf32>
  %v26 = graph.broadcast %a12 {shape = array<i64: 4, 8, 64>, dims = array<i64: 2>} : (tensor<64xf32>) -> tensor<4x8x64xf32>
  %v27 = graph.binary add %v25, %v26 : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %v28 = graph.gelu tanh %v27 : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %v29 = graph.contract %v28, %a13 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x64xf32>, tensor<64x16xf32>) -> tensor<4x8x16xf32>
  %v30 = graph.broadcast %a14 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v31 = graph.binary add %v29, %v30 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v32 = graph.binary add %v23, %v31 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v33 = graph.layer_norm %v32, %a15, %a16 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v34 = graph.contract %v33, %a1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<4x8x16xf32>, tensor<12x16xf32>) -> tensor<4x8x12xf32>
  return %v34 : tensor<4x8x12xf32>
}
