// RUN: gpucc-opt %s | gpucc-opt | FileCheck %s
// RUN: gpucc-opt %s --mlir-print-op-generic | gpucc-opt | FileCheck %s

// CHECK: dist.mesh @mesh <["pp" = 2, "dp" = 2, "tp" = 2]>
dist.mesh @mesh <["pp" = 2, "dp" = 2, "tp" = 2]>

// CHECK-LABEL: func.func @global(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xf32> {dist.sharding = #dist.sharding<[{"dp"}, {}], partial = ["tp"] sum>})
// CHECK-SAME:    -> (tensor<8x4xf32> {dist.saved = 3 : i64, dist.sharding = #dist.sharding<[{"dp"}, {"tp"}]>})
func.func @global(%x: tensor<8x4xf32> {dist.sharding = #dist.sharding<[{"dp"}, {}], partial = ["tp"] sum>})
    -> (tensor<8x4xf32> {dist.sharding = #dist.sharding<[{"dp"}, {"tp"}]>, dist.saved = 3 : i64})
    attributes {dist.stage = 0 : i64} {
  // CHECK: %[[A:.*]] = dist.reshard %[[X]] on @mesh from <[{"dp"}, {}], partial = ["tp"] sum> to <[{"dp"}, {"tp"}]> : tensor<8x4xf32>
  %0 = dist.reshard %x on @mesh from <[{"dp"}, {}], partial = ["tp"] sum> to <[{"dp"}, {"tp"}]> : tensor<8x4xf32>
  // CHECK: dist.constraint %[[A]] on @mesh <[{"dp"}, {"tp"}]> {dist.sharding = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<8x4xf32>
  %1 = dist.constraint %0 on @mesh <[{"dp"}, {"tp"}]> {dist.sharding = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @local(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
func.func @local(%x: tensor<4x8xf32>) attributes {dist.stage = 0 : i64} {
  // CHECK: dist.axis_index on @mesh over ["dp", "tp"] scale 4 : tensor<i64>
  %0 = dist.axis_index on @mesh over ["dp", "tp"] scale 4 : tensor<i64>
  // CHECK: dist.all_reduce sum %[[X]] on @mesh over ["tp"] : tensor<4x8xf32>
  %1 = dist.all_reduce sum %x on @mesh over ["tp"] : tensor<4x8xf32>
  // CHECK: dist.all_reduce max %{{.*}} on @mesh over ["pp", "tp"] channel 7 stages [0, 1] : tensor<4x8xf32>
  %2 = dist.all_reduce max %1 on @mesh over ["pp", "tp"] channel 7 stages [0, 1] : tensor<4x8xf32>
  // CHECK: dist.all_gather %{{.*}} on @mesh over ["dp", "tp"] dim 1 : tensor<4x8xf32> -> tensor<4x32xf32>
  %3 = dist.all_gather %2 on @mesh over ["dp", "tp"] dim 1 : tensor<4x8xf32> -> tensor<4x32xf32>
  // CHECK: dist.reduce_scatter sum %{{.*}} on @mesh over ["dp"] dim 0 : tensor<4x32xf32> -> tensor<2x32xf32>
  %4 = dist.reduce_scatter sum %3 on @mesh over ["dp"] dim 0 : tensor<4x32xf32> -> tensor<2x32xf32>
  // CHECK: dist.all_to_all %{{.*}} on @mesh over ["tp"] split 1 concat 0 : tensor<2x32xf32> -> tensor<4x16xf32>
  %5 = dist.all_to_all %4 on @mesh over ["tp"] split 1 concat 0 : tensor<2x32xf32> -> tensor<4x16xf32>
  // CHECK: dist.permute %{{.*}} on @mesh over ["tp"] shift -1 {dist.async} : tensor<4x16xf32>
  %6 = dist.permute %5 on @mesh over ["tp"] shift -1 {dist.async} : tensor<4x16xf32>
  // CHECK: dist.send %{{.*}} to 1 channel 2 : tensor<4x16xf32>
  dist.send %6 to 1 channel 2 : tensor<4x16xf32>
  // CHECK: dist.recv from 1 channel 3 : tensor<2xbf16>
  %7 = dist.recv from 1 channel 3 : tensor<2xbf16>
  return
}

// CHECK: module attributes {dist.scripts = {{\[}}[#dist.action<@stage0_forward, 0, slot = 0>], []]}
module attributes {dist.scripts = [[#dist.action<@stage0_forward, 0, slot = 0>], []]} {}
