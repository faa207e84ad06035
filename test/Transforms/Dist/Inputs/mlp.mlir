// A training step by hand: y = relu(x·W1 + b1)·W2 + b2, loss = sum((y - t)²), SGD with momentum and
// clipping by the global norm. What differentiation and the optimizer make has this form.
func.func @step(
    %x: tensor<8x16xf32> {base.name = "x", base.kind = "input"},
    %t: tensor<8x6xf32> {base.name = "labels", base.kind = "label"},
    %w1: tensor<16x32xf32> {base.name = "w1", base.kind = "state", base.state = #base.state<param>},
    %b1: tensor<32xf32> {base.name = "b1", base.kind = "state", base.state = #base.state<param>},
    %w2: tensor<32x6xf32> {base.name = "w2", base.kind = "state", base.state = #base.state<param>},
    %b2: tensor<6xf32> {base.name = "b2", base.kind = "state", base.state = #base.state<param>},
    %aw1: tensor<16x32xf32> {base.name = "w1.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w1">},
    %ab1: tensor<32xf32> {base.name = "b1.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "b1">},
    %aw2: tensor<32x6xf32> {base.name = "w2.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w2">},
    %ab2: tensor<6xf32> {base.name = "b2.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "b2">},
    %al: tensor<f32> {base.name = "loss.accumulator", base.kind = "state", base.state = #base.state<accumulator>},
    %ac: tensor<f32> {base.name = "count.accumulator", base.kind = "state", base.state = #base.state<accumulator>},
    %micro: tensor<i64> {base.name = "micro", base.kind = "state", base.state = #base.state<counter>})
    -> (tensor<16x32xf32> {base.name = "w1.accumulator", base.kind = "state", base.alias = 6 : i64},
        tensor<32xf32> {base.name = "b1.accumulator", base.kind = "state", base.alias = 7 : i64},
        tensor<32x6xf32> {base.name = "w2.accumulator", base.kind = "state", base.alias = 8 : i64},
        tensor<6xf32> {base.name = "b2.accumulator", base.kind = "state", base.alias = 9 : i64},
        tensor<f32> {base.name = "loss.accumulator", base.kind = "state", base.alias = 10 : i64},
        tensor<f32> {base.name = "count.accumulator", base.kind = "state", base.alias = 11 : i64},
        tensor<i64> {base.name = "micro", base.kind = "state", base.alias = 12 : i64})
    attributes {base.segment = "step"} {
  %h0 = graph.contract %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, dist.stage = 0 : i64} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %b1b = graph.broadcast %b1 {shape = array<i64: 8, 32>, dims = array<i64: 1>, dist.stage = 0 : i64} : (tensor<32xf32>) -> tensor<8x32xf32>
  %h1 = graph.binary add %h0, %b1b {dist.stage = 0 : i64} : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = graph.unary relu %h1 {dist.stage = 0 : i64} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %y0 = graph.contract %h, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, dist.stage = 1 : i64} : (tensor<8x32xf32>, tensor<32x6xf32>) -> tensor<8x6xf32>
  %b2b = graph.broadcast %b2 {shape = array<i64: 8, 6>, dims = array<i64: 1>, dist.stage = 1 : i64} : (tensor<6xf32>) -> tensor<8x6xf32>
  %y = graph.binary add %y0, %b2b {dist.stage = 1 : i64} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %d = graph.binary sub %y, %t {dist.stage = 1 : i64} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %dd = graph.binary mul %d, %d {dist.stage = 1 : i64} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %loss = graph.reduce sum %dd {dims = array<i64: 0, 1>, dist.stage = 1 : i64} : (tensor<8x6xf32>) -> tensor<f32>
  %count = graph.constant {dist.stage = 1 : i64} dense<4.800000e+01> : tensor<f32>
  %al1 = graph.binary add %al, %loss {dist.stage = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %ac1 = graph.binary add %ac, %count {dist.stage = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %two = graph.constant {base.backward, dist.stage = 1 : i64} dense<2.000000e+00> : tensor<8x6xf32>
  %gy = graph.binary mul %two, %d {base.backward, dist.stage = 1 : i64} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %gb2 = graph.reduce sum %gy {dims = array<i64: 0>, base.backward, dist.stage = 1 : i64} : (tensor<8x6xf32>) -> tensor<6xf32>
  %gw2 = graph.contract %h, %gy {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>, base.backward, dist.stage = 1 : i64} : (tensor<8x32xf32>, tensor<8x6xf32>) -> tensor<32x6xf32>
  %gh = graph.contract %gy, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>, base.backward, dist.stage = 1 : i64} : (tensor<8x6xf32>, tensor<32x6xf32>) -> tensor<8x32xf32>
  %zero = graph.constant {base.backward, dist.stage = 0 : i64} dense<0.000000e+00> : tensor<8x32xf32>
  %pos = graph.compare gt %h1, %zero {base.backward, dist.stage = 0 : i64} : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xi1>
  %gh1 = graph.select %pos, %gh, %zero {base.backward, dist.stage = 0 : i64} : (tensor<8x32xi1>, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %gb1 = graph.reduce sum %gh1 {dims = array<i64: 0>, base.backward, dist.stage = 0 : i64} : (tensor<8x32xf32>) -> tensor<32xf32>
  %gw1 = graph.contract %x, %gh1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>, base.backward, dist.stage = 0 : i64} : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  %aw1n = graph.binary add %aw1, %gw1 {base.backward, dist.stage = 0 : i64} : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %ab1n = graph.binary add %ab1, %gb1 {base.backward, dist.stage = 0 : i64} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %aw2n = graph.binary add %aw2, %gw2 {base.backward, dist.stage = 1 : i64} : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %ab2n = graph.binary add %ab2, %gb2 {base.backward, dist.stage = 1 : i64} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %one = graph.constant dense<1> : tensor<i64>
  %micro1 = graph.binary add %micro, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %aw1n, %ab1n, %aw2n, %ab2n, %al1, %ac1, %micro1 : tensor<16x32xf32>, tensor<32xf32>, tensor<32x6xf32>, tensor<6xf32>, tensor<f32>, tensor<f32>, tensor<i64>
}
func.func @update(
    %w1: tensor<16x32xf32> {base.name = "w1", base.kind = "state", base.state = #base.state<param>},
    %b1: tensor<32xf32> {base.name = "b1", base.kind = "state", base.state = #base.state<param>},
    %w2: tensor<32x6xf32> {base.name = "w2", base.kind = "state", base.state = #base.state<param>},
    %b2: tensor<6xf32> {base.name = "b2", base.kind = "state", base.state = #base.state<param>},
    %mw1: tensor<16x32xf32> {base.name = "w1.moment1", base.kind = "state", base.state = #base.state<moment1, of = "w1">},
    %mb1: tensor<32xf32> {base.name = "b1.moment1", base.kind = "state", base.state = #base.state<moment1, of = "b1">},
    %mw2: tensor<32x6xf32> {base.name = "w2.moment1", base.kind = "state", base.state = #base.state<moment1, of = "w2">},
    %mb2: tensor<6xf32> {base.name = "b2.moment1", base.kind = "state", base.state = #base.state<moment1, of = "b2">},
    %aw1: tensor<16x32xf32> {base.name = "w1.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w1">},
    %ab1: tensor<32xf32> {base.name = "b1.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "b1">},
    %aw2: tensor<32x6xf32> {base.name = "w2.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w2">},
    %ab2: tensor<6xf32> {base.name = "b2.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "b2">},
    %al: tensor<f32> {base.name = "loss.accumulator", base.kind = "state", base.state = #base.state<accumulator>},
    %ac: tensor<f32> {base.name = "count.accumulator", base.kind = "state", base.state = #base.state<accumulator>},
    %step: tensor<i64> {base.name = "step", base.kind = "state", base.state = #base.state<counter>},
    %micro: tensor<i64> {base.name = "micro", base.kind = "state", base.state = #base.state<counter>})
    -> (tensor<16x32xf32> {base.name = "w1", base.kind = "state", base.alias = 0 : i64},
        tensor<32xf32> {base.name = "b1", base.kind = "state", base.alias = 1 : i64},
        tensor<32x6xf32> {base.name = "w2", base.kind = "state", base.alias = 2 : i64},
        tensor<6xf32> {base.name = "b2", base.kind = "state", base.alias = 3 : i64},
        tensor<16x32xf32> {base.name = "w1.moment1", base.kind = "state", base.alias = 4 : i64},
        tensor<32xf32> {base.name = "b1.moment1", base.kind = "state", base.alias = 5 : i64},
        tensor<32x6xf32> {base.name = "w2.moment1", base.kind = "state", base.alias = 6 : i64},
        tensor<6xf32> {base.name = "b2.moment1", base.kind = "state", base.alias = 7 : i64},
        tensor<16x32xf32> {base.name = "w1.accumulator", base.kind = "state", base.alias = 8 : i64},
        tensor<32xf32> {base.name = "b1.accumulator", base.kind = "state", base.alias = 9 : i64},
        tensor<32x6xf32> {base.name = "w2.accumulator", base.kind = "state", base.alias = 10 : i64},
        tensor<6xf32> {base.name = "b2.accumulator", base.kind = "state", base.alias = 11 : i64},
        tensor<f32> {base.name = "loss.accumulator", base.kind = "state", base.alias = 12 : i64},
        tensor<f32> {base.name = "count.accumulator", base.kind = "state", base.alias = 13 : i64},
        tensor<i64> {base.name = "step", base.kind = "state", base.alias = 14 : i64},
        tensor<i64> {base.name = "micro", base.kind = "state", base.alias = 15 : i64},
        tensor<f32> {base.name = "loss", base.kind = "metric"},
        tensor<f32> {base.name = "lr", base.kind = "metric"},
        tensor<f32> {base.name = "grad_norm", base.kind = "metric"})
    attributes {base.segment = "update"} {
  %cw1 = graph.broadcast %ac {shape = array<i64: 16, 32>, dims = array<i64>} : (tensor<f32>) -> tensor<16x32xf32>
  %gw1 = graph.binary div %aw1, %cw1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %qw1 = graph.binary mul %gw1, %gw1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %nw1 = graph.reduce sum %qw1 {dims = array<i64: 0, 1>} : (tensor<16x32xf32>) -> tensor<f32>
  %cb1 = graph.broadcast %ac {shape = array<i64: 32>, dims = array<i64>} : (tensor<f32>) -> tensor<32xf32>
  %gb1 = graph.binary div %ab1, %cb1 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %qb1 = graph.binary mul %gb1, %gb1 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %nb1 = graph.reduce sum %qb1 {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<f32>
  %cw2 = graph.broadcast %ac {shape = array<i64: 32, 6>, dims = array<i64>} : (tensor<f32>) -> tensor<32x6xf32>
  %gw2 = graph.binary div %aw2, %cw2 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %qw2 = graph.binary mul %gw2, %gw2 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %nw2 = graph.reduce sum %qw2 {dims = array<i64: 0, 1>} : (tensor<32x6xf32>) -> tensor<f32>
  %cb2 = graph.broadcast %ac {shape = array<i64: 6>, dims = array<i64>} : (tensor<f32>) -> tensor<6xf32>
  %gb2 = graph.binary div %ab2, %cb2 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %qb2 = graph.binary mul %gb2, %gb2 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %nb2 = graph.reduce sum %qb2 {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
  %s0 = graph.binary add %nw1, %nb1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s1 = graph.binary add %s0, %nw2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s2 = graph.binary add %s1, %nb2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %norm = graph.unary sqrt %s2 : (tensor<f32>) -> tensor<f32>
  %limit = graph.constant dense<5.000000e-01> : tensor<f32>
  %larger = graph.binary max %norm, %limit : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %factor = graph.binary div %limit, %larger : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %lr = graph.constant dense<1.000000e-01> : tensor<f32>
  %mu = graph.constant dense<9.000000e-01> : tensor<f32>
  %fw1 = graph.broadcast %factor {shape = array<i64: 16, 32>, dims = array<i64>} : (tensor<f32>) -> tensor<16x32xf32>
  %kw1 = graph.binary mul %gw1, %fw1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %uw1 = graph.broadcast %mu {shape = array<i64: 16, 32>, dims = array<i64>} : (tensor<f32>) -> tensor<16x32xf32>
  %vw1 = graph.binary mul %mw1, %uw1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %ww1n = graph.binary add %vw1, %kw1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %lw1 = graph.broadcast %lr {shape = array<i64: 16, 32>, dims = array<i64>} : (tensor<f32>) -> tensor<16x32xf32>
  %dw1 = graph.binary mul %ww1n, %lw1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %pw1 = graph.binary sub %w1, %dw1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %zw1 = graph.constant dense<0.000000e+00> : tensor<16x32xf32>
  %fb1 = graph.broadcast %factor {shape = array<i64: 32>, dims = array<i64>} : (tensor<f32>) -> tensor<32xf32>
  %kb1 = graph.binary mul %gb1, %fb1 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %ub1 = graph.broadcast %mu {shape = array<i64: 32>, dims = array<i64>} : (tensor<f32>) -> tensor<32xf32>
  %vb1 = graph.binary mul %mb1, %ub1 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %wb1n = graph.binary add %vb1, %kb1 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %lb1 = graph.broadcast %lr {shape = array<i64: 32>, dims = array<i64>} : (tensor<f32>) -> tensor<32xf32>
  %db1 = graph.binary mul %wb1n, %lb1 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %pb1 = graph.binary sub %b1, %db1 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %zb1 = graph.constant dense<0.000000e+00> : tensor<32xf32>
  %fw2 = graph.broadcast %factor {shape = array<i64: 32, 6>, dims = array<i64>} : (tensor<f32>) -> tensor<32x6xf32>
  %kw2 = graph.binary mul %gw2, %fw2 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %uw2 = graph.broadcast %mu {shape = array<i64: 32, 6>, dims = array<i64>} : (tensor<f32>) -> tensor<32x6xf32>
  %vw2 = graph.binary mul %mw2, %uw2 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %ww2n = graph.binary add %vw2, %kw2 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %lw2 = graph.broadcast %lr {shape = array<i64: 32, 6>, dims = array<i64>} : (tensor<f32>) -> tensor<32x6xf32>
  %dw2 = graph.binary mul %ww2n, %lw2 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %pw2 = graph.binary sub %w2, %dw2 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x6xf32>
  %zw2 = graph.constant dense<0.000000e+00> : tensor<32x6xf32>
  %fb2 = graph.broadcast %factor {shape = array<i64: 6>, dims = array<i64>} : (tensor<f32>) -> tensor<6xf32>
  %kb2 = graph.binary mul %gb2, %fb2 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %ub2 = graph.broadcast %mu {shape = array<i64: 6>, dims = array<i64>} : (tensor<f32>) -> tensor<6xf32>
  %vb2 = graph.binary mul %mb2, %ub2 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %wb2n = graph.binary add %vb2, %kb2 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %lb2 = graph.broadcast %lr {shape = array<i64: 6>, dims = array<i64>} : (tensor<f32>) -> tensor<6xf32>
  %db2 = graph.binary mul %wb2n, %lb2 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %pb2 = graph.binary sub %b2, %db2 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %zb2 = graph.constant dense<0.000000e+00> : tensor<6xf32>
  %z = graph.constant dense<0.000000e+00> : tensor<f32>
  %loss = graph.binary div %al, %ac : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %one = graph.constant dense<1> : tensor<i64>
  %zi = graph.constant dense<0> : tensor<i64>
  %step1 = graph.binary add %step, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %pw1, %pb1, %pw2, %pb2, %ww1n, %wb1n, %ww2n, %wb2n, %zw1, %zb1, %zw2, %zb2, %z, %z, %step1, %zi, %loss, %lr, %norm : tensor<16x32xf32>, tensor<32xf32>, tensor<32x6xf32>, tensor<6xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32x6xf32>, tensor<6xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32x6xf32>, tensor<6xf32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>
}
