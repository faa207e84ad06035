// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-insert-recompute{activation-budget=0.5})" | FileCheck %s
// RUN: not gpucc-opt %s --pass-pipeline="builtin.module(gpucc-insert-recompute{memory-budget=20000})" 2>&1 | FileCheck %s --check-prefix=LEAST

// Forward saves exp x and gelu(exp x) + x (4096 bytes each) for three micro-batches in flight: 24576
// bytes. Half of that holds one of them per micro-batch; exp moves fewer bytes, so it runs again in
// backward, from the input, which becomes an argument there. The counter, which forward overwrites, is
// no reason to save anything: backward does not read it.
// CHECK: base.recompute_report = "{{.*}}saved_bytes{{.}}22:12288
// CHECK-LABEL: func.func @stage0_forward
// CHECK-SAME: -> (tensor<i64> {{.*}}base.alias = 1{{.*}}tensor<1024xf32> {dist.saved = 0 : i64})
// CHECK: %[[A:.*]] = graph.unary {{ *}}exp %arg0
// CHECK: %[[B:.*]] = graph.cluster loop (%{{.*}} = %[[A]]
// CHECK: return %{{.*}}, %[[B]] : tensor<i64>, tensor<1024xf32>
// CHECK-LABEL: func.func @stage0_backward
// CHECK-SAME: %[[X:[^ ]*]]: tensor<1024xf32> {base.kind = "input", base.name = "x"}
// CHECK-SAME: %[[SAVED:[^ ]*]]: tensor<1024xf32> {dist.saved = 0 : i64}
// CHECK-SAME: %[[ACC:[^ ]*]]: tensor<1024xf32> {base.kind = "state", base.name = "w.accumulator"
// CHECK-SAME: base.alias = 2
// CHECK: %[[AGAIN:.*]] = graph.unary {{ *}}exp %[[X]] {{.*}}base.recompute
// CHECK: %[[G:.*]] = graph.binary {{ *}}mul %[[SAVED]], %[[AGAIN]]
// CHECK: %[[N:.*]] = graph.binary {{ *}}add %[[ACC]], %[[G]]
// CHECK: return %[[N]]

// Counter, input and accumulator are 256 + 3 * 4096 + 4096 bytes: each micro-batch has its input. Without recomputation 3 * 8192 are saved, and
// backward holds %g: 16640 + 24576 + 4096 = 45312. At the least both are made again, nothing is saved, and
// exp x, gelu x and %g lie beside each other: 16640 + 12288 = 28928.
// LEAST: does not hold @stage0_forward + @stage0_backward: the least that recomputation reaches is 28928 bytes, of which 16640 are state, inputs, outputs and constants; without it 45312 are needed
module attributes {base.micro_batches = 3 : i64, dist.slots = [3]} {
  func.func @stage0_forward(%x: tensor<1024xf32> {base.name = "x", base.kind = "input"},
                            %micro: tensor<i64> {base.name = "micro", base.kind = "state", base.state = #base.state<counter>})
      -> (tensor<1024xf32> {dist.saved = 7 : i64},
          tensor<i64> {base.name = "micro", base.kind = "state", base.state = #base.state<counter>, base.alias = 1 : i64},
          tensor<1024xf32> {dist.saved = 9 : i64})
      attributes {base.segment = "forward", dist.stage = 0 : i64} {
    %a = graph.unary exp %x : (tensor<1024xf32>) -> tensor<1024xf32>
    %b = graph.cluster loop (%p = %a : tensor<1024xf32>, %q = %x : tensor<1024xf32>) -> tensor<1024xf32> {
      %0 = graph.gelu tanh %p : (tensor<1024xf32>) -> tensor<1024xf32>
      %1 = graph.binary add %0, %q : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
      graph.yield %1 : tensor<1024xf32>
    }
    %m = graph.unary neg %micro : (tensor<i64>) -> tensor<i64>
    return %a, %m, %b : tensor<1024xf32>, tensor<i64>, tensor<1024xf32>
  }
  func.func @stage0_backward(%a: tensor<1024xf32> {dist.saved = 7 : i64}, %b: tensor<1024xf32> {dist.saved = 9 : i64},
                             %acc: tensor<1024xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
      -> (tensor<1024xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">, base.alias = 2 : i64})
      attributes {base.segment = "backward", dist.stage = 0 : i64} {
    %g = graph.binary mul %b, %a {base.backward} : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %n = graph.binary add %acc, %g {base.backward} : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    return %n : tensor<1024xf32>
  }
}
