// RUN: gpucc-opt %s --pass-pipeline="builtin.module(gpucc-insert-recompute{activation-budget=0.5})" | FileCheck %s
// RUN: not gpucc-opt %s --pass-pipeline="builtin.module(gpucc-insert-recompute{memory-budget=20GiB})" 2>&1 | FileCheck %s --check-prefix=LEAST

// Values of 2^31 f32 are 8 GiB each: no count of bytes on the way may be of 32 bits.
// CHECK: base.recompute_report = "{{.*}}saved_bytes{{.}}22:8589934592,{{.*}}activation_bytes{{.}}22:17179869184,
// x and acc are 2^33 bytes each and y 256; around the last op three values live: 2^34 + 256 + 3 * 2^33.
// LEAST: the memory budget of 21474836480 bytes does not hold @step: the least that recomputation reaches is 42949673216 bytes, of which 17179869440 are
func.func @step(%x: tensor<2147483648xf32> {base.name = "x", base.kind = "input"},
                %acc: tensor<2147483648xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    -> (tensor<f32> {base.name = "y", base.kind = "output"},
        tensor<2147483648xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">, base.alias = 1 : i64})
    attributes {base.segment = "step"} {
  %a = graph.unary exp %x : (tensor<2147483648xf32>) -> tensor<2147483648xf32>
  %b = graph.unary exp %a : (tensor<2147483648xf32>) -> tensor<2147483648xf32>
  %y = graph.reduce sum %b {dims = array<i64: 0>} : (tensor<2147483648xf32>) -> tensor<f32>
  %g = graph.binary mul %b, %a {base.backward} : (tensor<2147483648xf32>, tensor<2147483648xf32>) -> tensor<2147483648xf32>
  %n = graph.binary add %acc, %g {base.backward} : (tensor<2147483648xf32>, tensor<2147483648xf32>) -> tensor<2147483648xf32>
  return %y, %n : tensor<f32>, tensor<2147483648xf32>
}
