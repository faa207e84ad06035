//===- HostImage.h - Host code of a plan, loaded without touching the disk
//----------------------===//
//
// A host_image blob is a shared library. It is copied into a memfd and opened from /proc/self/fd,
// once per blob; its hash is checked first, since damaged code does not fail, it does something
// else.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_HOSTIMAGE_H
#define GPUCC_RT_DRIVERS_HOSTIMAGE_H

#include "plan/PlanImage.h"

#include <map>

namespace gpucc::rt {

/// The ABI of host kernels: programs [begin, end) of the kernel.
using HostKernel = void (*)(void **arguments, int64_t begin, int64_t end);

class HostImages {
public:
  HostImages() = default;
  HostImages(const HostImages &) = delete;
  HostImages &operator=(const HostImages &) = delete;
  ~HostImages();

  /// The address of `symbol` in blob `id` of `plan`.
  Status lookup(const PlanImage &plan, uint32_t id, const char *symbol, HostKernel &kernel);

private:
  struct Image {
    void *handle = nullptr;
    /// Stays open as long as the handle: the loader takes a library of the same path name, here
    /// /proc/self/fd/N, for the same library.
    int file = -1;
  };
  Status load(const PlanImage &plan, uint32_t id, Image &image);
  std::map<uint32_t, Image> images;
};

/// Can this CPU run code for `level` ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")?
Status checkCpuLevel(const std::string &level);
/// The highest of those levels that this CPU has.
const char *cpuLevel();

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_HOSTIMAGE_H
