// RUN: gpucc-opt %s --gpucc-bucket-collectives="bucket-bytes=48" | FileCheck %s

dist.mesh @mesh <["dp" = 2, "tp" = 2]>

// Four and six elements fit into 48 bytes; the third all-reduce does not, the fourth has other axes.
// What uses the first result waits behind the bucket.
// CHECK-LABEL: func.func @buckets(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<4xf32>, %[[B:[^:]*]]: tensor<2x3xf32>, %[[C:[^:]*]]: tensor<5xf32>
// CHECK:         %[[F:.*]] = graph.reshape %[[B]] {{.*}} -> tensor<6xf32>
// CHECK:         %[[P:.*]] = graph.concat %[[A]], %[[F]] {dim = 0 : i64}
// CHECK:         %[[R:.*]] = dist.all_reduce sum %[[P]] on @mesh over ["dp"] : tensor<10xf32>
// CHECK:         %[[S:.*]] = graph.slice %[[R]]{{.*}}sizes = array<i64: 4>, start = array<i64: 0>
// CHECK:         %[[T:.*]] = graph.slice %[[R]]{{.*}}sizes = array<i64: 6>, start = array<i64: 4>
// CHECK:         graph.unary exp %[[S]]
// CHECK:         dist.all_reduce sum %[[C]] on @mesh over ["dp"] : tensor<5xf32>
// CHECK:         dist.all_reduce sum %[[C]] on @mesh over ["tp"] : tensor<5xf32>
func.func @buckets(%a: tensor<4xf32>, %b: tensor<2x3xf32>, %c: tensor<5xf32>)
    -> (tensor<4xf32>, tensor<2x3xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = dist.all_reduce sum %a on @mesh over ["dp"] : tensor<4xf32>
  %1 = graph.unary exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = dist.all_reduce sum %b on @mesh over ["dp"] : tensor<2x3xf32>
  %3 = dist.all_reduce sum %c on @mesh over ["dp"] : tensor<5xf32>
  %4 = dist.all_reduce sum %c on @mesh over ["tp"] : tensor<5xf32>
  return %1, %2, %3, %4 : tensor<4xf32>, tensor<2x3xf32>, tensor<5xf32>, tensor<5xf32>
}

// A reduction that needs the other's result cannot share a bucket with it.
// CHECK-LABEL: func.func @dependent(
// CHECK-COUNT-2: dist.all_reduce sum %{{.*}} : tensor<4xf32>
func.func @dependent(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dist.all_reduce sum %a on @mesh over ["dp"] : tensor<4xf32>
  %1 = graph.unary exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = dist.all_reduce sum %1 on @mesh over ["dp"] : tensor<4xf32>
  return %2 : tensor<4xf32>
}
