// RUN: gpucc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(gpucc-fuse{target=host remarks=true}))'

func.func @why_not(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark @+1 {{not fused into its user: another kernel must run between them}}
  %a = graph.unary exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = graph.contract %a, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-note @+1 {{the user}}
  %c = graph.binary add %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// -----
func.func @dimensions(%x: tensor<128x128xf32>) -> tensor<128xf32> {
  // expected-remark @+1 {{not fused into its user: a reduction does not run over whole loops}}
  %0 = graph.reduce sum %x {dims = array<i64: 1>} : (tensor<128x128xf32>) -> tensor<128xf32>
  // expected-note @+1 {{the user}}
  %1 = graph.reduce max %0 {dims = array<i64: 0>} : (tensor<128xf32>) -> tensor<f32>
  %2 = graph.broadcast %1 {shape = array<i64: 128>, dims = array<i64>} : (tensor<f32>) -> tensor<128xf32>
  return %2 : tensor<128xf32>
}
