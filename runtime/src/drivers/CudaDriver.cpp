//===- CudaDriver.cpp - Plans on an NVIDIA GPU, or on its emulation -------===//
//
// Memory: one allocation per arena; pinned and host arenas are pinned host memory, which kernels
// and copies reach under the same address. Uploads and downloads go through a stream of their own
// and are waited for. Kernels come from the plan as cubins (exact architecture), PTX (newer
// devices) or, on the emulated driver, simt images.
//
//===----------------------------------------------------------------------===//
#include "drivers/CudaProgram.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace gpucc::rt;

// ------------------------------------------------------------------------------------------ device

Status CudaDevice::open(const DriverOptions &options, std::unique_ptr<CudaDevice> &result) {
  auto made = std::make_unique<CudaDevice>();
  GPUCC_RT_TRY(CudaLibrary::open(made->library));
  const CudaLibrary &cuda = *made->library;
  int count = 0;
  GPUCC_RT_TRY(cuda.check(cuda.fn.cuDeviceGetCount(&count), "cuDeviceGetCount"));
  if (options.device < 0 || options.device >= count)
    return GPUCC_RT_FAIL(Code::invalidArgument, "device ", options.device, ": this machine has ",
                         count, " CUDA devices");
  made->ordinal = options.device;
  GPUCC_RT_TRY(cuda.check(cuda.fn.cuDeviceGet(&made->device, options.device), "cuDeviceGet"));
  char name[256] = {};
  cuda.fn.cuDeviceGetName(name, sizeof(name), made->device);
  made->name = name;
  int major = 0, minor = 0;
  GPUCC_RT_TRY(
      cuda.check(cuda.fn.cuDeviceGetAttribute(&major, cuda::attributeComputeMajor, made->device),
                 "cuDeviceGetAttribute"));
  GPUCC_RT_TRY(
      cuda.check(cuda.fn.cuDeviceGetAttribute(&minor, cuda::attributeComputeMinor, made->device),
                 "cuDeviceGetAttribute"));
  made->capability = major * 10 + minor;
  GPUCC_RT_TRY(cuda.check(cuda.fn.cuDevicePrimaryCtxRetain(&made->context, made->device),
                          "cuDevicePrimaryCtxRetain"));
  result = std::move(made);
  return {};
}

CudaDevice::~CudaDevice() {
  if (!context || enter())
    return;
  for (auto [key, module] : modules)
    library->fn.cuModuleUnload(module);
  library->fn.cuDevicePrimaryCtxRelease(device);
}

Status CudaDevice::enter() const {
  return library->check(library->fn.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

std::string CudaDevice::describe() const {
  return library->emulated() ? "simt (" + name + ", emulated by " + library->file() + ")"
                             : "sm_" + std::to_string(capability) + " (" + name + ")";
}

bool CudaDevice::runs(const std::string &arch, plan::BlobKind kind) const {
  if (library->emulated())
    return kind == plan::BlobKind::simt_image;
  const size_t underscore = arch.find('_');
  if (underscore == std::string::npos)
    return false;
  const int code = std::atoi(arch.c_str() + underscore + 1);
  const bool exact = arch.back() == 'a'; // features of one architecture only
  if (kind == plan::BlobKind::cubin)
    return exact ? code == capability : code / 10 == capability / 10 && code <= capability;
  return kind == plan::BlobKind::ptx && (exact ? code == capability : code <= capability);
}

Status CudaDevice::find(const PlanImage &plan, const plan::Kernel &kernel,
                        const plan::KernelVariant *&variant, cuda::Function &function) {
  const plan::Plan &index = plan.index();
  std::string has;
  variant = nullptr;
  if (kernel.variants())
    for (const plan::KernelVariant *candidate : *kernel.variants()) {
      const plan::Blob &blob = *index.blobs()->Get(candidate->blob());
      const std::string arch = blob.arch() ? blob.arch()->str() : "";
      has += (has.empty() ? "" : ", ") + arch;
      if (!runs(arch, blob.kind()))
        continue;
      // Machine code before PTX; the newest architecture of each.
      const auto rank = [&](const plan::KernelVariant &v) {
        const plan::Blob &b = *index.blobs()->Get(v.blob());
        return std::make_pair(b.kind() != plan::BlobKind::ptx, b.arch() ? b.arch()->str() : "");
      };
      if (!variant || rank(*variant) < rank(*candidate))
        variant = candidate;
    }
  if (!variant)
    return GPUCC_RT_FAIL(Code::unsupported, "kernel '", kernel.name()->c_str(), "' has code for ",
                         has.empty() ? "nothing" : has, ", this device is ", describe(),
                         "; recompile with --target cuda:",
                         library->emulated() ? "simt" : "sm_" + std::to_string(capability));
  if (!variant->grid() || !variant->block())
    return GPUCC_RT_FAIL(Code::invalidPlan, "kernel '", kernel.name()->c_str(),
                         "' has no grid and block for ", describe());
  cuda::Module &module = modules[{&plan, variant->blob()}];
  if (!module) {
    GPUCC_RT_TRY(plan.checkBlob(variant->blob()));
    // PTX is text and must end with a zero; blobs need not.
    const std::string image(plan.blobData(variant->blob()), plan.blobSize(variant->blob()));
    GPUCC_RT_TRY(
        library->check(library->fn.cuModuleLoadData(&module, image.c_str()), "cuModuleLoadData"));
  }
  GPUCC_RT_TRY(
      library->check(library->fn.cuModuleGetFunction(&function, module, variant->symbol()->c_str()),
                     "cuModuleGetFunction"));
  constexpr uint32_t sharedWithoutAsking = 48 << 10;
  if (variant->shared_bytes() > sharedWithoutAsking)
    GPUCC_RT_TRY(
        library->check(library->fn.cuFuncSetAttribute(function, cuda::functionMaxDynamicShared,
                                                      static_cast<int>(variant->shared_bytes())),
                       "cuFuncSetAttribute"));
  return {};
}

// ------------------------------------------------------------------------------------------ driver

namespace {
class CudaDriver : public Driver {
public:
  static Status create(const DriverOptions &options, std::unique_ptr<Driver> &result) {
    auto made = std::make_unique<CudaDriver>();
    made->noGraphs = options.noGraphs;
    GPUCC_RT_TRY(CudaDevice::open(options, made->device));
    GPUCC_RT_TRY(made->device->enter());
    GPUCC_RT_TRY(made->check(made->fn().cuStreamCreate(&made->copyStream, cuda::streamNonBlocking),
                             "cuStreamCreate"));
    result = std::move(made);
    return {};
  }

  ~CudaDriver() override {
    if (!device || device->enter())
      return;
    if (copyStream)
      fn().cuStreamDestroy(copyStream);
    for (const Arena &arena : arenas)
      if (arena.host)
        fn().cuMemFreeHost(arena.address);
      else
        fn().cuMemFree(reinterpret_cast<cuda::DevicePointer>(arena.address));
  }

  const char *name() const override { return "cuda"; }

  Status check(const PlanImage &plan) override {
    const plan::Needs &needs = *plan.index().needs();
    if (needs.target() != plan::Target::cuda)
      return GPUCC_RT_FAIL(Code::invalidArgument, plan.name(), ": the plan is for target ",
                           plan::EnumNameTarget(needs.target()),
                           ", the cuda driver runs cuda plans; use the host driver or recompile "
                           "with --target cuda");
    std::string has;
    bool fits = !needs.architectures() || needs.architectures()->size() == 0;
    if (needs.architectures())
      for (const auto *architecture : *needs.architectures()) {
        const std::string arch = architecture->str();
        has += (has.empty() ? "" : " and ") + arch;
        fits |= arch == "simt"                   ? device->cuda().emulated()
                : arch.rfind("compute_", 0) == 0 ? device->runs(arch, plan::BlobKind::ptx)
                                                 : device->runs(arch, plan::BlobKind::cubin);
      }
    if (!fits)
      return GPUCC_RT_FAIL(Code::unsupported, plan.name(), ": the plan has code for ", has,
                           ", this device is ", device->describe(),
                           "; recompile with that architecture in --target");
    return {};
  }

  Status allocate(const plan::Arena &arena, char **address) override {
    GPUCC_RT_TRY(device->enter());
    const size_t bytes = std::max<uint64_t>(arena.size(), 1);
    const bool host = arena.space() != plan::Space::device;
    Status status;
    if (host) {
      void *memory = nullptr;
      status =
          check(fn().cuMemHostAlloc(&memory, bytes, cuda::hostAllocPortable), "cuMemHostAlloc");
      *address = static_cast<char *>(memory);
    } else {
      cuda::DevicePointer memory = 0;
      status = check(fn().cuMemAlloc(&memory, bytes), "cuMemAlloc");
      *address = reinterpret_cast<char *>(memory);
    }
    if (status)
      return std::move(status).prefixed(
          concat("arena '", arena.name()->c_str(), "' of ", arena.size(), " bytes"));
    arenas.push_back({*address, bytes, host});
    if (host) {
      std::memset(*address, 0, bytes);
      return {};
    }
    GPUCC_RT_TRY(check(
        fn().cuMemsetD8Async(reinterpret_cast<cuda::DevicePointer>(*address), 0, bytes, copyStream),
        "cuMemsetD8Async"));
    return check(fn().cuStreamSynchronize(copyStream), "cuStreamSynchronize");
  }

  Status upload(char *destination, const void *source, uint64_t bytes) override {
    return transfer(destination, source, bytes);
  }
  Status download(void *destination, const char *source, uint64_t bytes) override {
    return transfer(destination, source, bytes);
  }
  char *hostAddress(char *address) override {
    for (const Arena &arena : arenas)
      if (arena.host && address >= arena.address && address < arena.address + arena.bytes)
        return address;
    return nullptr;
  }
  bool canBind(const void *pointer) const override {
    unsigned type = 0;
    return !device->enter() &&
           fn().cuPointerGetAttribute(&type, cuda::pointerMemoryType,
                                      reinterpret_cast<cuda::DevicePointer>(pointer)) ==
               cuda::success &&
           type == cuda::memoryTypeDevice;
  }

  Status prepare(const ProgramContext &context, std::unique_ptr<Executable> &executable) override {
    auto made = std::make_unique<CudaExecutable>(context, *device, noGraphs);
    GPUCC_RT_TRY(made->prepare());
    executable = std::move(made);
    return {};
  }

private:
  struct Arena {
    char *address;
    size_t bytes;
    bool host;
  };
  const cuda::FunctionTable &fn() const { return device->cuda().fn; }
  Status check(int result, const char *call) const { return device->cuda().check(result, call); }

  Status transfer(void *destination, const void *source, uint64_t bytes) {
    if (!bytes)
      return {};
    GPUCC_RT_TRY(device->enter());
    GPUCC_RT_TRY(
        check(fn().cuMemcpyAsync(reinterpret_cast<cuda::DevicePointer>(destination),
                                 reinterpret_cast<cuda::DevicePointer>(source), bytes, copyStream),
              "cuMemcpyAsync"));
    return check(fn().cuStreamSynchronize(copyStream), "cuStreamSynchronize");
  }

  std::unique_ptr<CudaDevice> device;
  cuda::Stream copyStream = nullptr;
  bool noGraphs = false;
  std::vector<Arena> arenas;
};
} // namespace

Status gpucc::rt::createCudaDriver(const DriverOptions &options, std::unique_ptr<Driver> &driver) {
  return CudaDriver::create(options, driver);
}
