// Carries the precompiled header that all MLIR libraries share (see GpuccLLVM.cmake).
