// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-freeze-parameters{patterns=emb.*})" | FileCheck %s
// RUN: not gpucc-opt %s --pass-pipeline="builtin.module(gpucc-freeze-parameters{patterns=bert.*})" 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: base.name = "emb.weight", base.state = #base.state<param, trainable = false>
// CHECK-SAME: base.name = "fc.weight", base.state = #base.state<param>
// NONE: --freeze 'bert.*' names no parameter of the model
func.func @main(%e: tensor<4xf32> {base.name = "emb.weight", base.kind = "state", base.state = #base.state<param>},
                %w: tensor<4xf32> {base.name = "fc.weight", base.kind = "state", base.state = #base.state<param>})
    -> (tensor<4xf32> {base.name = "y", base.kind = "output"}) {
  %y = graph.binary mul %e, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
