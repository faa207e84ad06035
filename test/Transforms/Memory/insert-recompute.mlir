// RUN: gpucc-opt %s --split-input-file --pass-pipeline="builtin.module(gpucc-insert-recompute{activation-budget=0.5})" | FileCheck %s

// x -> exp -> gelu + x -> loss; backward reads both results (4096 bytes each). Half of that holds one:
// exp moves fewer bytes than gelu + x, so it runs again, from x, which is an argument.
// CHECK: base.recompute_report = "{{.*}}saved_bytes{{.}}22:4096
// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]] = graph.cluster loop
// CHECK: %[[B:.*]] = graph.cluster loop (%{{.*}} = %[[A]]
// CHECK: %[[C:.*]] = graph.cluster loop (%{{.*}} = %arg0 {{.*}}base.recompute
// CHECK: graph.unary {{ *}}exp
// CHECK: graph.binary {{ *}}mul %[[B]], %[[C]]
func.func @step(%x: tensor<1024xf32> {base.name = "x", base.kind = "input"},
                %acc: tensor<1024xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    -> (tensor<f32> {base.name = "y", base.kind = "output"},
        tensor<1024xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">, base.alias = 1 : i64})
    attributes {base.segment = "step"} {
  %a = graph.cluster loop (%p = %x : tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = graph.unary exp %p : (tensor<1024xf32>) -> tensor<1024xf32>
    graph.yield %0 : tensor<1024xf32>
  }
  %b = graph.cluster loop (%p = %a : tensor<1024xf32>, %q = %x : tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = graph.gelu tanh %p : (tensor<1024xf32>) -> tensor<1024xf32>
    %1 = graph.binary add %0, %q : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    graph.yield %1 : tensor<1024xf32>
  }
  %y = graph.reduce sum %b {dims = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
  %g = graph.binary mul %b, %a {base.backward} : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %n = graph.binary add %acc, %g {base.backward} : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %y, %n : tensor<f32>, tensor<1024xf32>
}

// -----

// A random op runs again with the same counters; a view between producer and reader is repeated.
// CHECK-LABEL: func.func @step
// CHECK: %[[D:.*]] = graph.dropout %arg0, %arg1, %arg1
// CHECK: graph.reduce {{ *}}sum %[[D]]
// CHECK: %[[AGAIN:.*]] = graph.dropout %arg0, %arg1, %arg1 {{.*}}base.recompute
// CHECK: %[[VIEW:.*]] = graph.reshape %[[AGAIN]]
// CHECK: graph.unary {{ *}}exp %[[VIEW]]
func.func @step(%x: tensor<1024xf32> {base.name = "x", base.kind = "input"},
                %step: tensor<i64> {base.name = "step", base.kind = "state", base.state = #base.state<counter>},
                %acc: tensor<32x32xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    -> (tensor<f32> {base.name = "y", base.kind = "output"},
        tensor<32x32xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">, base.alias = 2 : i64})
    attributes {base.segment = "step"} {
  %d = graph.dropout %x, %step, %step {ratio = 0.5 : f64, seed = 1 : i64, ordinal = 0 : i64, global_shape = array<i64: 1024>} : (tensor<1024xf32>, tensor<i64>, tensor<i64>) -> tensor<1024xf32>
  %v = graph.reshape %d {shape = array<i64: 32, 32>} : (tensor<1024xf32>) -> tensor<32x32xf32>
  %y = graph.reduce sum %d {dims = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
  %g = graph.unary exp %v {base.backward} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %n = graph.binary add %acc, %g {base.backward} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %y, %n : tensor<f32>, tensor<32x32xf32>
}
