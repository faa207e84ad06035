// RUN: gpucc-opt %s --gpucc-kernel-to-threads --canonicalize --cse | FileCheck %s

// One loop without results: threads range over all programs, 128 bits each.
// CHECK-LABEL: func.func @flat
// CHECK-SAME: kernel.block = array<i64: 256, 1, 1>, kernel.grid = array<i64: 4, 1, 1>
// CHECK: gpu.thread_id
// CHECK: vector.load %{{.*}} : memref<4096xf32>, vector<4xf32>
// CHECK: scf.for
// CHECK: } {kernel.unroll = true}
// CHECK: vector.store %{{.*}} : memref<4096xf32>, vector<4xf32>
kernel.func @flat(%x: memref<16x256xf32>, %y: memref<16x256xf32>) {
  kernel.program (%r) in (16) {
    kernel.loop (%c) in (256) {
      %0 = kernel.load %x[%r, %c] : memref<16x256xf32>
      %1 = arith.negf %0 : f32
      kernel.store %1, %y[%r, %c] : memref<16x256xf32>
    }
  }
}

// 40 points have 64 residues: 16 threads of 4, 8 programs per block.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: kernel.block = array<i64: 128, 1, 1>, kernel.grid = array<i64: 2, 1, 1>
// CHECK: kernel.group_reduce <add> %{{.*}} over 16 packed 8 : memref<4xf32> -> f32
kernel.func @rows(%x: memref<12x40xf32>, %y: memref<12xf32>) {
  kernel.program (%r) in (12) {
    %s = kernel.loop (%c) in (40) -> (add f32) {
      %0 = kernel.load %x[%r, %c] : memref<12x40xf32>
      kernel.yield %0 : f32
    }
    kernel.store %s, %y[%r] : memref<12xf32>
  }
}

// A tile that another thread reads lies in shared memory, its rows padded, behind a barrier.
// CHECK-LABEL: func.func @transpose
// CHECK: memref.alloca() {{.*}} : memref<1056xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
kernel.func @transpose(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  kernel.program () in () {
    %t = kernel.loop (%i, %j) in (32, 32) -> (keep tensor<32x32xf32>) {
      %0 = kernel.load %x[%i, %j] : memref<32x32xf32>
      kernel.yield %0 : f32
    }
    kernel.loop (%j, %i) in (32, 32) {
      %0 = kernel.load %t[%i, %j] : tensor<32x32xf32>
      kernel.store %0, %y[%j, %i] : memref<32x32xf32>
    }
  }
}

// CHECK-LABEL: func.func @columns
// CHECK: kernel.group_reduce_to <add> %{{.*}} over 256 columns 32 parts 1 to
kernel.func @columns(%x: memref<100x32xf32>, %y: memref<32xf32>) {
  kernel.program () in () {
    %s = kernel.loop (%i, %c) in (100, 32) -> (add tensor<32xf32>) {
      %0 = kernel.load %x[%i, %c] : memref<100x32xf32>
      kernel.yield %0 : f32
    }
    kernel.loop (%c) in (32) {
      %0 = kernel.load %s[%c] : tensor<32xf32>
      kernel.store %0, %y[%c] : memref<32xf32>
    }
  }
}

// 12 programs in blocks of 8: the second block has four groups of threads without a program, which
// touch no memory (another group may be writing it in place) and meet the others in the reduction.
// CHECK-LABEL: func.func @idle
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %{{.*}}, %c12
// CHECK: scf.if %[[EXISTS]] -> (f32)
// CHECK-NEXT: memref.load %arg1
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[EXISTS]]
// CHECK: scf.if %[[BOTH]] {
// CHECK: vector.load %arg0
// CHECK: kernel.group_reduce <add> %{{.*}} over 16 packed 8
// CHECK: %[[STORES:.*]] = arith.andi %{{.*}}, %[[EXISTS]]
// CHECK: scf.if %[[STORES]] {
// CHECK-NEXT: memref.store %{{.*}}, %arg1
kernel.func @idle(%x: memref<12x40xf32>, %scale: memref<12xf32>) {
  kernel.program (%r) in (12) {
    %k = kernel.load %scale[%r] : memref<12xf32>
    %s = kernel.loop (%c) in (40) -> (add f32) {
      %0 = kernel.load %x[%r, %c] : memref<12x40xf32>
      %1 = arith.mulf %0, %k : f32
      kernel.yield %1 : f32
    }
    kernel.store %s, %scale[%r] : memref<12xf32>
  }
}
