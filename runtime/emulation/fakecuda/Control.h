//===- Control.h - How tests steer and question the fake CUDA ----*- C++ -*-===//
//
// Found by dlsym in the loaded library. Options can also come from the environment variable
// GPUCC_FAKECUDA, read at cuInit: "seed=7,devices=2,races=0".
//
//   gpuccFakeCudaSet("seed", 7)          order of streams drawn from this seed; 0 = as issued
//   gpuccFakeCudaSet("devices", 2)       before cuInit
//   gpuccFakeCudaSet("memory", bytes)    per device
//   gpuccFakeCudaSet("races", 0)         kernels without race detection
//   gpuccFakeCudaSet("order", 0)         do not ask that conflicting operations be ordered
//   (Order.h) gpuccFakeCudaSet("copies-early", 1)  cp.async lands when issued, else as late as
//   legal gpuccFakeCudaSet("arch", 80)         compute capability that the devices report, times 10
//   gpuccFakeCudaSet("fail-allocation", n), ("fail-launch", n), ("lose-device", n)
//                                        the n-th such call from now on (0 = next) fails; a lost
//                                        device fails every later launch too
//   gpuccFakeCudaSet("reset", 0)         clears counters, report, injected failures, sticky errors
//   gpuccFakeCudaGet("cuGraphLaunch")    calls of that function since the start or reset
//   gpuccFakeCudaGet("kernels-run")      kernels executed, also inside graphs
//   gpuccFakeCudaGet("bytes-used")       allocated on all devices
//   gpuccFakeCudaReport()                findings of the simt executor and misuse of the API; lives
//                                        until the next call on this thread
//   gpuccFakeCudaEnqueue(stream, key, work, data, destroy)
//                                        the hook of the fake NCCL: puts work(data) into a stream,
//                                        capturable; it returns 0 = done, 1 = not yet, 2 = failed.
//                                        In a graph it runs once per launch. Work with equal keys
//                                        runs in the order it was issued.
//   gpuccFakeCudaDeclare(label, p, bytes, write)
//                                        called by such work: what it touches
//   gpuccFakeCudaProgress()              something another device waits for may have happened
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_FAKECUDA_CONTROL_H
#define GPUCC_RT_EMULATION_FAKECUDA_CONTROL_H

#include "drivers/CudaApi.h"

#define GPUCC_FAKECUDA_EXPORT extern "C" __attribute__((visibility("default")))

GPUCC_FAKECUDA_EXPORT int gpuccFakeCudaSet(const char *option, long long value);
GPUCC_FAKECUDA_EXPORT long long gpuccFakeCudaGet(const char *counter);
GPUCC_FAKECUDA_EXPORT const char *gpuccFakeCudaReport();
GPUCC_FAKECUDA_EXPORT int gpuccFakeCudaEnqueue(gpucc::rt::cuda::Stream stream, const void *key,
                                               int (*work)(void *), void *data,
                                               void (*destroy)(void *));
GPUCC_FAKECUDA_EXPORT void gpuccFakeCudaDeclare(const char *label, const void *p, size_t bytes,
                                                int write);
GPUCC_FAKECUDA_EXPORT void gpuccFakeCudaProgress();

#endif
