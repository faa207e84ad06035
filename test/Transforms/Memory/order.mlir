// RUN: gpucc-opt %s --pass-pipeline="builtin.module(func.func(gpucc-order))" | FileCheck %s

// Four values of 4096 bytes, each reduced to one number. As written all four are alive together;
// reduced one by one there is one of them at a time.
// CHECK-LABEL: func.func @fan_in
// CHECK-COUNT-4: graph.unary {{ *}}exp {{.*}}{{[[:space:]]}}{{.*}}graph.reduce {{ *}}sum
func.func @fan_in(%x: tensor<4x1024xf32> {base.name = "x", base.kind = "input"})
    -> (tensor<f32> {base.name = "y", base.kind = "output"}) {
  %0 = graph.slice %x {start = array<i64: 0, 0>, sizes = array<i64: 1, 1024>, strides = array<i64: 1, 1>} : (tensor<4x1024xf32>) -> tensor<1x1024xf32>
  %a = graph.unary exp %0 : (tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %b = graph.unary exp %a : (tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %c = graph.unary exp %a : (tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %d = graph.unary exp %a : (tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %e = graph.unary exp %a : (tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %rb = graph.reduce sum %b {dims = array<i64: 0, 1>} : (tensor<1x1024xf32>) -> tensor<f32>
  %rc = graph.reduce sum %c {dims = array<i64: 0, 1>} : (tensor<1x1024xf32>) -> tensor<f32>
  %rd = graph.reduce sum %d {dims = array<i64: 0, 1>} : (tensor<1x1024xf32>) -> tensor<f32>
  %re = graph.reduce sum %e {dims = array<i64: 0, 1>} : (tensor<1x1024xf32>) -> tensor<f32>
  %s0 = graph.binary add %rb, %rc : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s1 = graph.binary add %s0, %rd : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s2 = graph.binary add %s1, %re : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %s2 : tensor<f32>
}

// The reader of the old state stays in front of the op that overwrites it, although the other order
// would need 4096 bytes less.
// CHECK-LABEL: func.func @state
// CHECK: %[[OLD:.*]] = graph.unary {{ *}}exp %arg0
// CHECK: %[[NEW:.*]] = graph.binary {{ *}}add %arg0
// CHECK: return %[[NEW]]
func.func @state(%w: tensor<1024xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>},
                 %x: tensor<1024xf32> {base.name = "x", base.kind = "input"})
    -> (tensor<1024xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>, base.alias = 0 : i64},
        tensor<f32> {base.name = "y", base.kind = "output"}) {
  %old = graph.unary exp %w : (tensor<1024xf32>) -> tensor<1024xf32>
  %t = graph.unary exp %x : (tensor<1024xf32>) -> tensor<1024xf32>
  %new = graph.binary add %w, %t : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %y = graph.reduce sum %old {dims = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
  return %new, %y : tensor<1024xf32>, tensor<f32>
}
