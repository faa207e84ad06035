//===- CudaLibrary.cpp - Find libcuda and its functions -------------------===//
#include "drivers/CudaLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>

using namespace gpucc::rt;

/// cuGetProcAddress of CUDA 12 (`_v2`) and of 11.3.
using GetAddress2 = int (*)(const char *, void **, int, uint64_t, int *);
using GetAddress1 = int (*)(const char *, void **, int, uint64_t);
static constexpr int apiVersion = 12000;

std::string CudaLibrary::emulationFile(const char *file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  Dl_info info{};
  dladdr(reinterpret_cast<void *>(&CudaLibrary::emulationFile), &info);
  for (const fs::path &from : {fs::path(info.dli_fname ? info.dli_fname : ""),
                               fs::read_symlink("/proc/self/exe", ignored)})
    for (const char *folder : {".", "../lib"}) {
      const fs::path candidate = from.parent_path() / folder / file;
      if (fs::exists(candidate, ignored))
        return candidate.string();
    }
  return {};
}

Status CudaLibrary::open(std::shared_ptr<CudaLibrary> &result) {
  static std::mutex mutex;
  static std::shared_ptr<CudaLibrary> loaded;
  std::lock_guard lock(mutex);
  if (loaded) {
    result = loaded;
    return {};
  }
  auto made = std::make_shared<CudaLibrary>();
  const char *file = std::getenv("GPUCC_LIBCUDA");
  made->name = file && *file ? file : "libcuda.so.1";
  // Never closed: drivers keep threads and state of their own.
  made->library = dlopen(made->name.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *text = made->library ? nullptr : dlerror();
  const std::string problem = text ? text : "";
  if (!made->library && !(file && *file)) {
    const std::string emulation = emulationFile("libgpucc_fakecuda.so");
    if (!emulation.empty() && (made->library = dlopen(emulation.c_str(), RTLD_NOW | RTLD_LOCAL)))
      made->name = emulation;
  }
  if (!made->library)
    return GPUCC_RT_FAIL(Code::unsupported, "cannot load the CUDA driver '", made->name,
                         "': ", problem,
                         "; install NVIDIA's driver, or run the plan's host version (gpucc compile "
                         "--target host), or set GPUCC_LIBCUDA to an emulated driver");
  auto get2 = reinterpret_cast<GetAddress2>(dlsym(made->library, "cuGetProcAddress_v2"));
  auto get1 = reinterpret_cast<GetAddress1>(dlsym(made->library, "cuGetProcAddress"));
  if (!get2 && !get1)
    return GPUCC_RT_FAIL(Code::unsupported, made->name,
                         " has no cuGetProcAddress; a driver of CUDA 12 or newer is needed");
  std::string missing;
  auto find = [&](const char *symbol) {
    void *address = nullptr;
    int status = 0;
    int error = get2 ? get2(symbol, &address, apiVersion, 0, &status)
                     : get1(symbol, &address, apiVersion, 0);
    if (error || !address)
      missing += std::string(" ") + symbol;
    return address;
  };
#define GPUCC_CUDA_FIND(NAME, ...)                                                                 \
  made->fn.NAME = reinterpret_cast<decltype(made->fn.NAME)>(find(#NAME));
  GPUCC_CUDA_FUNCTIONS(GPUCC_CUDA_FIND)
#undef GPUCC_CUDA_FIND
  if (!missing.empty())
    return GPUCC_RT_FAIL(Code::unsupported, made->name, " lacks", missing,
                         "; a driver of CUDA 12 or newer is needed");
  made->report = reinterpret_cast<const char *(*)()>(dlsym(made->library, "gpuccFakeCudaReport"));
  GPUCC_RT_TRY(made->check(made->fn.cuInit(0), "cuInit"));
  loaded = made;
  result = made;
  return {};
}

Status CudaLibrary::check(int result, const char *call) const {
  if (result == cuda::success)
    return {};
  const char *error = nullptr, *text = nullptr;
  fn.cuGetErrorName(result, &error);
  fn.cuGetErrorString(result, &text);
  const Code code = result == cuda::outOfMemory ? Code::outOfMemory : Code::device;
  std::string details = report ? report() : "";
  if (!details.empty())
    details = "\n" + details;
  return GPUCC_RT_FAIL(code, call, ": ", error ? error : "CUDA error", " (", result, ")",
                       text ? ": " : "", text ? text : "", details);
}
