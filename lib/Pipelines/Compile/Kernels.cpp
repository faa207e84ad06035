//===- Kernels.cpp - machine code for the kernels of a module -------------===//
#include "Kernels.h"

#include "dialects/Kernel/Kernel.h"
#include "gpucc/Target/Host/Host.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

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

LogicalResult gpucc::compileKernels(ModuleOp module, const CompileOptions &options,
                                    KernelCode &code, std::vector<KernelReport> &reports) {
  if (module.getOps<kernel::FuncOp>().empty())
    return success();
  if (options.target.cuda)
    return module.emitError("the CUDA target is not linked in");
  if (failed(compileHost(module, options, code)))
    return failure();
  for (const KernelCodeEntry &entry : code.kernels)
    reports.push_back({entry.name, entry.source, 0, {}});
  return success();
}
