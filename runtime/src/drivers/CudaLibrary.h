//===- CudaLibrary.h - libcuda, loaded at run time ------------------------===//
//
// One table of the functions in CudaApi.h. The library is looked for as
//   1. the file named by the environment variable GPUCC_LIBCUDA (a fake driver in tests, or a
//      driver in an unusual place),
//   2. libcuda.so.1 on the loader's path,
//   3. libgpucc_fakecuda.so beside this program or in ../lib: the emulated device, which runs plans
//      that have code for "simt" and refuses all others,
// and its functions by cuGetProcAddress, so that one binary runs with drivers of different age.
// Calls that fail become a Status with the call, its code and the driver's text:
//
//   GPUCC_RT_TRY(cuda->check(cuda->fn.cuMemAlloc(&p, bytes), "cuMemAlloc"));
//   // "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_CUDALIBRARY_H
#define GPUCC_RT_DRIVERS_CUDALIBRARY_H

#include "core/Status.h"
#include "drivers/CudaApi.h"

#include <memory>

namespace gpucc::rt {

class CudaLibrary {
public:
  cuda::FunctionTable fn{};

  /// Loads once per process; later calls return the same table.
  static Status open(std::shared_ptr<CudaLibrary> &library);

  /// Success, or an error that names the call. Out of memory keeps its own code.
  Status check(int result, const char *call) const;

  /// The emulated driver: it runs code of architecture "simt" and nothing else.
  bool emulated() const { return report != nullptr; }
  /// A library of emulation/ beside this program or in ../lib; empty if there is none.
  static std::string emulationFile(const char *name);
  const std::string &file() const { return name; }

private:
  void *library = nullptr;
  std::string name;
  const char *(*report)() = nullptr; ///< of the emulated driver: what went wrong in kernels
};

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_CUDALIBRARY_H
