// RUN: gpucc-opt %s --gpucc-kernel-to-loops | FileCheck %s
// RUN: gpucc-opt %s --gpucc-kernel-to-loops=width=16 | FileCheck %s --check-prefix=WIDE

// Vectors along the row, a scalar for the row, a mask for the tail of 4.
// CHECK-LABEL: func.func @scale
// CHECK-SAME: (%[[X:.*]]: memref<80xf32>, %[[S:.*]]: memref<4xf32>, %[[Y:.*]]: memref<80xf32>, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: scf.for %[[R:.*]] = %{{.*}} to %{{.*}}
// CHECK: vector.load %[[X]][%{{.*}}] : memref<80xf32>, vector<8xf32>
// CHECK: memref.load %[[S]][%[[R]]]
// CHECK: vector.broadcast
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.maskedstore %[[Y]]
// WIDE-LABEL: func.func @scale
// WIDE: vector<16xf32>
kernel.func @scale(%x: memref<4x20xf32>, %s: memref<4xf32>, %y: memref<4x20xf32>) {
  kernel.program (%r) in (4) {
    kernel.loop (%c) in (20) {
      %0 = kernel.load %x[%r, %c] : memref<4x20xf32>
      %1 = kernel.load %s[%r] : memref<4xf32>
      %2 = arith.mulf %0, %1 : f32
      kernel.store %2, %y[%r, %c] : memref<4x20xf32>
    }
  }
}

// A constant stride and a loaded index are gathers; a guard is the gather's mask.
// CHECK-LABEL: func.func @gathers
// CHECK: vector.gather
// CHECK: vector.load %{{.*}} : memref<16xi64>
// CHECK: arith.trunci %{{.*}} : vector<8xi64> to vector<8xi32>
// CHECK: vector.gather
kernel.func @gathers(%x: memref<16x4xf32>, %ids: memref<16xi64>, %y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant 9 : index
  kernel.program (%r) in (4) {
    kernel.loop (%c) in (16) {
      %0 = kernel.load %x[%c, %r] : memref<16x4xf32>
      %id = kernel.load %ids[%c] : memref<16xi64>
      %at = arith.index_cast %id : i64 to index
      %in = arith.cmpi ult, %c, %limit : index
      %1 = kernel.load %x[%at, %r] if %in else %zero : memref<16x4xf32>
      %2 = arith.addf %0, %1 : f32
      kernel.store %2, %y[%c] : memref<16xf32>
    }
  }
}

// 40 points: 64 residues in registers, bits 4 and 5 on whole vectors, then halves of one vector.
// CHECK-LABEL: func.func @row
// CHECK-NOT: memref.alloca
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [4, 5, 6, 7]
// CHECK: vector.extract
kernel.func @row(%x: memref<4x40xf32>, %y: memref<4xf32>) {
  kernel.program (%r) in (4) {
    %s = kernel.loop (%c) in (40) -> (add f32) {
      %0 = kernel.load %x[%r, %c] : memref<4x40xf32>
      kernel.yield %0 : f32
    }
    kernel.store %s, %y[%r] : memref<4xf32>
  }
}

// i1 is a byte in memory.
// CHECK-LABEL: func.func @bits
// CHECK-SAME: memref<8xi8>
// CHECK: vector.load %{{.*}} : memref<8xi8>, vector<8xi8>
// CHECK: arith.cmpi ne
// CHECK: arith.extui %{{.*}} : vector<8xi1> to vector<8xi8>
kernel.func @bits(%x: memref<8xi1>, %y: memref<8xi1>) {
  %true = arith.constant true
  kernel.program () in () {
    kernel.loop (%c) in (8) {
      %0 = kernel.load %x[%c] : memref<8xi1>
      %1 = arith.xori %0, %true : i1
      kernel.store %1, %y[%c] : memref<8xi1>
    }
  }
}

// Rows of a large matrix are asked for 16 ahead, a line of 64 bytes at a time; small data is in the cache.
// CHECK-LABEL: func.func @column_of_large
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[C:.*]] = arith.constant 16 : index
// CHECK-NEXT: arith.addi %[[ROW]], %[[C]] : index
// CHECK-COUNT-4: memref.prefetch %arg1[%{{.*}}], read, locality<2>, data : memref<98304xf32>
// CHECK-NOT: memref.prefetch
kernel.func @column_of_large(%x: memref<96xf32>, %w: memref<96x1024xf32>, %y: memref<64xf32>) {
  kernel.program () in () {
    %0 = kernel.loop (%r, %c) in (96, 64) -> (add tensor<64xf32>) {
      %1 = kernel.load %x[%r] : memref<96xf32>
      %2 = kernel.load %w[%r, %c] : memref<96x1024xf32>
      %3 = arith.mulf %1, %2 : f32
      kernel.yield %3 : f32
    }
    kernel.loop (%c) in (64) {
      %1 = kernel.load %0[%c] : tensor<64xf32>
      kernel.store %1, %y[%c] : memref<64xf32>
    }
  }
}

// A condition that all lanes share is a branch: behind it lies perhaps no memory, and a load whose lanes are
// all masked would take the CPU hundreds of cycles there.
// CHECK-LABEL: func.func @joined
// CHECK: scf.if
// CHECK: vector.load
// CHECK: scf.if
// CHECK: vector.load
// CHECK-NOT: vector.maskedload
// CHECK: return
kernel.func @joined(%a: memref<3x8xf32>, %b: memref<8xf32>, %y: memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3 : index
  kernel.program () in () {
    kernel.loop (%r, %c) in (4, 8) {
      %in = arith.cmpi ult, %r, %three : index
      %behind = arith.cmpi uge, %r, %three : index
      %0 = kernel.load %a[%r, %c] if %in else %zero : memref<3x8xf32>
      %1 = kernel.load %b[%r * 8 + %c - 24] if %behind else %zero : memref<8xf32>
      %2 = arith.select %in, %0, %1 : f32
      kernel.store %2, %y[%r, %c] : memref<4x8xf32>
    }
  }
}

// 32 rows, one per residue: nothing is set to -0 first, nothing is added.
// CHECK-LABEL: func.func @once
// CHECK-NOT: dense<-0.000000e+00>
// CHECK: vector.store
// CHECK: vector.load %{{.*}}[%{{.*}}] : memref<256xf32>
// CHECK: arith.addf
kernel.func @once(%w: memref<32x8xf32>, %y: memref<8xf32>) {
  kernel.program () in () {
    %0 = kernel.loop (%r, %c) in (32, 8) -> (add tensor<8xf32>) {
      %1 = kernel.load %w[%r, %c] : memref<32x8xf32>
      kernel.yield %1 : f32
    }
    kernel.loop (%c) in (8) {
      %1 = kernel.load %0[%c] : tensor<8xf32>
      kernel.store %1, %y[%c] : memref<8xf32>
    }
  }
}
