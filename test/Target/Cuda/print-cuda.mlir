// RUN: gpucc-translate --to=cuda %s | FileCheck %s

// CHECK: // grid (8, 1, 1) block (256, 1, 1)
// CHECK-NEXT: #include "gk.cuh"
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256) softmax(const float *logits_, float *view_) {
// CHECK: gk_vec<float, 4> [[V:v.*]] = gk_load<float, 4>(logits_ + {{.*}});
// CHECK: gk_store([[T:t.*]], [[V]]);
// CHECK: float [[MAX:v.*]] = gk_reduce<gk_maxnum, 256, 1>({{t.*}});
// CHECK: fmaf(
// CHECK: float [[SUM:v.*]] = gk_reduce<gk_add, 256, 1>({{t.*}});
// CHECK: / [[SUM]];
// CHECK: gk_store(view_ + {{.*}}
kernel.func @softmax(%x: memref<8x1024xf32> {kernel.name = "logits"}, %y: memref<8x1024xf32>) {
  kernel.program (%r) in (8) {
    %t, %m = kernel.loop (%c) in (1024) -> (keep tensor<1024xf32>, maxnum f32) {
      %0 = kernel.load %x[%r, %c] : memref<8x1024xf32>
      kernel.yield %0, %0 : f32, f32
    }
    %e, %s = kernel.loop (%c) in (1024) -> (keep tensor<1024xf32>, add f32) {
      %0 = kernel.load %t[%c] : tensor<1024xf32>
      %1 = arith.subf %0, %m : f32
      %2 = math.exp %1 : f32
      kernel.yield %2, %2 : f32, f32
    }
    kernel.loop (%c) in (1024) {
      %0 = kernel.load %e[%c] : tensor<1024xf32>
      %1 = arith.divf %0, %s : f32
      kernel.store %1, %y[%r, %c] : memref<8x1024xf32>
    }
  }
}

// CHECK: #include "gemm_mma.cuh"
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__({{[0-9]+}}, 1) dense(const gk_bf16 *view_, const gk_bf16 *dense_weight_, const float *view_2_, gk_bf16 *view_3_) {
// CHECK: const auto [[A:a.*]] = gk_direct<gk_bf16, 0, 64, 1, 16>{view_};
// CHECK: const auto [[B:a.*]] = gk_direct<gk_bf16, 0, 64, 1, 16>{dense_weight_};
// CHECK: gk_gemm_mma<gk_bf16, 128, 192, 64, {{.*}}, 8>([[A]], [[B]], [&](float (&acc)[8], gk_i64 b, int i, int j) {
// CHECK: gk_to_bf16(
// CHECK: gk_store(view_3_ + {{.*}}
// CHECK: });
kernel.func @dense(%x: memref<128x64xbf16>, %w: memref<192x64xbf16> {kernel.name = "dense.weight"}, %bias: memref<192xf32>, %y: memref<128x192xbf16>) {
  kernel.contract %x, %w extents [1, 128, 192, 64] maps affine_map<(b, i, k) -> (i, k)>, affine_map<(b, k, j) -> (j, k)>
      : memref<128x64xbf16>, memref<192x64xbf16> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
    %0 = kernel.load %bias[%j] : memref<192xf32>
    %1 = arith.addf %acc, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    kernel.store %2, %y[%i, %j] : memref<128x192xbf16>
  }
}

// A batch that is two dimensions: its base divides.
// CHECK: struct scores_lhs {
// CHECK: static constexpr gk_i64 row = 48, k = 1;
// CHECK: static constexpr int alignment = 16;
// CHECK: const float *base(gk_i64 b) const { return p + {{.*}}(b / 3){{.*}}; }
// CHECK: scores_lhs{view_};
kernel.func @scores(%q: memref<2x20x48xf32>, %k: memref<2x20x48xf32>, %y: memref<6x20x20xf32>) {
  kernel.contract %q, %k extents [6, 20, 20, 16] maps affine_map<(b, i, k) -> (b floordiv 3, i, (b mod 3) * 16 + k)>,
      affine_map<(b, k, j) -> (b floordiv 3, j, (b mod 3) * 16 + k)> : memref<2x20x48xf32>, memref<2x20x48xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
    kernel.store %acc, %y[%b, %i, %j] : memref<6x20x20xf32>
  }
}

// Guards are ifs around the access; integers wrap by unsigned arithmetic.
// CHECK-LABEL: void __launch_bounds__(256) guarded(
// CHECK: int [[R:v.*]];
// CHECK: if ({{.*}}) {
// CHECK: } else {
// CHECK: (int)((gk_u32){{.*}} + (gk_u32){{.*}});
kernel.func @guarded(%x: memref<9xi32>, %y: memref<12xi32>) {
  %zero = arith.constant 0 : i32
  %nine = arith.constant 9 : index
  kernel.program () in () {
    kernel.loop (%c) in (12) {
      %in = arith.cmpi ult, %c, %nine : index
      %0 = kernel.load %x[%c] if %in else %zero : memref<9xi32>
      %1 = arith.addi %0, %0 : i32
      kernel.store %1, %y[%c] : memref<12xi32>
    }
  }
}
