// A small convolutional network with BatchNorm in training and an output that 2 does not divide.
func.func @main(
    %a0: tensor<8x2x8x8xf32> {base.name = "x", base.kind = "input"},
    %a1: tensor<6x2x3x3xf32> {base.name = "conv1.weight", base.kind = "state", base.state = #base.state<param>},
    %a2: tensor<6xf32> {base.name = "bn1.weight", base.kind = "state", base.state = #base.state<param>},
    %a3: tensor<6xf32> {base.name = "bn1.bias", base.kind = "state", base.state = #base.state<param>},
    %a4: tensor<6xf32> {base.name = "bn1.mean", base.kind = "state", base.state = #base.state<stat, trainable = false>},
    %a5: tensor<6xf32> {base.name = "bn1.var", base.kind = "state", base.state = #base.state<stat, trainable = false>},
    %a6: tensor<8x6x3x3xf32> {base.name = "conv2.weight", base.kind = "state", base.state = #base.state<param>},
    %a7: tensor<8xf32> {base.name = "bn2.weight", base.kind = "state", base.state = #base.state<param>},
    %a8: tensor<8xf32> {base.name = "bn2.bias", base.kind = "state", base.state = #base.state<param>},
    %a9: tensor<8xf32> {base.name = "bn2.mean", base.kind = "state", base.state = #base.state<stat, trainable = false>},
    %a10: tensor<8xf32> {base.name = "bn2.var", base.kind = "state", base.state = #base.state<stat, trainable = false>},
    %a11: tensor<32x16xf32> {base.name = "fc1.weight", base.kind = "state", base.state = #base.state<param>},
    %a12: tensor<16xf32> {base.name = "fc1.bias", base.kind = "state", base.state = #base.state<param>},
    %a13: tensor<16x7xf32> {base.name = "fc2.weight", base.kind = "state", base.state = #base.state<param>},
    %a14: tensor<7xf32> {base.name = "fc2.bias", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<8x7xf32> {base.name = "y", base.kind = "output"},
        tensor<6xf32> {base.name = "bn1.mean", base.kind = "state", base.alias = 4 : i64},
        tensor<6xf32> {base.name = "bn1.var", base.kind = "state", base.alias = 5 : i64},
        tensor<8xf32> {base.name = "bn2.mean", base.kind = "state", base.alias = 9 : i64},
        tensor<8xf32> {base.name = "bn2.var", base.kind = "state", base.alias = 10 : i64}) {
  %v1 = graph.convolution %a0, %a1 {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<8x2x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<8x6x8x8xf32>
  %v2:3 = graph.batch_norm %v1, %a2, %a3, %a4, %a5 {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training} : (tensor<8x6x8x8xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<8x6x8x8xf32>, tensor<6xf32>, tensor<6xf32>)
  %v3 = graph.unary relu %v2#0 : (tensor<8x6x8x8xf32>) -> tensor<8x6x8x8xf32>
  %v4 = graph.pool max %v3 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, extra_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<8x6x8x8xf32>) -> tensor<8x6x4x4xf32>
  %v5 = graph.convolution %v4, %a6 {strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<8x6x4x4xf32>, tensor<8x6x3x3xf32>) -> tensor<8x8x2x2xf32>
  %v6:3 = graph.batch_norm %v5, %a7, %a8, %a9, %a10 {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training} : (tensor<8x8x2x2xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x8x2x2xf32>, tensor<8xf32>, tensor<8xf32>)
  %v7 = graph.unary relu %v6#0 : (tensor<8x8x2x2xf32>) -> tensor<8x8x2x2xf32>
  %v8 = graph.reshape %v7 {shape = array<i64: 8, 32>} : (tensor<8x8x2x2xf32>) -> tensor<8x32xf32>
  %v9 = graph.contract %v8, %a11 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v10 = graph.broadcast %a12 {shape = array<i64: 8, 16>, dims = array<i64: 1>} : (tensor<16xf32>) -> tensor<8x16xf32>
  %v11 = graph.binary add %v9, %v10 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %v12 = graph.unary relu %v11 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %v13 = graph.contract %v12, %a13 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x7xf32>) -> tensor<8x7xf32>
  %v14 = graph.broadcast %a14 {shape = array<i64: 8, 7>, dims = array<i64: 1>} : (tensor<7xf32>) -> tensor<8x7xf32>
  %v15 = graph.binary add %v13, %v14 : (tensor<8x7xf32>, tensor<8x7xf32>) -> tensor<8x7xf32>
  return %v15, %v2#1, %v2#2, %v6#1, %v6#2 : tensor<8x7xf32>, tensor<6xf32>, tensor<6xf32>, tensor<8xf32>, tensor<8xf32>
}
