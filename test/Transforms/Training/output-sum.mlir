// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-differentiate{loss=output-sum:y})" | FileCheck %s

// A sum over 1000 micro-batches is divided by 1, exactly: micro-batch 0 counts 1, the others 0. 1000 times 1/1000
// is not 1 in f32.
// CHECK: %[[MICRO:[a-z0-9]+]]: tensor<i64> {{[^%]*}}base.name = "micro"
// CHECK: %[[COUNT:[a-z0-9]+]]: tensor<f32> {{[^%]*}}base.name = "count.accumulator"
// CHECK-NOT: 1.000000e-03
// CHECK: %[[FIRST:.*]] = graph.compare eq %[[MICRO]], %{{.*}}
// CHECK: %[[ONE:.*]] = graph.constant {{.*}}dense<1.000000e+00> : tensor<f32>
// CHECK: %[[ZERO:.*]] = graph.constant {{.*}}dense<0.000000e+00> : tensor<f32>
// CHECK: %[[SHARE:.*]] = graph.select %[[FIRST]], %[[ONE]], %[[ZERO]]
// CHECK: graph.binary {{ *}}add %[[COUNT]], %[[SHARE]]
module attributes {base.micro_batches = 1000 : i64, base.accumulate = 1 : i64} {
  func.func @main(%x: tensor<f32> {base.name = "x", base.kind = "input"},
                  %w: tensor<f32> {base.name = "w", base.kind = "state", base.state = #base.state<param>})
      -> (tensor<f32> {base.name = "y", base.kind = "output"}) {
    %y = graph.binary mul %w, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  }
}
