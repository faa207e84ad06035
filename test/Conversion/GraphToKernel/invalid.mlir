// RUN: gpucc-opt %s --split-input-file --verify-diagnostics --gpucc-outline-kernels

func.func @two_orders(%x: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<64xf32>) {
  // expected-error @+2 {{cannot be one kernel: its reductions combine different dimensions}}
  // expected-note @+1 {{gpucc-fuse makes only clusters that can}}
  %0:2 = graph.cluster reduction (%a = %x : tensor<8x64xf32>) -> (tensor<8xf32>, tensor<64xf32>) {
    %1 = graph.reduce sum %a {dims = array<i64: 1>} : (tensor<8x64xf32>) -> tensor<8xf32>
    %2 = graph.reduce sum %a {dims = array<i64: 0>} : (tensor<8x64xf32>) -> tensor<64xf32>
    graph.yield %1, %2 : tensor<8xf32>, tensor<64xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<64xf32>
}

// -----
func.func @composite(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{holds 'graph.softmax', which has no kernel form; run gpucc-prepare-fusion first}}
  %0 = graph.cluster loop (%a = %x : tensor<8x64xf32>) -> tensor<8x64xf32> {
    %1 = graph.softmax %a {dim = 1 : i64} : (tensor<8x64xf32>) -> tensor<8x64xf32>
    graph.yield %1 : tensor<8x64xf32>
  }
  return %0 : tensor<8x64xf32>
}
