// RUN: gpucc-opt --gpucc-mark-segments --gpucc-print-plan-problem %s -o /dev/null | FileCheck %s
// RUN: gpucc-opt --gpucc-print-plan-problem="machine=v100-8 json" %s -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: not gpucc-opt --gpucc-print-plan-problem=machine=abacus %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The broadcast and the relu run inside the addition; the reshape is a view inside the last product.
// CHECK: batch 4, 2 segments, 8 ranks of h100-sxm5-80gb
// CHECK-NEXT: F0 contract(x, w) -> contract
// CHECK-NEXT: F1 unary(contract, b) -> unary
// CHECK-NEXT: F1 contract(unary, w) -> contract
// CHECK-NOT: {{^[FBU]}}

// JSON: "batch": 4
// JSON: name: v100-8
// JSON: "name": "x"
// JSON: "batchDim": 0
// JSON: "name": "w"
// JSON: "state": true
// WRONG: found 'abacus', which is neither a readable file nor built in
func.func @main(%x: tensor<4x8xf32> {base.name = "x", base.kind = "input", base.dims = ["batch", ""]},
                %w: tensor<8x8xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>},
                %b: tensor<8xf32> {base.name = "b", base.kind = "state", base.state = #base.state<param>}) -> tensor<4x8xf32> {
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.broadcast %b {shape = array<i64: 4, 8>, dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = graph.binary add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.unary relu %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.reshape %3 {shape = array<i64: 4, 1, 8>} : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  %5 = graph.reshape %4 {shape = array<i64: 4, 8>} : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %6 = graph.contract %5, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}
