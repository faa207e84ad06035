// A decoder: tied embedding, causal attention.
func.func @main(
    %a0: tensor<4x8xi64> {base.name = "ids", base.kind = "input"},
    %a1: tensor<12x16xf32> {base.name = "embed.weight", base.kind = "state", base.state = #base.state<param>},
    %a2: tensor<8x16xf32> {base.name = "position.weight", base.kind = "state", base.state = #base.state<param>},
    %a3: tensor<16xf32> {base.name = "l0.ln1.weight", base.kind = "state", base.state = #base.state<param>},
    %a4: tensor<16xf32> {base.name = "l0.ln1.bias", base.kind = "state", base.state = #base.state<param>},
    %a5: tensor<16x16xf32> {base.name = "l0.q.weight", base.kind = "state", base.state = #base.state<param>},
    %a6: tensor<16xf32> {base.name = "l0.q.bias", base.kind = "state", base.state = #base.state<param>},
    %a7: tensor<16x16xf32> {base.name = "l0.k.weight", base.kind = "state", base.state = #base.state<param>},
    %a8: tensor<16xf32> {base.name = "l0.k.bias", base.kind = "state", base.state = #base.state<param>},
    %a9: tensor<16x16xf32> {base.name = "l0.v.weight", base.kind = "state", base.state = #base.state<param>},
    %a10: tensor<16xf32> {base.name = "l0.v.bias", base.kind = "state", base.state = #base.state<param>},
    %a11: tensor<16x16xf32> {base.name = "l0.proj.weight", base.kind = "state", base.state = #base.state<param>},
    %a12: tensor<16xf32> {base.name = "l0.proj.bias", base.kind = "state", base.state = #base.state<param>},
    %a13: tensor<16xf32> {base.name = "l0.ln2.weight", base.kind = "state", base.state = #base.state<param>},
    %a14: tensor<16xf32> {base.name = "l0.ln2.bias", base.kind = "state", base.state = #base.state<param>},
    %a15: tensor<16x64xf32> {base.name = "l0.fc1.weight", base.kind = "state", base.state = #base.state<param>},
    %a16: tensor<64xf32> {base.name = "l0.fc1.bias", base.kind = "state", base.state = #base.state<param>},
    %a17: tensor<64x16xf32> {base.name = "l0.fc2.weight", base.kind = "state", base.state = #base.state<param>},
    %a18: tensor<16xf32> {base.name = "l0.fc2.bias", base.kind = "state", base.state = #base.state<param>},
    %a19: tensor<16xf32> {base.name = "l1.ln1.weight", base.kind = "state", base.state = #base.state<param>},
    %a20: tensor<16xf32> {base.name = "l1.ln1.bias", base.kind = "state", base.state = #base.state<param>},
    %a21: tensor<16x16xf32> {base.name = "l1.q.weight", base.kind = "state", base.state = #base.state<param>},
    %a22: tensor<16xf32> {base.name = "l1.q.bias", base.kind = "state", base.state = #base.state<param>},
    %a23: tensor<16x16xf32> {base.name = "l1.k.weight", base.kind = "state", base.state = #base.state<param>},
    %a24: tensor<16xf32> {base.name = "l1.k.bias", base.kind = "state", base.state = #base.state<param>},
    %a25: tensor<16x16xf32> {base.name = "l1.v.weight", base.kind = "state", base.state = #base.state<param>},
    %a26: tensor<16xf32> {base.name = "l1.v.bias", base.kind = "state", base.state = #base.state<param>},
    %a27: tensor<16x16xf32> {base.name = "l1.proj.weight", base.kind = "state", base.state = #base.state<param>},
    %a28: tensor<16xf32> {base.name = "l1.proj.bias", base.kind = "state", base.state = #base.state<param>},
    %a29: tensor<16xf32> {base.name = "l1.ln2.weight", base.kind = "state", base.state = #base.state<param>},
    %a30: tensor<16xf32> {base.name = "l1.ln2.bias", base.kind = "state", base.state = #base.state<param>},
    %a31: tensor<16x64xf32> {base.name = "l1.fc1.weight", base.kind = "state", base.state = #base.state<param>},
    %a32: tensor<64xf32> {base.name = "l1.fc1.bias", base.kind = "state", base.state = #base.state<param>},
    %a33: tensor<64x16xf32> {base.name = "l1.fc2.weight", base.kind = "state", base.state = #base.state<param>},
    %a34: tensor<16xf32> {base.name = "l1.fc2.bias", base.kind = "state", base.state = #base.state<param>},
    %a35: tensor<16xf32> {base.name = "final.weight", base.kind = "state", base.state = #base.state<param>},
    %a36: tensor<16xf32> {base.name = "final.bias", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<4x8x12xf32> {base.name = "y", base.kind = "output"}) {
  %v1 = graph.gather %a1, %a0 {dim = 0 : i64} : (tensor<12x16xf32>, tensor<4x8xi64>) -> tensor<4x8x16xf32>
  %v2 = graph.broadcast %a2 {shape = array<i64: 4, 8, 16>, dims = array<i64: 1, 2>} : (tensor<8x16xf32>) -> tensor<4x8x16xf32>
  %v3 = graph.binary add %v1, %v2 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v4 = graph.layer_norm %v3, %a3, %a4 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v5 = graph.contract %v4, %a5 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v6 = graph.broadcast %a6 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v7 = graph.binary add %v5, %v6 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v8 = graph.reshape %v7 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v9 = graph.transpose %v8 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v10 = graph.contract %v4, %a7 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v11 = graph.broadcast %a8 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v12 = graph.binary add %v10, %v11 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v13 = graph.reshape %v12 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v14 = graph.transpose %v13 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v15 = graph.contract %v4, %a9 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v16 = graph.broadcast %a10 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v17 = graph.binary add %v15, %v16 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v18 = graph.reshape %v17 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v19 = graph.transpose %v18 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v20 = graph.attention %v9, %v14, %v19 {scale = 0.5 : f64, causal} : (tensor<4x4x8x4xf32>, tensor<4x4x8x4xf32>, tensor<4x4x8x4xf32>) -> tensor<4x4x8x4xf32>
  %v21 = graph.transpose %v20 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x8x4xf32>) -> tensor<4x8x4x4xf32>
  %v22 = graph.reshape %v21 {shape = array<i64: 4, 8, 16>} : (tensor<4x8x4x4xf32>) -> tensor<4x8x16xf32>
  %v23 = graph.contract %v22, %a11 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v24 = graph.broadcast %a12 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v25 = graph.binary add %v23, %v24 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v26 = graph.binary add %v3, %v25 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v27 = graph.layer_norm %v26, %a13, %a14 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v28 = graph.contract %v27, %a15 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x64xf32>) -> tensor<4x8x64xf32>
  %v29 = graph.broadcast %a16 {shape = array<i64: 4, 8, 64>, dims = array<i64: 2>} : (tensor<64xf32>) -> tensor<4x8x64xf32>
  %v30 = graph.binary add %v28, %v29 : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %v31 = graph.gelu tanh %v30 : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %v32 = graph.contract %v31, %a17 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x64xf32>, tensor<64x16xf32>) -> tensor<4x8x16xf32>
  %v33 = graph.broadcast %a18 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v34 = graph.binary add %v32, %v33 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v35 = graph.binary add %v26, %v34 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v36 = graph.layer_norm %v35, %a19, %a20 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v37 = graph.contract %v36, %a21 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v38 = graph.broadcast %a22 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v39 = graph.binary add %v37, %v38 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v40 = graph.reshape %v39 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v41 = graph.transpose %v40 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v42 = graph.contract %v36, %a23 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v43 = graph.broadcast %a24 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v44 = graph.binary add %v42, %v43 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v45 = graph.reshape %v44 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v46 = graph.transpose %v45 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v47 = graph.contract %v36, %a25 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v48 = graph.broadcast %a26 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v49 = graph.binary add %v47, %v48 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v50 = graph.reshape %v49 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v51 = graph.transpose %v50 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v52 = graph.attention %v41, %v46, %v51 {scale = 0.5 : f64, causal} : (tensor<4x4x8x4xf32>, tensor<4x4x8x4xf32>, tensor<4x4x8x4xf32>) -> tensor<4x4x8x4xf32>
  %v53 = graph.transpose %v52 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x8x4xf32>) -> tensor<4x8x4x4xf32>
  %v54 = graph.reshape %v53 {shape = array<i64: 4, 8, 16>} : (tensor<4x8x4x4xf32>) -> tensor<4x8x16xf32>
  %v55 = graph.contract %v54, %a27 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v56 = graph.broadcast %a28 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v57 = graph.binary add %v55, %v56 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v58 = graph.binary add %v35, %v57 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v59 = graph.layer_norm %v58, %a29, %a30 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v60 = graph.contract %v59, %a31 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x64xf32>) -> tensor<4x8x64xf32>
  %v61 = graph.broadcast %a32 {shape = array<i64: 4, 8, 64>, dims = array<i64: 2>} : (tensor<64xf32>) -> tensor<4x8x64xf32>
  %v62 = graph.binary add %v60, %v61 : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %v63 = graph.gelu tanh %v62 : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %v64 = graph.contract %v63, %a33 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x64xf32>, tensor<64x16xf32>) -> tensor<4x8x16xf32>
  %v65 = graph.broadcast %a34 {shape = array<i64: 4, 8, 16>, dims = array<i64: 2>} : (tensor<16xf32>) -> tensor<4x8x16xf32>
  %v66 = graph.binary add %v64, %v65 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v67 = graph.binary add %v58, %v66 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v68 = graph.layer_norm %v67, %a35, %a36 {begin = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v69 = graph.contract %v68, %a1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<4x8x16xf32>, tensor<12x16xf32>) -> tensor<4x8x12xf32>
  return %v69 : tensor<4x8x12xf32>
}
