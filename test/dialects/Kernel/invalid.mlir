// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'kernel.func' op (C1) argument 0 is 'f32'; views are memrefs with static shape and strides and offset 0}}
kernel.func @f(%x: f32) { kernel.program () in () {} }

// -----
// expected-error @+1 {{(C1) argument 0 is 'memref<?xf32>'}}
kernel.func @f(%x: memref<?xf32>) { kernel.program () in () {} }

// -----
// expected-error @+1 {{(C1) has results; a kernel writes its results into views}}
kernel.func @f(%x: memref<4xf32>) -> f32 { kernel.program () in () {} }

// -----
// expected-error @+1 {{(C2) holds 2 programs or skeletons; one kernel is exactly one: make more kernels}}
kernel.func @f(%x: memref<4xf32>) { kernel.program () in () {} kernel.program () in () {} }

// -----
// expected-error @+1 {{(C2) holds an operation that is neither a constant nor a computation}}
kernel.func @f(%x: memref<f32>) {
  // expected-note @+1 {{'kernel.load' belongs into the kernel.program}}
  %0 = kernel.load %x[] : memref<f32>
  kernel.program () in () {}
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  // expected-error @+1 {{(C1) 1 indices but 2 extents; give one extent per index}}
  kernel.program (%i) in (4, 4) {}
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  // expected-error @+1 {{(C1) has extent 0; extents are at least 1}}
  kernel.program (%i) in (0) {}
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{unknown kind 'sum'; one of keep, add}}
    %s = kernel.loop (%c) in (4) -> (sum f32) { }
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{(C2) has 1 results, 1 kinds and yields 0 values; these are one each}}
    %s = kernel.loop (%c) in (4) -> (add f32) { kernel.yield }
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{(C3) result 0 is 'tensor<5xf32>'; what is kept is 'tensor<4xf32>'}}
    %s = kernel.loop (%c) in (4) -> (keep tensor<5xf32>) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.yield %0 : f32
    }
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%i) in (4) {
      // expected-error @+1 {{(C3) keeps a tile inside another loop}}
      %s = kernel.loop (%c) in (4) -> (keep tensor<4xf32>) {
        %0 = kernel.load %x[%c] : memref<4xf32>
        kernel.yield %0 : f32
      }
    }
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{(C4) result 0 is 'f64' but the loop yields 'f32'}}
    %s = kernel.loop (%c) in (4) -> (add f64) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.yield %0 : f32
    }
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{(C4) result 0 is one value per column; that needs a loop of rank 2 directly in a program}}
    %s = kernel.loop (%c) in (4) -> (add tensor<4xf32>) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.yield %0 : f32
    }
  }
}

// -----
kernel.func @f(%x: memref<4xbf16>) {
  kernel.program () in () {
    // expected-error @+1 {{(C5) cannot reduce 'bf16' by add; reduce f32, f64, i32, i64 (i1 with and, or): convert before and after}}
    %s = kernel.loop (%c) in (4) -> (add bf16) {
      %0 = kernel.load %x[%c] : memref<4xbf16>
      kernel.yield %0 : bf16
    }
  }
}

// -----
kernel.func @f(%x: memref<4x4xf32>) {
  kernel.program (%i) in (4) {
    // expected-error @+1 {{(C1) has a map of 1 inputs and 1 results for 1 indices into 'memref<4x4xf32>'}}
    %0 = kernel.load %x[%i] : memref<4x4xf32>
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    %k = kernel.loop (%c) in (4) -> (keep tensor<4xf32>) {
      // expected-error @+1 {{(C3) reads a tile inside the loop that makes it; its points are independent: start another loop}}
      %0 = kernel.load %k[%c] : tensor<4xf32>
      kernel.yield %0 : f32
    }
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    %z = arith.constant dense<0.0> : tensor<4xf32>
    kernel.loop (%c) in (4) {
      // expected-error @+1 {{(C3) reads a tensor that no kernel.loop made; whole tensors enter a kernel as views}}
      %0 = kernel.load %z[%c] : tensor<4xf32>
    }
  }
}

// -----
kernel.func @f(%x: memref<4x4xf32>) {
  %0 = arith.constant 1.0 : f32
  kernel.program (%i) in (4) {
    // expected-error @+1 {{(C1) has a map of 1 inputs and 1 results for 1 indices into 'memref<4x4xf32>'}}
    kernel.store %0, %x[%i] : memref<4x4xf32>
  }
}

// -----
#m = affine_map<(b, i, k) -> (i, k)>
kernel.func @f(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{(C1) extents are [batch, M, N, K], each at least 1}}
  kernel.contract %x, %y extents [4, 4, 4] maps #m, #m : memref<4x4xf32>, memref<4x4xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
  }
}

// -----
#m = affine_map<(b, i, k) -> (i, k)>
kernel.func @f(%x: memref<4x4xf32>, %y: memref<4x4xf16>) {
  // expected-error @+1 {{(C2) multiplies 'f32' by 'f16'; convert one operand in its producer}}
  kernel.contract %x, %y extents [1, 4, 4, 4] maps #m, #m : memref<4x4xf32>, memref<4x4xf16> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
  }
}

// -----
#m = affine_map<(b, i, k) -> (i, k)>
#n = affine_map<(b, i, k) -> (i floordiv 2, k)>
kernel.func @f(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{(C3) input 1 of the map of lhs has no constant stride; copy the operand into a layout that has one}}
  kernel.contract %x, %y extents [1, 4, 4, 4] maps #n, #m : memref<4x4xf32>, memref<4x4xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
  }
}

// -----
#m = affine_map<(b, i, k) -> (i, k)>
kernel.func @f(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{(C4) the epilogue's arguments do not fit}}
  kernel.contract %x, %y extents [1, 4, 4, 4] maps #m, #m : memref<4x4xf32>, memref<4x4xf32> epilogue {
  ^bb0(%acc: f64, %b: index, %i: index, %j: index):
  }
}

// -----
#m = affine_map<(b, i, k) -> (i, k)>
kernel.func @f(%x: memref<4x4xbf16>, %y: memref<4x4xbf16>) {
  // expected-error @+1 {{(C5) tf32 is a way to multiply f32, not 'bf16'}}
  kernel.contract %x, %y extents [1, 4, 4, 4] maps #m, #m {math = #kernel.math<tf32>} : memref<4x4xbf16>, memref<4x4xbf16> epilogue {
  ^bb0(%acc: f32, %b: index, %i: index, %j: index):
  }
}

// -----
kernel.func @f(%x: memref<2x3x8x8xf32>, %w: memref<4x3x3x3xf32>) {
  // expected-error @+1 {{(C2) input [2, 3, 8, 8], filter [4, 3, 3, 3] and output [2, 4, 5, 5] are not those of one convolution}}
  kernel.convolution forward %x, %w result [2, 4, 5, 5] strides [2, 2] pads [1, 1], [1, 1] dilations [1, 1] groups 1
      : memref<2x3x8x8xf32>, memref<4x3x3x3xf32> epilogue {
  ^bb0(%acc: f32, %n: index, %o: index, %i: index, %j: index):
  }
}

// -----
kernel.func @f(%x: memref<2x3x8x8xf32>, %w: memref<4x3x3x3xf32>) {
  // expected-error @+1 {{(C1) has a list of 1 entries for 2 spatial dimensions}}
  kernel.convolution forward %x, %w result [2, 4, 4, 4] strides [2] pads [1, 1], [1, 1] dilations [1, 1] groups 1
      : memref<2x3x8x8xf32>, memref<4x3x3x3xf32> epilogue {
  ^bb0(%acc: f32, %n: index, %o: index, %i: index, %j: index):
  }
}

// -----
#i = affine_map<(b, h, s, d) -> (b, h, s, d)>
kernel.func @f(%q: memref<1x3x4x8xf32>, %k: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{(C1) extents are [B, H, K, S, T, D, E], each at least 1, H a multiple of K}}
  kernel.attention %q, %k, %k extents [1, 3, 2, 4, 4, 8, 8] maps #i, #i, #i scale 1.0
      : memref<1x3x4x8xf32>, memref<1x2x4x8xf32>, memref<1x2x4x8xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
  }
}

// -----
kernel.func @f(%x: memref<4x4xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{(C6) reduces to a scalar and to columns at once; make two loops}}
    %a, %b = kernel.loop (%i, %j) in (4, 4) -> (add f32, add tensor<4xf32>) {
      %0 = kernel.load %x[%i, %j] : memref<4x4xf32>
      kernel.yield %0, %0 : f32, f32
    }
  }
}

// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C1) 'g' is not a kernel.func of this module}}
  %0 = kernel.launch @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// expected-note @+1 {{the kernel is '(memref<4xf32>) -> ()'; launch it with one tensor per view, inputs first}}
kernel.func @g(%x: memref<4xf32>) { kernel.program () in () {} }
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C2) inputs and outputs do not fit the kernel's views}}
  %0 = kernel.launch @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
kernel.func @g(%x: memref<4xf32>, %y: memref<4xf32>) { kernel.program () in () {} }
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C3) inplace pair (0, 1) does not name an input and an output of one type}}
  %0 = kernel.launch @g(%x) {inplace = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
#i = affine_map<(b, h, s, d) -> (b, h, s, d)>
#o = affine_map<(b, h, s, d) -> (b, h, s floordiv 2, d)>
kernel.func @f(%q: memref<1x2x4x8xf32>, %k: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{(C2) input 2 of the map of k has no constant stride}}
  kernel.attention %q, %k, %k extents [1, 2, 2, 4, 4, 8, 8] maps #i, #o, #i scale 1.0
      : memref<1x2x4x8xf32>, memref<1x2x4x8xf32>, memref<1x2x4x8xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
  }
}

// -----
#i = affine_map<(b, h, s, d) -> (b, h, s, d)>
kernel.func @f(%q: memref<1x2x4x8xf32>, %k: memref<1x2x4x8xbf16>) {
  // expected-error @+1 {{(C3) q, k and v differ in element type; convert in their producers}}
  kernel.attention %q, %k, %k extents [1, 2, 2, 4, 4, 8, 8] maps #i, #i, #i scale 1.0
      : memref<1x2x4x8xf32>, memref<1x2x4x8xbf16>, memref<1x2x4x8xbf16> epilogue {
  ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
  }
}

// -----
#i = affine_map<(b, h, s, d) -> (b, h, s, d)>
kernel.func @f(%q: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{(C4) has a bias without a map or a map without a bias; give both}}
  kernel.attention %q, %q, %q extents [1, 2, 2, 4, 4, 8, 8] maps #i, #i, #i bias_map #i scale 1.0
      : memref<1x2x4x8xf32>, memref<1x2x4x8xf32>, memref<1x2x4x8xf32> epilogue {
  ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
  }
}

// -----
kernel.func @f(%x: memref<2x3x8x8xf32>, %w: memref<4x3x3x3xf32>) {
  // expected-error @+1 {{(C3) the epilogue's arguments do not fit}}
  kernel.convolution forward %x, %w result [2, 4, 4, 4] strides [2, 2] pads [1, 1], [1, 1] dilations [1, 1] groups 1
      : memref<2x3x8x8xf32>, memref<4x3x3x3xf32> epilogue {
  ^bb0(%acc: f32, %n: index, %o: index, %i: index):
  }
}

// -----
kernel.func @f(%x: memref<2x3x8x8xf32>, %w: memref<4x3x3x3xf16>) {
  // expected-error @+1 {{(C4) multiplies different element types; convert one operand in its producer}}
  kernel.convolution forward %x, %w result [2, 4, 4, 4] strides [2, 2] pads [1, 1], [1, 1] dilations [1, 1] groups 1
      : memref<2x3x8x8xf32>, memref<4x3x3x3xf16> epilogue {
  ^bb0(%acc: f32, %n: index, %o: index, %i: index, %j: index):
  }
}

// -----
kernel.func @f(%x: memref<4xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{(C2) yields 'i32' from elements of type 'f32'; convert by arith after the load}}
    %0 = "kernel.load"(%x) {map = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 1, 0, 0, 0>} : (memref<4xf32>) -> i32
  }
}
