//===- HostImage.cpp - Host code of a plan
//------------------------------------------------------===//
#include "drivers/HostImage.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace gpucc::rt;

HostImages::~HostImages() {
  for (auto &[id, image] : images) {
    dlclose(image.handle);
    close(image.file);
  }
}

Status HostImages::load(const PlanImage &plan, uint32_t id, Image &image) {
  GPUCC_RT_TRY(plan.checkBlob(id));
  std::string name = concat("gpucc-blob-", id);
  int file = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (file < 0)
    return GPUCC_RT_FAIL(Code::device, "memfd_create: ", std::strerror(errno));
  const char *data = plan.blobData(id);
  for (uint64_t left = plan.blobSize(id); left > 0;) {
    ssize_t n = write(file, data, left);
    if (n <= 0) {
      close(file);
      return GPUCC_RT_FAIL(Code::outOfMemory, "cannot copy host code: ", std::strerror(errno));
    }
    data += n, left -= static_cast<uint64_t>(n);
  }
  image.handle = dlopen(concat("/proc/self/fd/", file).c_str(), RTLD_NOW | RTLD_LOCAL);
  image.file = file;
  const char *problem = image.handle ? nullptr : dlerror();
  if (!image.handle) {
    close(file);
    return GPUCC_RT_FAIL(Code::invalidPlan, plan.name(), ": host code (blob ", id,
                         ") cannot be loaded: ", problem);
  }
  return {};
}

Status HostImages::lookup(const PlanImage &plan, uint32_t id, const char *symbol,
                          HostKernel &kernel) {
  auto found = images.find(id);
  if (found == images.end()) {
    Image image;
    GPUCC_RT_TRY(load(plan, id, image));
    found = images.emplace(id, image).first;
  }
  kernel = reinterpret_cast<HostKernel>(dlsym(found->second.handle, symbol));
  if (!kernel)
    return GPUCC_RT_FAIL(Code::invalidPlan, plan.name(), ": host code (blob ", id,
                         ") has no kernel '", symbol, "'");
  return {};
}

const char *gpucc::rt::cpuLevel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // All of a level's features, as the compiler uses them: v3 is also f16c, lzcnt and movbe.
  return __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
         : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
         : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                               : "x86-64";
#else
  return "unknown";
#endif
}

Status gpucc::rt::checkCpuLevel(const std::string &level) {
  static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  int needed = -1, present = -1;
  for (int i = 0; i < 4; ++i) {
    if (level == levels[i])
      needed = i;
    if (std::strcmp(cpuLevel(), levels[i]) == 0)
      present = i;
  }
  if (needed < 0)
    return GPUCC_RT_FAIL(Code::unsupported, "the plan's host code needs CPU level '", level,
                         "', this runtime knows x86-64, x86-64-v2, -v3 and -v4");
  if (needed > present)
    return GPUCC_RT_FAIL(Code::unsupported, "the plan's host code needs CPU level ", level,
                         ", this CPU has ", cpuLevel(),
                         "; recompile the model with --target host:", cpuLevel());
  return {};
}
