// Convolution, batch norm in training mode, relu, max pool, mean over space; and the way back of the
// pool, the relu, the norm's scale and bias and the convolution.
func.func @main(%x: tensor<3x2x13x11xf32>, %w: tensor<5x2x3x3xf32>, %scale: tensor<5xf32>, %bias: tensor<5xf32>, %mean: tensor<5xf32>, %var: tensor<5xf32> {test.range = [0.5, 2.0]}, %g: tensor<3x5x6x5xf32>)
    -> (tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x2x3x3xf32>, tensor<3x2x13x11xf32>) {
  %c = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<3x2x13x11xf32>, tensor<5x2x3x3xf32>) -> tensor<3x5x13x11xf32>
  %n:3 = graph.batch_norm %c, %scale, %bias, %mean, %var {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training} : (tensor<3x5x13x11xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<3x5x13x11xf32>, tensor<5xf32>, tensor<5xf32>)
  %r = graph.unary relu %n#0 : (tensor<3x5x13x11xf32>) -> tensor<3x5x13x11xf32>
  %p = graph.pool max %r {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, extra_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x5x13x11xf32>) -> tensor<3x5x6x5xf32>
  %s = graph.reduce sum %p {dims = array<i64: 2, 3>} : (tensor<3x5x6x5xf32>) -> tensor<3x5xf32>
  %dp = graph.pool_grad max %r, %g {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, extra_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x5x13x11xf32>, tensor<3x5x6x5xf32>) -> tensor<3x5x13x11xf32>
  %zero = graph.constant dense<0.0> : tensor<3x5x13x11xf32>
  %on = graph.compare gt %n#0, %zero : (tensor<3x5x13x11xf32>, tensor<3x5x13x11xf32>) -> tensor<3x5x13x11xi1>
  %dr = graph.select %on, %dp, %zero : (tensor<3x5x13x11xi1>, tensor<3x5x13x11xf32>, tensor<3x5x13x11xf32>) -> tensor<3x5x13x11xf32>
  %db = graph.reduce sum %dr {dims = array<i64: 0, 2, 3>} : (tensor<3x5x13x11xf32>) -> tensor<5xf32>
  %t = graph.binary mul %dr, %c : (tensor<3x5x13x11xf32>, tensor<3x5x13x11xf32>) -> tensor<3x5x13x11xf32>
  %ds = graph.reduce sum %t {dims = array<i64: 0, 2, 3>} : (tensor<3x5x13x11xf32>) -> tensor<5xf32>
  %dw = graph.convolution_filter_grad %x, %dr {filter_shape = array<i64: 5, 2, 3, 3>, strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<3x2x13x11xf32>, tensor<3x5x13x11xf32>) -> tensor<5x2x3x3xf32>
  %dx = graph.convolution_input_grad %dr, %w {input_shape = array<i64: 3, 2, 13, 11>, strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<3x5x13x11xf32>, tensor<5x2x3x3xf32>) -> tensor<3x2x13x11xf32>
  return %s, %n#1, %n#2, %db, %ds, %dw, %dx : tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x2x3x3xf32>, tensor<3x2x13x11xf32>
}
