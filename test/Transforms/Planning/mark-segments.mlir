// RUN: gpucc-opt --gpucc-mark-segments %s | FileCheck %s

// A chain of two products, then a residual block: x is alive beside the branch until the addition.
// The relu after a product is where one value leads on, so it begins the next segment; inside the
// block no cut is possible, and what follows the last product belongs to its segment.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32> {base.name = "x", base.kind = "input"},
                %w: tensor<8x8xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>}) -> tensor<4x8xf32> {
  // CHECK: graph.contract {{.*}}dist.stage = 0
  %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: graph.unary relu {{.*}}dist.stage = 1
  %1 = graph.unary relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: graph.contract {{.*}}dist.stage = 1
  %2 = graph.contract %1, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: graph.contract {{.*}}dist.stage = 1
  %3 = graph.contract %2, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: graph.binary add {{.*}}dist.stage = 1
  %4 = graph.binary add %3, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // What depends on weights alone belongs to no segment.
  // CHECK-NEXT: graph.unary relu %{{[a-z0-9]+}} : (tensor<8x8xf32>)
  %5 = graph.unary relu %w : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: graph.contract {{.*}}dist.stage = 2
  %6 = graph.contract %4, %5 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}

