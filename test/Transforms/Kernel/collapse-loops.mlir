// RUN: gpucc-opt %s --gpucc-collapse-loops | FileCheck %s

// Contiguous dimensions become one; the order of the sum, by linear index, stays.
// CHECK-LABEL: kernel.func @joined
kernel.func @joined(%x: memref<3x7x9xf32>, %y: memref<3xf32>) {
  kernel.program (%c) in (3) {
    // CHECK: kernel.loop (%[[N:.*]]) in (63) -> (add f32) {
    %s = kernel.loop (%i, %j) in (7, 9) -> (add f32) {
      // CHECK: kernel.load %{{.*}}[%{{.*}}, %[[N]] floordiv 9, %[[N]] mod 9] : memref<3x7x9xf32>
      %0 = kernel.load %x[%c, %i, %j] : memref<3x7x9xf32>
      kernel.yield %0 : f32
    }
    kernel.store %s, %y[%c] : memref<3xf32>
  }
}

// Only the neighbours that lie side by side: n does not.
// CHECK-LABEL: kernel.func @partly
kernel.func @partly(%x: memref<5x3x7x9xf32>, %y: memref<3xf32>) {
  kernel.program (%c) in (3) {
    // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (5, 63) -> (add f32) {
    %s = kernel.loop (%n, %i, %j) in (5, 7, 9) -> (add f32) {
      %0 = kernel.load %x[%n, %c, %i, %j] : memref<5x3x7x9xf32>
      kernel.yield %0 : f32
    }
    kernel.store %s, %y[%c] : memref<3xf32>
  }
}

// An index that is a value somewhere, a bias of one dimension, a tile: none of these can join.
// CHECK-LABEL: kernel.func @kept
kernel.func @kept(%x: memref<7x9xf32>, %b: memref<9xf32>, %y: memref<7x9xf32>, %z: memref<7x9xi64>) {
  kernel.program () in () {
    // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (7, 9) {
    kernel.loop (%i, %j) in (7, 9) {
      %0 = kernel.load %x[%i, %j] : memref<7x9xf32>
      %1 = kernel.load %b[%j] : memref<9xf32>
      %2 = arith.addf %0, %1 : f32
      kernel.store %2, %y[%i, %j] : memref<7x9xf32>
    }
    // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (7, 9) {
    kernel.loop (%i, %j) in (7, 9) {
      %0 = arith.index_cast %j : index to i64
      kernel.store %0, %z[%i, %j] : memref<7x9xi64>
    }
    // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (7, 9) -> (keep tensor<7x9xf32>) {
    %t = kernel.loop (%i, %j) in (7, 9) -> (keep tensor<7x9xf32>) {
      %0 = kernel.load %x[%i, %j] : memref<7x9xf32>
      kernel.yield %0 : f32
    }
  }
}

// Columns keep their last dimension.
// CHECK-LABEL: kernel.func @columns
kernel.func @columns(%x: memref<4x7x9xf32>) {
  kernel.program () in () {
    // CHECK: kernel.loop (%{{.*}}, %{{.*}}) in (28, 9) -> (add tensor<9xf32>) {
    %s = kernel.loop (%n, %i, %j) in (4, 7, 9) -> (add tensor<9xf32>) {
      %0 = kernel.load %x[%n, %i, %j] : memref<4x7x9xf32>
      kernel.yield %0 : f32
    }
  }
}
