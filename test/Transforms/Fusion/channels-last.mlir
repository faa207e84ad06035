// RUN: gpucc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(gpucc-prepare-fusion))' | FileCheck %s
// RUN: gpucc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(gpucc-prepare-fusion{target=cuda}))' | FileCheck %s --check-prefix=CUDA

// One transpose in, none out: the sum over the points does not care.
// CUDA-NOT: {channels_last
// CHECK-LABEL: @image
// CHECK: %[[X:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: graph.convolution %[[X]], %arg1 {channels_last, {{.*}} -> tensor<1x8x8x16xf32>
// CHECK: graph.broadcast %arg2 {dims = array<i64: 3>, shape = array<i64: 1, 8, 8, 16>}
// CHECK: graph.unary relu {{.*}} : (tensor<1x8x8x16xf32>)
// CHECK: graph.reshape {{.*}} -> tensor<1x1x8x8x16xf32>
// CHECK: graph.pool max {{.*}} pads_low = array<i64: 0, 0, 0>, {{.*}} window = array<i64: 2, 2, 1>} : {{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK: graph.convolution {{.*}} {channels_last, {{.*}} -> tensor<1x4x4x16xf32>
// CHECK: graph.reduce sum {{.*}} {dims = array<i64: 1, 2>} : (tensor<1x4x4x16xf32>) -> tensor<1x16xf32>
// CHECK-NOT: graph.transpose
func.func @image(%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x3x3xf32>, %b: tensor<16xf32>, %v: tensor<16x16x3x3xf32>) -> tensor<1x16xf32> {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = graph.broadcast %b {shape = array<i64: 1, 16, 8, 8>, dims = array<i64: 1>} : (tensor<16xf32>) -> tensor<1x16x8x8xf32>
  %2 = graph.binary add %0, %1 : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = graph.unary relu %2 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %4 = graph.pool max %3 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, extra_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  %5 = graph.convolution %4, %v {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x4xf32>
  %6 = graph.reduce sum %5 {dims = array<i64: 2, 3>} : (tensor<1x16x4x4xf32>) -> tensor<1x16xf32>
  return %6 : tensor<1x16xf32>
}

// -----
// The model's own transposes are what is wanted; a flattening reader gets channels first again.
// CHECK-LABEL: @sequence
// CHECK: graph.convolution %arg0, %arg1 {channels_last, {{.*}} -> tensor<2x9x4xf32>
// CHECK: graph.transpose {{.*}} {permutation = array<i64: 0, 2, 1>} : (tensor<2x9x4xf32>) -> tensor<2x4x9xf32>
// CHECK: graph.reshape {{.*}} : (tensor<2x4x9xf32>) -> tensor<2x36xf32>
func.func @sequence(%x: tensor<2x9x8xf32>, %w: tensor<4x8x1xf32>) -> (tensor<2x36xf32>, tensor<2x9x4xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x9x8xf32>) -> tensor<2x8x9xf32>
  %1 = graph.convolution %0, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x8x9xf32>, tensor<4x8x1xf32>) -> tensor<2x4x9xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x9xf32>) -> tensor<2x9x4xf32>
  %3 = graph.reshape %1 {shape = array<i64: 2, 36>} : (tensor<2x4x9xf32>) -> tensor<2x36xf32>
  return %3, %2 : tensor<2x36xf32>, tensor<2x9x4xf32>
}

// -----
// Squeeze and excite: a tensor without points has both layouts at once.
// CHECK-LABEL: @squeeze
// CHECK-COUNT-1: graph.transpose
// CHECK: graph.convolution {{.*}}channels_last
// CHECK: graph.reduce sum {{.*}} {dims = array<i64: 1, 2>}
// CHECK: graph.convolution {{.*}}channels_last{{.*}} -> tensor<1x1x1x4xf32>
// CHECK: graph.broadcast {{.*}} shape = array<i64: 1, 6, 6, 4>
// CHECK: graph.binary mul {{.*}} : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>)
// CHECK-COUNT-1: graph.transpose
// CHECK-NOT: graph.transpose
func.func @squeeze(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x1x1xf32>, %v: tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.reduce sum %0 {dims = array<i64: 2, 3>} : (tensor<1x4x6x6xf32>) -> tensor<1x4xf32>
  %2 = graph.reshape %1 {shape = array<i64: 1, 4, 1, 1>} : (tensor<1x4xf32>) -> tensor<1x4x1x1xf32>
  %3 = graph.convolution %2, %v {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x1x1xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %4 = graph.broadcast %3 {shape = array<i64: 1, 4, 6, 6>, dims = array<i64: 0, 1, 2, 3>} : (tensor<1x4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %5 = graph.binary mul %0, %4 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %5 : tensor<1x4x6x6xf32>
}

// -----

// No library has f64, and devices call none here: kernels compute with channels first.
// CHECK-LABEL: @first
// CHECK: %[[X:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 3, 1, 2>}
// CHECK: %[[Y:.*]] = graph.convolution %[[X]], %arg1 {dilations{{.*}} -> tensor<2x4x5x6xf64>
// CHECK: %[[R:.*]] = graph.transpose %[[Y]] {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: return %[[R]]
// CUDA-LABEL: @first
// CUDA: graph.transpose %arg0 {permutation = array<i64: 0, 3, 1, 2>}
// CUDA-NOT: {channels_last
func.func @first(%x: tensor<2x6x7x3xf64>, %w: tensor<4x3x2x2xf64>) -> tensor<2x5x6x4xf64> {
  %y = graph.convolution %x, %w {channels_last, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x6x7x3xf64>, tensor<4x3x2x2xf64>) -> tensor<2x5x6x4xf64>
  return %y : tensor<2x5x6x4xf64>
}

// -----
// An image is made larger with its channels innermost: gathers along both dimensions.
// CHECK-LABEL: @larger
// CHECK: graph.convolution {{.*}}channels_last
// CHECK: graph.gather %{{.*}}, %arg2 {dim = 1 : i64} : (tensor<1x4x4x8xf32>, tensor<8xi64>) -> tensor<1x8x4x8xf32>
// CHECK: graph.gather %{{.*}}, %arg2 {dim = 2 : i64}
// CHECK-NOT: graph.transpose
// CHECK: graph.convolution {{.*}}channels_last
func.func @larger(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>, %i: tensor<8xi64>) -> tensor<1x8x8x8xf32> {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.gather %0, %i {dim = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<8xi64>) -> tensor<1x8x8x4xf32>
  %2 = graph.gather %1, %i {dim = 3 : i64} : (tensor<1x8x8x4xf32>, tensor<8xi64>) -> tensor<1x8x8x8xf32>
  %3 = graph.convolution %2, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %3 : tensor<1x8x8x8xf32>
}

// -----
// Steps as wide as the filter: a product over the channels, and its columns go to their places. A filter that
// overlaps stays a convolution.
// CHECK-LABEL: @spreading
// CHECK: %[[P:.*]] = graph.contract %arg0, %arg1 {{.*}}lhs_contract = array<i64: 1>{{.*}} -> tensor<1x8x10x3x2x2xf32>
// CHECK: %[[T:.*]] = graph.transpose %[[P]] {permutation = array<i64: 0, 1, 4, 2, 5, 3>}
// CHECK: graph.reshape %[[T]] {shape = array<i64: 1, 16, 20, 3>}
// CHECK: graph.convolution_input_grad
func.func @spreading(%x: tensor<1x8x8x10xf32>, %w: tensor<8x3x2x2xf32>) -> (tensor<1x3x16x20xf32>, tensor<1x3x9x11xf32>) {
  %0 = graph.convolution_input_grad %x, %w {input_shape = array<i64: 1, 3, 16, 20>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x10xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x16x20xf32>
  %1 = graph.convolution_input_grad %x, %w {input_shape = array<i64: 1, 3, 9, 11>, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x10xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x9x11xf32>
  return %0, %1 : tensor<1x3x16x20xf32>, tensor<1x3x9x11xf32>
}
