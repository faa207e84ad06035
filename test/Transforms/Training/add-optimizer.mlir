// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-add-optimizer{optimizer=adamw lr=0.1})" | FileCheck %s
// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-add-optimizer{optimizer=sgd})" | FileCheck %s --check-prefix=SGD
// RUN: not gpucc-opt %s --pass-pipeline="builtin.module(gpucc-add-optimizer{optimizer=lion})" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not gpucc-opt %s --pass-pipeline="builtin.module(gpucc-add-optimizer{lr-schedule=cosine:9:5})" 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// UNKNOWN: unknown optimizer 'lion'; known are sgd and adamw
// SCHEDULE: learning-rate schedule 'cosine:9:5' is none of: constant, warmup:STEPS, cosine:WARMUP:TOTAL

// A bf16 parameter has an f32 master, which the optimizer works on; both are written.
// CHECK-LABEL: func.func @update
// CHECK-SAME: tensor<4xbf16> {base.kind = "state", base.name = "w"
// CHECK-SAME: %[[MASTER:[a-z0-9]+]]: tensor<4xf32> {base.kind = "state", base.name = "w.master", base.state = #base.state<master, of = "w">}
// CHECK-SAME: base.name = "w.moment1"
// CHECK-SAME: base.name = "w.moment2"
// CHECK-SAME: base.kind = "metric", base.name = "loss"
// CHECK-SAME: base.kind = "metric", base.name = "lr"
// CHECK-SAME: base.kind = "metric", base.name = "grad_norm"
// CHECK: %[[NEW:.*]] = graph.binary {{ *}}sub %[[MASTER]]
// CHECK: %[[LOW:.*]] = graph.convert %[[NEW]] to bf16
// CHECK: return {{.*}}%[[NEW]]{{.*}}%[[LOW]]
// SGD-LABEL: func.func @update
// SGD-NOT: moment
// SGD: return
func.func @step(%x: tensor<4xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<4xbf16> {base.name = "w", base.kind = "state", base.state = #base.state<param>},
                %acc: tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    -> (tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">, base.alias = 2 : i64})
    attributes {base.segment = "step"} {
  %n = graph.binary add %acc, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}
