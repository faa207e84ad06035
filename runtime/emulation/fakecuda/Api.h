//===- Api.h - How the exported functions are written ------------*- C++ -*-===//
//
// Every function of CudaApi.h is defined as FAKE(name)(arguments); it is exported under that name
// and found by cuGetProcAddress. ENTER counts the call and takes the lock of the calling thread's
// device.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_FAKECUDA_API_H
#define GPUCC_RT_EMULATION_FAKECUDA_API_H

#include "Control.h"
#include "Objects.h"

#define FAKE(NAME) extern "C" __attribute__((visibility("default"))) int NAME

namespace gpucc::rt::cuda {
// The declarations, so that a definition that differs from CudaApi.h does not compile.
#define GPUCC_FAKE_DECLARE(NAME, ...) FAKE(NAME)(__VA_ARGS__);
GPUCC_CUDA_FUNCTIONS(GPUCC_FAKE_DECLARE)
#undef GPUCC_FAKE_DECLARE
} // namespace gpucc::rt::cuda

/// Misuse that a real driver answers with the same code, but here with a sentence.
inline int misuse(int code, const char *function, const std::string &why) {
  gpucc::rt::fakecuda::addReport(std::string(function) + ": " + why);
  return code;
}

#define ENTER                                                                                      \
  ::gpucc::rt::fakecuda::countCall(__func__);                                                      \
  ::gpucc::rt::fakecuda::FakeDevice *here = ::gpucc::rt::fakecuda::currentDevice();                \
  if (!here)                                                                                       \
    return misuse(::gpucc::rt::cuda::invalidContext, __func__,                                     \
                  "no current context on this thread; call cuCtxSetCurrent");                      \
  std::lock_guard<std::recursive_mutex> lock(here->mutex)

#endif
