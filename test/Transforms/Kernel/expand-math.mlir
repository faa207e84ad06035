// RUN: gpucc-opt %s --gpucc-expand-math | FileCheck %s

// CHECK-LABEL: kernel.func @functions
// CHECK-NOT: math.{{exp|log|tanh|erf|rsqrt|powf|isnan}}
kernel.func @functions(%x: memref<8xf32>, %y: memref<8xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (8) {
      %0 = kernel.load %x[%c] : memref<8xf32>
      %1 = math.exp %0 : f32
      %2 = math.log %1 : f32
      %3 = math.tanh %2 : f32
      %4 = math.erf %3 : f32
      // Left for gpucc-expand-sines.
      // CHECK: math.sin
      // CHECK: math.cos
      %5 = math.sin %4 : f32
      %6 = math.cos %5 : f32
      // CHECK: math.sqrt
      // CHECK: arith.divf
      %7 = math.rsqrt %6 : f32
      %8 = math.powf %7, %0 : f32
      // CHECK: arith.cmpf uno
      %9 = math.isnan %8 : f32
      %10 = arith.select %9, %0, %8 : f32
      kernel.store %10, %y[%c] : memref<8xf32>
    }
  }
}

// bf16: one rounding per operation, none of which disappears.
// CHECK-LABEL: kernel.func @small
kernel.func @small(%x: memref<8xbf16>, %y: memref<8xbf16>) {
  kernel.program () in () {
    kernel.loop (%c) in (8) {
      // CHECK: %[[X:.*]] = kernel.load
      %0 = kernel.load %x[%c] : memref<8xbf16>
      // CHECK: %[[W:.*]] = arith.extf %[[X]] : bf16 to f32
      // CHECK: %[[S:.*]] = arith.addf %[[W]], %{{.*}} : f32
      // CHECK: %[[R:.*]] = arith.truncf %[[S]] : f32 to bf16
      %1 = arith.addf %0, %0 : bf16
      // CHECK: %[[V:.*]] = arith.extf %[[R]] : bf16 to f32
      // CHECK: %[[M:.*]] = arith.mulf %[[V]], %{{.*}} : f32
      // CHECK: arith.truncf %[[M]] : f32 to bf16
      %2 = arith.mulf %1, %0 : bf16
      kernel.store %2, %y[%c] : memref<8xbf16>
    }
  }
}

// f64 stays with the library of the target.
// CHECK-LABEL: kernel.func @double
kernel.func @double(%x: memref<8xf64>, %y: memref<8xf64>) {
  kernel.program () in () {
    kernel.loop (%c) in (8) {
      %0 = kernel.load %x[%c] : memref<8xf64>
      // CHECK: math.exp
      %1 = math.exp %0 : f64
      kernel.store %1, %y[%c] : memref<8xf64>
    }
  }
}
