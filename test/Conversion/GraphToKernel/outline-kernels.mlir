// RUN: gpucc-opt %s --split-input-file --gpucc-outline-kernels | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: gpucc-opt %s --split-input-file --gpucc-outline-kernels=target=cuda | FileCheck %s --check-prefixes=CHECK,CUDA

// Equal clusters share a kernel; its views carry the names of the first.
// CHECK-LABEL: func.func @shared
// CHECK: %[[A:.*]] = kernel.launch @neg_0(%{{.*}}) {inplace = array<i64: 0, 0>}
// CHECK: kernel.launch @neg_0(%[[A]])
// CHECK-NOT: graph.cluster
// CHECK: kernel.func @neg_0(%[[X:.*]]: memref<4096xf32> {kernel.name = "tokens"}, %[[Y:.*]]: memref<4096xf32>)
// HOST: kernel.program () in ()
// HOST: kernel.loop (%[[C:.*]]) in (4096)
// CUDA: kernel.program (%[[P:.*]]) in (4)
// CUDA: kernel.loop (%[[C:.*]]) in (1024)
// HOST: kernel.load %[[X]][%[[C]]]
// CUDA: kernel.load %[[X]][%[[P]] * 1024 + %[[C]]]
// CHECK: arith.negf
// CHECK: kernel.store
// CHECK-NOT: kernel.func
func.func @shared(%x: tensor<4096xf32> {base.name = "tokens"}) -> tensor<4096xf32> {
  %0 = graph.cluster loop (%a = %x : tensor<4096xf32>) -> tensor<4096xf32> {
    %2 = graph.unary neg %a : (tensor<4096xf32>) -> tensor<4096xf32>
    graph.yield %2 : tensor<4096xf32>
  }
  %1 = graph.cluster loop (%b = %0 : tensor<4096xf32>) -> tensor<4096xf32> {
    %2 = graph.unary neg %b : (tensor<4096xf32>) -> tensor<4096xf32>
    graph.yield %2 : tensor<4096xf32>
  }
  return %1 : tensor<4096xf32>
}

// -----
// A vector broadcast over rows is a load that does not move with the row.
// CHECK-LABEL: kernel.func @add_0(
// CHECK-SAME: %{{.*}}: memref<8x128xf32>, %[[B:.*]]: memref<128xf32>
// CHECK: kernel.load %[[B]][%{{[a-z0-9]*}}] : memref<128xf32>
func.func @broadcast(%x: tensor<8x128xf32>, %b: tensor<128xf32>) -> tensor<8x128xf32> {
  %0 = graph.cluster loop (%a = %x : tensor<8x128xf32>, %c = %b : tensor<128xf32>) -> tensor<8x128xf32> {
    %1 = graph.broadcast %c {shape = array<i64: 8, 128>, dims = array<i64: 1>} : (tensor<128xf32>) -> tensor<8x128xf32>
    %2 = graph.binary add %a, %1 : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
    graph.yield %2 : tensor<8x128xf32>
  }
  return %0 : tensor<8x128xf32>
}

// -----
// Softmax: rows are read once, exponentials kept, the maximum may ignore NaN.
// CHECK-LABEL: kernel.func @reduce_max_reduce_sum_div_0
// CHECK: kernel.program (%[[R:.*]]) in (8)
// CHECK: %[[M:.*]]:2 = kernel.loop (%[[C:.*]]) in (1000) -> (maxnum f32, keep tensor<1000xf32>)
// CHECK: kernel.load %{{.*}}[%[[R]], %[[C]]] : memref<8x1000xf32>
// CHECK: %[[S:.*]]:2 = kernel.loop (%{{.*}}) in (1000) -> (add f32, keep tensor<1000xf32>)
// CHECK: kernel.load %[[M]]#1
// CHECK: math.exp
// CHECK: kernel.loop
// CHECK: kernel.load %[[S]]#1
// CHECK: arith.divf %{{.*}}, %[[S]]#0
// CHECK: kernel.store
func.func @softmax(%x: tensor<8x1000xf32>) -> tensor<8x1000xf32> {
  %0 = graph.cluster reduction (%a = %x : tensor<8x1000xf32>) -> tensor<8x1000xf32> {
    %1 = graph.reduce max %a {dims = array<i64: 1>} : (tensor<8x1000xf32>) -> tensor<8xf32>
    %2 = graph.broadcast %1 {shape = array<i64: 8, 1000>, dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x1000xf32>
    %3 = graph.binary sub %a, %2 : (tensor<8x1000xf32>, tensor<8x1000xf32>) -> tensor<8x1000xf32>
    %4 = graph.unary exp %3 : (tensor<8x1000xf32>) -> tensor<8x1000xf32>
    %5 = graph.reduce sum %4 {dims = array<i64: 1>} : (tensor<8x1000xf32>) -> tensor<8xf32>
    %6 = graph.broadcast %5 {shape = array<i64: 8, 1000>, dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x1000xf32>
    %7 = graph.binary div %4, %6 : (tensor<8x1000xf32>, tensor<8x1000xf32>) -> tensor<8x1000xf32>
    graph.yield %7 : tensor<8x1000xf32>
  }
  return %0 : tensor<8x1000xf32>
}

// -----
// The maximum alone is a result: NaN must come through.
// CHECK-LABEL: kernel.func @reduce_max_0
// CHECK: kernel.loop (%{{.*}}) in (1000) -> (max f32)
// CHECK: kernel.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<8xf32>
func.func @maximum(%x: tensor<8x1000xf32>) -> tensor<8xf32> {
  %0 = graph.cluster reduction (%a = %x : tensor<8x1000xf32>) -> tensor<8xf32> {
    %1 = graph.reduce max %a {dims = array<i64: 1>} : (tensor<8x1000xf32>) -> tensor<8xf32>
    graph.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----
// Columns: 100 of them do not fill whole tiles, so the last program is guarded. bf16 adds in f32.
// CHECK-LABEL: kernel.func @reduce_sum_0
// HOST: kernel.program (%[[P:.*]]) in (2)
// HOST: kernel.loop (%{{.*}}, %{{.*}}) in (512, 64) -> (add tensor<64xf32>)
// CUDA: kernel.program (%[[P:.*]]) in (4)
// CUDA: kernel.loop (%{{.*}}, %{{.*}}) in (512, 32) -> (add tensor<32xf32>)
// CHECK: arith.cmpi ult
// CHECK: kernel.load %{{.*}} if %{{.*}} else
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: kernel.loop
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: kernel.store %{{.*}} if
func.func @columns(%x: tensor<512x100xbf16>) -> tensor<100xbf16> {
  %0 = graph.cluster reduction (%a = %x : tensor<512x100xbf16>) -> tensor<100xbf16> {
    %1 = graph.reduce sum %a {dims = array<i64: 0>} : (tensor<512x100xbf16>) -> tensor<100xbf16>
    graph.yield %1 : tensor<100xbf16>
  }
  return %0 : tensor<100xbf16>
}

// -----
// A transpose is read along its rows into a tile and written along those of the result.
// CHECK-LABEL: kernel.func @transpose_0(
// CHECK-SAME: %[[X:.*]]: memref<64x96xf32>, %[[Y:.*]]: memref<96x64xf32>)
// CHECK: kernel.program (%[[I:.*]], %[[J:.*]]) in (3, 2)
// CHECK: %[[T:.*]] = kernel.loop (%[[A:.*]], %[[B:.*]]) in (32, 32) -> (keep tensor<32x32xf32>)
// CHECK: kernel.load %[[X]][%[[J]] * 32 + %[[A]], %[[I]] * 32 + %[[B]]]
// CHECK: kernel.loop (%[[C:.*]], %[[D:.*]]) in (32, 32)
// CHECK: kernel.load %[[T]][%[[D]], %[[C]]]
// CHECK: kernel.store %{{.*}}, %[[Y]][%[[I]] * 32 + %[[C]], %[[J]] * 32 + %[[D]]]
func.func @transpose(%x: tensor<64x96xf32>) -> tensor<96x64xf32> {
  %0 = graph.cluster transpose (%a = %x : tensor<64x96xf32>) -> tensor<96x64xf32> {
    %1 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<64x96xf32>) -> tensor<96x64xf32>
    graph.yield %1 : tensor<96x64xf32>
  }
  return %0 : tensor<96x64xf32>
}

// -----
// Padding and concatenation guard their loads.
// CHECK-LABEL: kernel.func @pad_0
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[V:.*]] = kernel.load %{{.*}} if %[[IN]] else
// CHECK: arith.select %[[IN]], %[[V]]
func.func @pad(%x: tensor<8xf32>) -> tensor<10xf32> {
  %0 = graph.cluster loop (%a = %x : tensor<8xf32>) -> tensor<10xf32> {
    %1 = graph.constant dense<0.0> : tensor<f32>
    %2 = graph.pad constant %a, %1 {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
    graph.yield %2 : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}

// -----
// CHECK-LABEL: kernel.func @gather_0(
// CHECK-SAME: %[[D:.*]]: memref<1000x16xf32>, %[[I:.*]]: memref<4xi64>
// What lies far outside is brought near before the index may lose its upper bits.
// CHECK: %[[K:.*]] = kernel.load %[[I]]
// CHECK: %[[LOW:.*]] = arith.constant -1000 : i64
// CHECK: %[[L:.*]] = arith.maxsi %[[K]], %[[LOW]] : i64
// CHECK: %[[HIGH:.*]] = arith.constant 1000 : i64
// CHECK: %[[N:.*]] = arith.minsi %[[L]], %[[HIGH]] : i64
// CHECK: arith.index_cast %[[N]]
// CHECK: arith.minsi
// CHECK: kernel.load %[[D]][
func.func @gather(%d: tensor<1000x16xf32>, %i: tensor<4xi64>) -> tensor<4x16xf32> {
  %0 = graph.cluster gather (%a = %d : tensor<1000x16xf32>, %b = %i : tensor<4xi64>) -> tensor<4x16xf32> {
    %1 = graph.gather %a, %b {dim = 0 : i64} : (tensor<1000x16xf32>, tensor<4xi64>) -> tensor<4x16xf32>
    graph.yield %1 : tensor<4x16xf32>
  }
  return %0 : tensor<4x16xf32>
}

// -----
// The product's result may overwrite the residual, which is read only where it is written.
// CHECK-LABEL: func.func @contract
// CHECK: kernel.launch @contract_add_0({{.*}}) {inplace = array<i64: 2, 0>}
// CHECK: kernel.contract %{{.*}}, %{{.*}} extents [1, 64, 32, 128] maps
// CHECK: ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK: %[[R:.*]] = kernel.load %{{.*}}[%[[I]], %[[J]]] : memref<64x32xf32>
// CHECK: arith.addf %[[ACC]], %[[R]]
// CHECK: kernel.store %{{.*}}[%[[I]], %[[J]]]
func.func @contract(%x: tensor<64x128xf32>, %w: tensor<128x32xf32>, %r: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = graph.cluster contract (%a = %x : tensor<64x128xf32>, %b = %w : tensor<128x32xf32>, %c = %r : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %1 = graph.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
    %2 = graph.binary add %1, %c : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    graph.yield %2 : tensor<64x32xf32>
  }
  return %0 : tensor<64x32xf32>
}

// -----
// A scan is an ordered loop inside each point.
// CHECK-LABEL: kernel.func @scan_0
// CHECK: kernel.loop (%{{.*}}) in (16)
// CHECK: kernel.loop (%{{.*}}) in (8)
// CHECK: kernel.load %{{.*}} if
// CHECK: arith.addf
// CHECK: kernel.store
func.func @scan(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.cluster scan (%a = %x : tensor<8x16xf32>) -> tensor<8x16xf32> {
    %1 = graph.scan sum %a {dim = 0 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    graph.yield %1 : tensor<8x16xf32>
  }
  return %0 : tensor<8x16xf32>
}

// -----
// Unsigned integers are signless in kernels and compared as what they are.
// CHECK-LABEL: kernel.func @reduce_max_0(
// CHECK-SAME: %{{.*}}: memref<8x64xi8>, %{{.*}}: memref<8xi8>)
// CHECK: -> (umax i32)
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.trunci %{{.*}} : i32 to i8
func.func @unsigned(%x: tensor<8x64xui8>) -> tensor<8xui8> {
  %0 = graph.cluster reduction (%a = %x : tensor<8x64xui8>) -> tensor<8xui8> {
    %1 = graph.reduce max %a {dims = array<i64: 1>} : (tensor<8x64xui8>) -> tensor<8xui8>
    graph.yield %1 : tensor<8xui8>
  }
  return %0 : tensor<8xui8>
}
