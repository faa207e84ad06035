// RUN: gpucc-opt %s --gpucc-expand-skeletons | FileCheck %s

// CHECK-LABEL: kernel.func @contract
kernel.func @contract(%a: memref<8x16xi8>, %w: memref<4x16xi8>, %y: memref<8x4xi32>) {
  // CHECK: kernel.program (%[[B:.*]], %[[I:.*]]) in (1, 8) {
  // CHECK: kernel.loop (%[[J:.*]]) in (4) {
  // CHECK: %[[ACC:.*]] = kernel.loop (%[[K:.*]]) in (16) -> (add i32) {
  // CHECK: %[[X:.*]] = kernel.load %{{.*}}[%[[I]], %[[K]]]
  // CHECK: %[[W:.*]] = kernel.load %{{.*}}[%[[J]], %[[K]]]
  // CHECK: arith.muli
  // CHECK: kernel.store %[[ACC]], %{{.*}}[%[[I]], %[[J]]]
  kernel.contract %a, %w extents [1, 8, 4, 16] maps affine_map<(b, i, k) -> (i, k)>, affine_map<(b, k, j) -> (j, k)>
      : memref<8x16xi8>, memref<4x16xi8> epilogue {
  ^bb0(%acc: i32, %b: index, %i: index, %j: index):
    kernel.store %acc, %y[%i, %j] : memref<8x4xi32>
  }
}

// Positions outside the image are guarded, none is read.
// CHECK-LABEL: kernel.func @convolution
kernel.func @convolution(%x: memref<2x3x8x8xf32>, %w: memref<4x3x3x3xf32>, %y: memref<2x4x4x4xf32>) {
  // CHECK: kernel.program (%[[N:.*]], %[[O:.*]], %[[H:.*]]) in (2, 4, 4) {
  // CHECK: kernel.loop (%[[W:.*]]) in (4) {
  // CHECK: kernel.loop (%[[C:.*]], %[[KH:.*]], %[[KW:.*]]) in (3, 3, 3) -> (add f32) {
  // CHECK: kernel.load %{{.*}}[%[[N]], %[[C]], %{{.*}}, %{{.*}}] if %[[IN:.*]] else
  // CHECK: kernel.load %{{.*}}[%[[O]], %[[C]], %[[KH]], %[[KW]]] if %[[IN]] else
  kernel.convolution forward %x, %w result [2, 4, 4, 4] strides [2, 2] pads [1, 1], [1, 1] dilations [1, 1] groups 1
      : memref<2x3x8x8xf32>, memref<4x3x3x3xf32> epilogue {
  ^bb0(%acc: f32, %n: index, %o: index, %i: index, %j: index):
    kernel.store %acc, %y[%n, %o, %i, %j] : memref<2x4x4x4xf32>
  }
}

// CHECK-LABEL: kernel.func @attention
kernel.func @attention(%q: memref<1x4x6x8xf32>, %k: memref<1x2x7x8xf32>, %v: memref<1x2x7x5xf32>, %y: memref<1x4x6x5xf32>) {
  // All 6 rows side by side.
  // CHECK: kernel.program (%{{.*}}, %[[H:.*]], %{{.*}}) in (1, 4, 1) {
  // CHECK: arith.divui %[[H]]
  // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (8, 6) -> (keep tensor<8x6xf32>) {
  // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (7, 6) -> (keep tensor<7x6xf32>, maxnum tensor<6xf32>) {
  // CHECK: kernel.loop (%{{.*}}) in (8) -> (add f32) {
  // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (7, 6) -> (keep tensor<7x6xf32>, add tensor<6xf32>) {
  // CHECK: math.exp
  // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (5, 6) -> (keep tensor<5x6xf32>) {
  // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (6, 5) {
  // CHECK: kernel.store
  kernel.attention %q, %k, %v extents [1, 4, 2, 6, 7, 8, 5] maps affine_map<(b, h, s, d) -> (b, h, s, d)>,
      affine_map<(b, h, s, d) -> (b, h, s, d)>, affine_map<(b, h, s, d) -> (b, h, s, d)> scale 0.5
      : memref<1x4x6x8xf32>, memref<1x2x7x8xf32>, memref<1x2x7x5xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
    kernel.store %acc, %y[%b, %h, %s, %e] : memref<1x4x6x5xf32>
  }
}
