// A decoder with grouped queries, rotary positions and gated products.
func.func @main(
    %a0: tensor<4x8xi64> {base.name = "ids", base.kind = "input"},
    %a1: tensor<12x16xf32> {base.name = "embed.weight", base.kind = "state", base.state = #base.state<param>},
    %a2: tensor<8x2xf32> {base.name = "cos", base.kind = "input"},
    %a3: tensor<8x2xf32> {base.name = "sin", base.kind = "input"},
    %a4: tensor<16xf32> {base.name = "l0.norm1.weight", base.kind = "state", base.state = #base.state<param>},
    %a5: tensor<16x16xf32> {base.name = "l0.q.weight", base.kind = "state", base.state = #base.state<param>},
    %a6: tensor<16x8xf32> {base.name = "l0.k.weight", base.kind = "state", base.state = #base.state<param>},
    %a7: tensor<16x8xf32> {base.name = "l0.v.weight", base.kind = "state", base.state = #base.state<param>},
    %a8: tensor<16x16xf32> {base.name = "l0.o.weight", base.kind = "state", base.state = #base.state<param>},
    %a9: tensor<16xf32> {base.name = "l0.norm2.weight", base.kind = "state", base.state = #base.state<param>},
    %a10: tensor<16x32xf32> {base.name = "l0.gate.weight", base.kind = "state", base.state = #base.state<param>},
    %a11: tensor<16x32xf32> {base.name = "l0.up.weight", base.kind = "state", base.state = #base.state<param>},
    %a12: tensor<32x16xf32> {base.name = "l0.down.weight", base.kind = "state", base.state = #base.state<param>},
    %a13: tensor<16xf32> {base.name = "l1.norm1.weight", base.kind = "state", base.state = #base.state<param>},
    %a14: tensor<16x16xf32> {base.name = "l1.q.weight", base.kind = "state", base.state = #base.state<param>},
    %a15: tensor<16x8xf32> {base.name = "l1.k.weight", base.kind = "state", base.state = #base.state<param>},
    %a16: tensor<16x8xf32> {base.name = "l1.v.weight", base.kind = "state", base.state = #base.state<param>},
    %a17: tensor<16x16xf32> {base.name = "l1.o.weight", base.kind = "state", base.state = #base.state<param>},
    %a18: tensor<16xf32> {base.name = "l1.norm2.weight", base.kind = "state", base.state = #base.state<param>},
    %a19: tensor<16x32xf32> {base.name = "l1.gate.weight", base.kind = "state", base.state = #base.state<param>},
    %a20: tensor<16x32xf32> {base.name = "l1.up.weight", base.kind = "state", base.state = #base.state<param>},
    %a21: tensor<32x16xf32> {base.name = "l1.down.weight", base.kind = "state", base.state = #base.state<param>},
    %a22: tensor<16xf32> {base.name = "norm.weight", base.kind = "state", base.state = #base.state<param>},
    %a23: tensor<16x12xf32> {base.name = "head.weight", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<4x8x12xf32> {base.name = "y", base.kind = "output"}) {
  %v1 = graph.gather %a1, %a0 {dim = 0 : i64} : (tensor<12x16xf32>, tensor<4x8xi64>) -> tensor<4x8x16xf32>
  %v2 = graph.rms_norm %v1, %a4 {begin = 2 : i64, epsilon = 1.0e-6 : f64} : (tensor<4x8x16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v3 = graph.contract %v2, %a5 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v4 = graph.reshape %v3 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v5 = graph.transpose %v4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v6 = graph.contract %v2, %a6 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x8xf32>) -> tensor<4x8x8xf32>
  %v7 = graph.reshape %v6 {shape = array<i64: 4, 8, 2, 4>} : (tensor<4x8x8xf32>) -> tensor<4x8x2x4xf32>
  %v8 = graph.transpose %v7 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x2x4xf32>) -> tensor<4x2x8x4xf32>
  %v9 = graph.contract %v2, %a7 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x8xf32>) -> tensor<4x8x8xf32>
  %v10 = graph.reshape %v9 {shape = array<i64: 4, 8, 2, 4>} : (tensor<4x8x8xf32>) -> tensor<4x8x2x4xf32>
  %v11 = graph.transpose %v10 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x2x4xf32>) -> tensor<4x2x8x4xf32>
  %v12 = graph.rope %v5, %a2, %a3 : (tensor<4x4x8x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<4x4x8x4xf32>
  %v13 = graph.rope %v8, %a2, %a3 : (tensor<4x2x8x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<4x2x8x4xf32>
  %v14 = graph.attention %v12, %v13, %v11 {scale = 0.5 : f64, causal} : (tensor<4x4x8x4xf32>, tensor<4x2x8x4xf32>, tensor<4x2x8x4xf32>) -> tensor<4x4x8x4xf32>
  %v15 = graph.transpose %v14 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x8x4xf32>) -> tensor<4x8x4x4xf32>
  %v16 = graph.reshape %v15 {shape = array<i64: 4, 8, 16>} : (tensor<4x8x4x4xf32>) -> tensor<4x8x16xf32>
  %v17 = graph.contract %v16, %a8 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v18 = graph.binary add %v1, %v17 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v19 = graph.rms_norm %v18, %a9 {begin = 2 : i64, epsilon = 1.0e-6 : f64} : (tensor<4x8x16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v20 = graph.contract %v19, %a10 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
  %v21 = graph.silu %v20 : (tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %v22 = graph.contract %v19, %a11 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
  %v23 = graph.binary mul %v21, %v22 : (tensor<4x8x32xf32>, tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %v24 = graph.contract %v23, %a12 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x32xf32>, tensor<32x16xf32>) -> tensor<4x8x16xf32>
  %v25 = graph.binary add %v18, %v24 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v26 = graph.rms_norm %v25, %a13 {begin = 2 : i64, epsilon = 1.0e-6 : f64} : (tensor<4x8x16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v27 = graph.contract %v26, %a14 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v28 = graph.reshape %v27 {shape = array<i64: 4, 8, 4, 4>} : (tensor<4x8x16xf32>) -> tensor<4x8x4x4xf32>
  %v29 = graph.transpose %v28 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
  %v30 = graph.contract %v26, %a15 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x8xf32>) -> tensor<4x8x8xf32>
  %v31 = graph.reshape %v30 {shape = array<i64: 4, 8, 2, 4>} : (tensor<4x8x8xf32>) -> tensor<4x8x2x4xf32>
  %v32 = graph.transpose %v31 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x2x4xf32>) -> tensor<4x2x8x4xf32>
  %v33 = graph.contract %v26, %a16 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x8xf32>) -> tensor<4x8x8xf32>
  %v34 = graph.reshape %v33 {shape = array<i64: 4, 8, 2, 4>} : (tensor<4x8x8xf32>) -> tensor<4x8x2x4xf32>
  %v35 = graph.transpose %v34 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x8x2x4xf32>) -> tensor<4x2x8x4xf32>
  %v36 = graph.rope %v29, %a2, %a3 : (tensor<4x4x8x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<4x4x8x4xf32>
  %v37 = graph.rope %v32, %a2, %a3 : (tensor<4x2x8x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<4x2x8x4xf32>
  %v38 = graph.attention %v36, %v37, %v35 {scale = 0.5 : f64, causal} : (tensor<4x4x8x4xf32>, tensor<4x2x8x4xf32>, tensor<4x2x8x4xf32>) -> tensor<4x4x8x4xf32>
  %v39 = graph.transpose %v38 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x4x8x4xf32>) -> tensor<4x8x4x4xf32>
  %v40 = graph.reshape %v39 {shape = array<i64: 4, 8, 16>} : (tensor<4x8x4x4xf32>) -> tensor<4x8x16xf32>
  %v41 = graph.contract %v40, %a17 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v42 = graph.binary add %v25, %v41 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v43 = graph.rms_norm %v42, %a18 {begin = 2 : i64, epsilon = 1.0e-6 : f64} : (tensor<4x8x16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v44 = graph.contract %v43, %a19 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
  %v45 = graph.silu %v44 : (tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %v46 = graph.contract %v43, %a20 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
  %v47 = graph.binary mul %v45, %v46 : (tensor<4x8x32xf32>, tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %v48 = graph.contract %v47, %a21 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x32xf32>, tensor<32x16xf32>) -> tensor<4x8x16xf32>
  %v49 = graph.binary add %v42, %v48 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %v50 = graph.rms_norm %v49, %a22 {begin = 2 : i64, epsilon = 1.0e-6 : f64} : (tensor<4x8x16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %v51 = graph.contract %v50, %a23 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<4x8x16xf32>, tensor<16x12xf32>) -> tensor<4x8x12xf32>
  return %v51 : tensor<4x8x12xf32>
}
