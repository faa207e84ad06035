//===- Kernels.cpp - machine code for the kernels of a module -------------===//
#include "Kernels.h"

#include "dialects/Kernel/Kernel.h"
#include "gpucc/Target/Cuda/Cubin.h"
#include "gpucc/Target/Cuda/Emit.h"
#include "gpucc/Target/Cuda/Toolchain.h"
#include "gpucc/Target/Host/Host.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <atomic>
#include <thread>

using namespace mlir;
using namespace gpucc;

std::string gpucc::kernelCacheFolder(const CompileOptions &options) {
  if (!options.cacheFolder.empty())
    return options.cacheFolder;
  SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder))
    llvm::sys::path::system_temp_directory(true, folder);
  llvm::sys::path::append(folder, "gpucc", "kernels");
  return folder.str().str();
}

static LogicalResult compileHost(ModuleOp module, const CompileOptions &options, KernelCode &code) {
  host::HostOptions hostOptions;
  hostOptions.cpuLevel =
      options.target.cpuLevel.empty() ? host::getNativeCpuLevel() : options.target.cpuLevel;
  host::HostImage image;
  if (failed(host::compileHostImage(module, hostOptions, image)))
    return failure();
  code.blobs.push_back({CodeBlob::Kind::HostImage, hostOptions.cpuLevel, std::move(image.bytes)});
  for (const host::HostKernelInfo &info : image.kernels) {
    KernelVariantCode variant;
    variant.blob = code.blobs.size() - 1;
    variant.symbol = info.symbol;
    variant.programs = info.programs;
    variant.grain = info.grain;
    code.kernels.push_back({info.symbol, "", {variant}});
  }
  return success();
}

namespace {

/// Compiles the CUDA text of all kernels for all architectures.
class CudaCompiler {
public:
  CudaCompiler(ModuleOp module, const CompileOptions &options, KernelCode &code,
               std::vector<KernelReport> &reports)
      : module(module), options(options), code(code), reports(reports),
        cache(kernelCacheFolder(options)) {}

  LogicalResult run() {
    if (failed(openTools()) || failed(emit()))
      return failure();
    compile();
    return collect();
  }

private:
  /// One text for one architecture.
  struct Job {
    size_t kernel;
    std::string arch;
    cuda::Code code;
  };

  LogicalResult openTools() {
    std::string error;
    for (const std::string &arch : options.target.archs) {
      if (arch == "simt" && !simt)
        simt = cuda::SimtCompiler::open("", cache, error);
      else if (arch != "simt" && !nvrtc)
        nvrtc = cuda::NvrtcLibrary::open("", error, options.libraryFolders);
      if ((arch == "simt" && !simt) || (arch != "simt" && !nvrtc))
        return module.emitError() << "cannot compile for " << arch << ": " << error;
    }
    return success();
  }

  LogicalResult emit() {
    for (auto func : module.getOps<kernel::FuncOp>()) {
      FailureOr<cuda::CudaKernel> kernel = cuda::emitCuda(func);
      if (failed(kernel))
        return failure();
      for (const std::string &arch : options.target.archs)
        jobs.push_back({kernels.size(), arch, {}});
      kernels.push_back(std::move(*kernel));
      functions.push_back(func);
    }
    return success();
  }

  /// Each job writes its own result: the order in which they end does not show.
  void compile() {
    std::atomic<size_t> next = 0;
    auto work = [&] {
      for (size_t i; (i = next++) < jobs.size();) {
        Job &job = jobs[i];
        cuda::CompileOptions compileOptions;
        compileOptions.cacheFolder = cache;
        const std::string &text = kernels[job.kernel].text;
        job.code = job.arch == "simt" ? simt->compile(text, compileOptions)
                                      : nvrtc->compile(text, job.arch, compileOptions);
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < options.jobs; ++i)
      threads.emplace_back(work);
    work();
    for (std::thread &t : threads)
      t.join();
  }

  LogicalResult collect() {
    for (const cuda::CudaKernel &kernel : kernels) {
      code.kernels.push_back({kernel.name, kernel.text, {}});
      reports.push_back({kernel.name, kernel.text, 0, {}});
    }
    for (Job &job : jobs) {
      const cuda::CudaKernel &kernel = kernels[job.kernel];
      if (!job.code.ok)
        return functions[job.kernel].emitError()
               << "kernel '" << kernel.name << "' does not compile for " << job.arch << ":\n"
               << job.code.log;
      KernelVariantCode variant;
      variant.blob = code.blobs.size();
      variant.symbol = kernel.name;
      for (int d = 0; d < 3; ++d) {
        variant.grid[d] = static_cast<uint32_t>(kernel.grid[d]);
        variant.block[d] = static_cast<uint32_t>(kernel.block[d]);
      }
      variant.sharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
      variant.registers = report(job);
      code.kernels[job.kernel].variants.push_back(variant);
      code.blobs.push_back({job.arch == "simt" ? CodeBlob::Kind::SimtImage : CodeBlob::Kind::Cubin,
                            job.arch, std::move(job.code.bytes)});
    }
    return success();
  }

  /// What the cubin says of itself; its registers.
  uint32_t report(const Job &job) {
    KernelReport::Variant v;
    v.arch = job.arch;
    if (job.arch != "simt") {
      cuda::CubinInfo info = cuda::readCubin(job.code.bytes);
      if (const cuda::KernelInfo *k = info.find(kernels[job.kernel].name)) {
        v.registers = k->registers;
        v.spillBytes = k->spills() ? std::max(k->stackBytes, 1u) : 0;
        v.sharedBytes = k->sharedBytes;
        v.matrixInstructions = (*k)[cuda::Instruction::HMMA] + (*k)[cuda::Instruction::HGMMA];
      }
    }
    reports[job.kernel].variants.push_back(v);
    return v.registers;
  }

  ModuleOp module;
  const CompileOptions &options;
  KernelCode &code;
  std::vector<KernelReport> &reports;
  std::string cache;
  std::shared_ptr<cuda::NvrtcLibrary> nvrtc;
  std::shared_ptr<cuda::SimtCompiler> simt;
  std::vector<cuda::CudaKernel> kernels;
  std::vector<kernel::FuncOp> functions;
  std::vector<Job> jobs;
};

} // namespace

LogicalResult gpucc::compileKernels(ModuleOp module, const CompileOptions &options,
                                    KernelCode &code, std::vector<KernelReport> &reports) {
  if (module.getOps<kernel::FuncOp>().empty())
    return success();
  if (options.target.cuda)
    return CudaCompiler(module, options, code, reports).run();
  if (failed(compileHost(module, options, code)))
    return failure();
  for (const KernelCodeEntry &entry : code.kernels)
    reports.push_back({entry.name, entry.source, 0, {}});
  return success();
}
