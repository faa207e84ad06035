// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-insert-recompute{memory-budget=20000})" -verify-diagnostics

// State, input and output are 4096 + 4096 + 256 bytes (each is rounded to 256), and the three values
// around the last op 12288: %b is read by two ops of backward and cannot be less than there.
// expected-error @+2 {{the memory budget of 20000 bytes does not hold @step: the least that recomputation reaches is 20736 bytes, of which 8448 are state, inputs, outputs and constants; without it 20736 are needed}}
// expected-note @+1 {{raise the budget, or make the micro-batches smaller}}
func.func @step(%x: tensor<1024xf32> {base.name = "x", base.kind = "input"},
                %acc: tensor<1024xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    -> (tensor<f32> {base.name = "y", base.kind = "output"},
        tensor<1024xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">, base.alias = 1 : i64})
    attributes {base.segment = "step"} {
  %a = graph.unary exp %x : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = graph.unary exp %a : (tensor<1024xf32>) -> tensor<1024xf32>
  %y = graph.reduce sum %b {dims = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
  %g = graph.binary mul %b, %a {base.backward} : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %n = graph.binary add %acc, %g {base.backward} : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %y, %n : tensor<f32>, tensor<1024xf32>
}
