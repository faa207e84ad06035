// RUN: gpucc-opt %s -split-input-file -verify-diagnostics --gpucc-kernel-to-loops

// expected-error @+2 {{holds a skeleton, which the CPU has no code for}}
// expected-note @+1 {{run gpucc-expand-skeletons first}}
kernel.func @contract(%a: memref<8x16xf32>, %w: memref<4x16xf32>, %y: memref<8x4xf32>) {
  kernel.contract %a, %w extents [1, 8, 4, 16] maps affine_map<(b, i, k) -> (i, k)>, affine_map<(b, k, j) -> (j, k)>
      : memref<8x16xf32>, memref<4x16xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
    kernel.store %acc, %y[%i, %j] : memref<8x4xf32>
  }
}
