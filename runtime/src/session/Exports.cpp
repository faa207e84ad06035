//===- Exports.cpp - Anchors the shared library
//-------------------------------------------------===//
//
// gpucc_rt is the archive gpucc_rt_impl linked whole; CMake wants one source of its own.
//
//===--------------------------------------------------------------------------------------------===//
#include "gpucc_rt/gpucc_rt.h"
