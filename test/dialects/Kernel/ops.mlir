// RUN: gpucc-opt %s | FileCheck %s
// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s
// RUN: gpucc-opt %s --mlir-print-op-generic | gpucc-opt | FileCheck %s

// CHECK-LABEL: kernel.func @softmax
// CHECK-SAME: kernel.name = "logits"
// CHECK-SAME: schedule = #kernel.schedule<threads = 256, vec = 4>
kernel.func @softmax(%x: memref<8x1000xf32> {kernel.name = "logits"}, %y: memref<8x1000xf32>)
    attributes {schedule = #kernel.schedule<threads = 256, vec = 4>} {
  // CHECK: kernel.program (%[[R:.*]]) in (8) {
  kernel.program (%r) in (8) {
    // CHECK: %[[T:.*]]:2 = kernel.loop (%[[C:.*]]) in (1000) -> (keep tensor<1000xf32>, maxnum f32) {
    %t, %m = kernel.loop (%c) in (1000) -> (keep tensor<1000xf32>, maxnum f32) {
      // CHECK: %[[V:.*]] = kernel.load %{{.*}}[%[[R]], %[[C]]] : memref<8x1000xf32>
      %0 = kernel.load %x[%r, %c] : memref<8x1000xf32>
      // CHECK: kernel.yield %[[V]], %[[V]] : f32, f32
      kernel.yield %0, %0 : f32, f32
    }
    // CHECK: kernel.loop (%{{.*}}) in (1000) {
    kernel.loop (%c) in (1000) {
      // CHECK: kernel.load %[[T]]#0[%{{.*}}] : tensor<1000xf32>
      %0 = kernel.load %t[%c] : tensor<1000xf32>
      %1 = arith.subf %0, %m : f32
      kernel.store %1, %y[%r, %c] : memref<8x1000xf32>
    }
  }
}

// CHECK-LABEL: kernel.func @padded
kernel.func @padded(%x: memref<4x16xf32, strided<[32, 2]>>, %i: memref<6xi64>, %y: memref<6x20xf32>, %s: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  // CHECK: kernel.program () in () {
  kernel.program () in () {
    // CHECK: kernel.load %{{.*}}[] : memref<f32>
    %k = kernel.load %s[] : memref<f32>
    kernel.loop (%r, %c) in (6, 20) {
      %j = kernel.load %i[%r] : memref<6xi64>
      %row = arith.index_cast %j : i64 to index
      %in = arith.cmpi uge, %c, %two : index
      // CHECK: kernel.load %{{.*}}[%{{.*}}, %{{.*}} - 2] if %[[IN:.*]] else %{{.*}} : memref<4x16xf32, strided<[32, 2]>>
      %0 = kernel.load %x[%row, %c - 2] if %in else %zero : memref<4x16xf32, strided<[32, 2]>>
      %1 = arith.mulf %0, %k : f32
      // CHECK: kernel.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] if %[[IN]] : memref<6x20xf32>
      kernel.store %1, %y[%r, %c] if %in : memref<6x20xf32>
    }
  }
}

// CHECK-LABEL: kernel.func @pool
kernel.func @pool(%x: memref<8x8xf32>, %y: memref<4x4xf32>, %sums: memref<4xf32>) {
  kernel.program () in () {
    // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (4, 4) -> (add tensor<4xf32>) {
    %s = kernel.loop (%i, %j) in (4, 4) -> (add tensor<4xf32>) {
      // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (2, 2) -> (max f32) {
      %m = kernel.loop (%a, %b) in (2, 2) -> (max f32) {
        // CHECK: kernel.load %{{.*}}[%{{.*}} * 2 + %{{.*}}, %{{.*}} * 2 + %{{.*}}] : memref<8x8xf32>
        %0 = kernel.load %x[%i * 2 + %a, %j * 2 + %b] : memref<8x8xf32>
        kernel.yield %0 : f32
      }
      kernel.store %m, %y[%i, %j] : memref<4x4xf32>
      kernel.yield %m : f32
    }
    kernel.loop (%j) in (4) {
      %0 = kernel.load %s[%j] : tensor<4xf32>
      kernel.store %0, %sums[%j] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: kernel.func @contract
kernel.func @contract(%a: memref<128x64xbf16>, %w: memref<192x64xbf16>, %bias: memref<192xf32>, %y: memref<128x192xf32>) {
  // CHECK: kernel.contract %{{.*}}, %{{.*}} extents [1, 128, 192, 64] maps
  kernel.contract %a, %w extents [1, 128, 192, 64] maps affine_map<(b, i, k) -> (i, k)>, affine_map<(b, k, j) -> (j, k)>
      : memref<128x64xbf16>, memref<192x64xbf16> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
    %0 = kernel.load %bias[%j] : memref<192xf32>
    %1 = arith.addf %acc, %0 : f32
    kernel.store %1, %y[%i, %j] : memref<128x192xf32>
  }
}

// CHECK-LABEL: kernel.func @convolution
kernel.func @convolution(%x: memref<2x3x8x8xf32>, %w: memref<4x3x3x3xf32>, %y: memref<2x4x4x4xf32>) {
  // CHECK: kernel.convolution forward %{{.*}}, %{{.*}} result [2, 4, 4, 4] strides [2, 2] pads [1, 1], [1, 1] dilations [1, 1] groups 1
  kernel.convolution forward %x, %w result [2, 4, 4, 4] strides [2, 2] pads [1, 1], [1, 1] dilations [1, 1] groups 1
      : memref<2x3x8x8xf32>, memref<4x3x3x3xf32> epilogue {
  ^bb0(%acc: f32, %n: index, %o: index, %i: index, %j: index):
    kernel.store %acc, %y[%n, %o, %i, %j] : memref<2x4x4x4xf32>
  }
}

#q = affine_map<(b, h, s, d) -> (b, s, h * 64 + d)>
#kv = affine_map<(b, k, t, d) -> (b, t, k * 64 + d)>
// CHECK-LABEL: kernel.func @attention
kernel.func @attention(%q: memref<2x16x256xf32>, %k: memref<2x16x128xf32>, %v: memref<2x16x128xf32>, %mask: memref<2x16xf32>, %y: memref<2x16x256xf32>) {
  // CHECK: kernel.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} : memref<2x16xf32> extents [2, 4, 2, 16, 16, 64, 64]
  // CHECK-SAME: scale 1.250000e-01{{.*}} causal
  kernel.attention %q, %k, %v bias %mask : memref<2x16xf32> extents [2, 4, 2, 16, 16, 64, 64] maps #q, #kv, #kv
      bias_map affine_map<(b, h, s, t) -> (b, t)> scale 0.125 causal
      : memref<2x16x256xf32>, memref<2x16x128xf32>, memref<2x16x128xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
    kernel.store %acc, %y[%b, %s, %h * 64 + %e] : memref<2x16x256xf32>
  }
}
