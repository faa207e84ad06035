//===- Context.cpp - Start, devices, memory, options ----------------------===//

#include "Api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace gpucc::rt::fakecuda;

namespace gpucc::rt::cuda {

static int applyOption(const std::string &name, long long value) {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  Options &o = r.options;
  if (name == "seed")
    o.seed = static_cast<uint64_t>(value);
  else if (name == "devices")
    o.devices = static_cast<int>(value);
  else if (name == "memory")
    o.memoryBytes = static_cast<size_t>(value);
  else if (name == "races")
    o.races = value != 0;
  else if (name == "order")
    o.order = value != 0;
  else if (name == "copies-early")
    o.copiesEarly = value != 0;
  else if (name == "arch")
    o.arch = static_cast<int>(value);
  else if (name == "fail-allocation")
    o.failAllocation = value;
  else if (name == "fail-launch")
    o.failLaunch = value;
  else if (name == "lose-device")
    o.loseDevice = value;
  else if (name == "reset") {
    r.counters = {};
    r.report.clear();
    o.failAllocation = o.failLaunch = o.loseDevice = -1;
  } else
    return invalidValue;
  return success;
}

static void readEnvironment() {
  const char *text = getenv("GPUCC_FAKECUDA");
  std::string rest = text ? text : "";
  while (!rest.empty()) {
    std::string item = rest.substr(0, rest.find(','));
    rest.erase(0, item.size() + 1);
    const size_t equals = item.find('=');
    if (equals == std::string::npos ||
        applyOption(item.substr(0, equals), atoll(item.c_str() + equals + 1)))
      fprintf(stderr, "GPUCC_FAKECUDA: '%s' is no option; see emulation/fakecuda/Control.h\n",
              item.c_str());
  }
}

FAKE(cuInit)(unsigned flags) {
  countCall(__func__);
  (void)flags;
  bool first = false;
  {
    std::lock_guard lock(registry().mutex);
    first = !registry().initialized;
    registry().initialized = true;
  }
  if (first)
    readEnvironment();
  return registry().options.devices > 0 ? success : noDevice;
}
FAKE(cuDriverGetVersion)(int *version) {
  *version = 12000;
  return success;
}
FAKE(cuGetErrorName)(int error, const char **text) {
  switch (error) {
  case success:
    *text = "CUDA_SUCCESS";
    break;
  case invalidValue:
    *text = "CUDA_ERROR_INVALID_VALUE";
    break;
  case outOfMemory:
    *text = "CUDA_ERROR_OUT_OF_MEMORY";
    break;
  case notInitialized:
    *text = "CUDA_ERROR_NOT_INITIALIZED";
    break;
  case invalidImage:
    *text = "CUDA_ERROR_INVALID_IMAGE";
    break;
  case invalidContext:
    *text = "CUDA_ERROR_INVALID_CONTEXT";
    break;
  case notFound:
    *text = "CUDA_ERROR_NOT_FOUND";
    break;
  case deviceLost:
    *text = "CUDA_ERROR_DEVICE_UNAVAILABLE";
    break;
  case illegalAddress:
    *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
    break;
  case launchFailed:
    *text = "CUDA_ERROR_LAUNCH_FAILED";
    break;
  case captureUnjoined:
    *text = "CUDA_ERROR_STREAM_CAPTURE_UNJOINED";
    break;
  case captureIsolation:
    *text = "CUDA_ERROR_STREAM_CAPTURE_ISOLATION";
    break;
  default:
    *text = "CUDA_ERROR";
    break;
  }
  return success;
}
FAKE(cuGetErrorString)(int error, const char **text) { return cuGetErrorName(error, text); }

FAKE(cuDeviceGetCount)(int *count) {
  if (!registry().initialized)
    return notInitialized;
  *count = registry().options.devices;
  return success;
}
FAKE(cuDeviceGet)(Device *device, int ordinal) {
  if (ordinal < 0 || ordinal >= registry().options.devices)
    return invalidDevice;
  *device = ordinal;
  return success;
}
FAKE(cuDeviceGetName)(char *name, int size, Device device) {
  snprintf(name, static_cast<size_t>(size), "gpucc simt device %d", device);
  return success;
}
FAKE(cuDeviceGetAttribute)(int *value, int attribute, Device device) {
  (void)device;
  switch (attribute) {
  case attributeComputeMajor:
    *value = registry().options.arch / 10;
    break;
  case attributeComputeMinor:
    *value = registry().options.arch % 10;
    break;
  case attributeMultiprocessors:
    *value = 2;
    break;
  case attributeMaxSharedOptIn:
    *value = 232448;
    break;
  default:
    *value = 0;
    break;
  }
  return success;
}
FAKE(cuDeviceTotalMem)(size_t *bytes, Device device) {
  (void)device;
  *bytes = registry().options.memoryBytes;
  return success;
}
FAKE(cuDevicePrimaryCtxRetain)(Context *context, Device ordinal) {
  *context = reinterpret_cast<Context>(&fakecuda::device(ordinal));
  FakeDevice &d = fakecuda::device(ordinal);
  std::lock_guard lock(d.mutex);
  d.random.seed(registry().options.seed * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(ordinal));
  d.defaultStream.device = &d;
  d.streams.insert(&d.defaultStream);
  return success;
}
FAKE(cuDevicePrimaryCtxRelease)(Device ordinal) {
  FakeDevice &d = fakecuda::device(ordinal);
  std::lock_guard lock(d.mutex);
  d.stickyError = 0; // a context that is made anew is healthy
  return success;
}
FAKE(cuCtxSetCurrent)(Context context) {
  setCurrentDevice(reinterpret_cast<FakeDevice *>(context));
  return success;
}
FAKE(cuCtxGetCurrent)(Context *context) {
  *context = reinterpret_cast<Context>(currentDevice());
  return success;
}
FAKE(cuCtxSynchronize)() {
  ENTER;
  return here->runAll();
}

FAKE(cuMemGetInfo)(size_t *free, size_t *total) {
  ENTER;
  *total = registry().options.memoryBytes;
  *free = *total - here->used;
  return success;
}

static int allocate(FakeDevice &d, void **pointer, size_t bytes, bool host) {
  if (!bytes)
    return invalidValue;
  if (injectedFailure(&Options::failAllocation) ||
      (!host && d.used + bytes > registry().options.memoryBytes))
    return outOfMemory;
  void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!p)
    return outOfMemory;
  memset(p, 0xff, bytes); // NaN patterns: memory is not zero on a device either
  d.allocations[reinterpret_cast<uintptr_t>(p)] = {bytes, host};
  d.memory.add(p, bytes, host ? "pinned memory" : "device memory");
  d.used += host ? 0 : bytes;
  *pointer = p;
  return success;
}
static int release(FakeDevice &d, void *p, const char *function) {
  auto it = d.allocations.find(reinterpret_cast<uintptr_t>(p));
  if (it == d.allocations.end())
    return misuse(invalidValue, function, "the pointer was not allocated on this device");
  d.runAll();
  d.used -= it->second.host ? 0 : it->second.bytes;
  d.allocations.erase(it);
  d.memory.remove(p);
  free(p);
  return success;
}
FAKE(cuMemAlloc)(DevicePointer *pointer, size_t bytes) {
  ENTER;
  void *p = nullptr;
  const int result = allocate(*here, &p, bytes, /*host=*/false);
  *pointer = reinterpret_cast<DevicePointer>(p);
  return result;
}
FAKE(cuMemFree)(DevicePointer pointer) {
  ENTER;
  return release(*here, reinterpret_cast<void *>(pointer), __func__);
}
FAKE(cuMemHostAlloc)(void **pointer, size_t bytes, unsigned flags) {
  ENTER;
  (void)flags;
  return allocate(*here, pointer, bytes, /*host=*/true);
}
FAKE(cuMemFreeHost)(void *pointer) {
  ENTER;
  return release(*here, pointer, __func__);
}
FAKE(cuPointerGetAttribute)(void *data, int attribute, DevicePointer pointer) {
  ENTER;
  auto it = here->allocations.upper_bound(pointer);
  if (it == here->allocations.begin())
    return invalidValue;
  --it;
  if (pointer >= it->first + it->second.bytes || attribute != pointerMemoryType)
    return invalidValue;
  *static_cast<unsigned *>(data) = it->second.host ? memoryTypeHost : memoryTypeDevice;
  return success;
}

} // namespace gpucc::rt::cuda

using namespace gpucc::rt;

/// Real drivers hand out internal tables here; there are none.
extern "C" __attribute__((visibility("default"))) int cuGetExportTable(const void **table,
                                                                       const void *id) {
  (void)id;
  if (table)
    *table = nullptr;
  return cuda::notFound;
}

extern "C" __attribute__((visibility("default"))) int
cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
  (void)version;
  (void)flags;
  static void *const self = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&cuGetProcAddress_v2), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  *function = dlsym(self, name);
  if (status)
    *status = *function ? 0 : 1;
  return *function ? cuda::success : cuda::notFound;
}

int gpuccFakeCudaSet(const char *option, long long value) {
  const int result = cuda::applyOption(option, value);
  const std::string name = option;
  if (name == "seed" || name == "reset")
    for (int i = 0; i < registry().options.devices; ++i) {
      FakeDevice &d = device(i);
      std::lock_guard lock(d.mutex);
      if (name == "seed")
        d.random.seed(static_cast<uint64_t>(value) * 0x9e3779b97f4a7c15ull +
                      static_cast<uint64_t>(i));
      else
        d.stickyError = 0;
    }
  return result;
}

long long gpuccFakeCudaGet(const char *counter) {
  const std::string name = counter;
  if (name == "bytes-used") {
    long long total = 0;
    for (int i = 0; i < registry().options.devices; ++i) {
      std::lock_guard lock(device(i).mutex);
      total += static_cast<long long>(device(i).used);
    }
    return total;
  }
  std::lock_guard lock(registry().mutex);
  return name == "kernels-run" ? registry().counters.kernelsRun : registry().counters.calls[name];
}

const char *gpuccFakeCudaReport() {
  static thread_local std::string copy;
  std::lock_guard lock(registry().mutex);
  copy = registry().report;
  return copy.c_str();
}

void gpuccFakeCudaProgress() { announceProgress(); }
