// RUN: gpucc-opt %s -split-input-file -verify-diagnostics --gpucc-kernel-to-threads

// expected-error @+1 {{schedule: 8 threads cannot share the 1024 residues of its rows; take a power of two from 64 to 1024}}
kernel.func @rows(%x: memref<12x1000xf32>, %y: memref<12xf32>) attributes {schedule = #kernel.schedule<threads = 8>} {
  kernel.program (%r) in (12) {
    %s = kernel.loop (%c) in (1000) -> (add f32) {
      %0 = kernel.load %x[%r, %c] : memref<12x1000xf32>
      kernel.yield %0 : f32
    }
  }
}

// -----
kernel.func @tile(%x: memref<200x200xf32>, %y: memref<200x200xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{result 0 needs 160800 bytes of shared memory and there are 49152; make the tile smaller or compute it again where it is read}}
    %t = kernel.loop (%i, %j) in (200, 200) -> (keep tensor<200x200xf32>) {
      %0 = kernel.load %x[%i, %j] : memref<200x200xf32>
      kernel.yield %0 : f32
    }
    kernel.loop (%j, %i) in (200, 200) {
      %0 = kernel.load %t[%i, %j] : tensor<200x200xf32>
      kernel.store %0, %y[%j, %i] : memref<200x200xf32>
    }
  }
}

// -----
kernel.func @columns(%x: memref<100x3000xf32>, %y: memref<3000xf32>) {
  kernel.program () in () {
    // expected-error @+1 {{reduces 3000 columns side by side, which 256 threads cannot share; tile them: up to 512 columns}}
    %s = kernel.loop (%i, %c) in (100, 3000) -> (add tensor<3000xf32>) {
      %0 = kernel.load %x[%i, %c] : memref<100x3000xf32>
      kernel.yield %0 : f32
    }
  }
}
