// RUN: gpucc-opt %s -split-input-file --gpucc-verify-phase-kernel -verify-diagnostics

kernel.func @neg(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.store %0, %y[%c] : memref<4xf32>
    }
  }
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kernel.launch @neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is left after kernels were outlined}}
  // expected-note @below {{gpucc-outline-kernels should have made a kernel of it}}
  %0 = graph.cluster loop (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.unary neg %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is left after kernels were outlined}}
  // expected-note @below {{gpucc-fuse should have put it into a cluster}}
  %0 = graph.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{is launched nowhere}}
// expected-note @below {{gpucc-outline-kernels makes a kernel with its first launch}}
kernel.func @neg(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.store %0, %y[%c] : memref<4xf32>
    }
  }
}

// -----

// It stores into the view that its launch only reads.
// expected-error @below {{writes view 0, which is an input of its launch}}
kernel.func @back(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %y[%c] : memref<4xf32>
      kernel.store %0, %x[%c] : memref<4xf32>
    }
  }
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{launched here; inputs come first and are read only, outputs are written}}
  %0 = kernel.launch @back(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{never writes view 1, which is an output of its launch}}
kernel.func @lazy(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.store %0, %z[%c] : memref<4xf32>
    }
  }
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{launched here}}
  %0:2 = kernel.launch @lazy(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

// The first launch is right; the second one calls the view that is written an input.
// expected-error @below {{writes view 1, which is an input of its launch}}
kernel.func @neg(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (4) {
      %0 = kernel.load %x[%c] : memref<4xf32>
      kernel.store %0, %y[%c] : memref<4xf32>
    }
  }
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kernel.launch @neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{launched here}}
  kernel.launch @neg(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> ()
  return %0 : tensor<4xf32>
}
