//===- Kernels.cpp - machine code for the kernels of a module -------------===//
#include "Kernels.h"

#include "dialects/Kernel/Kernel.h"
#include "gpucc/Target/Cuda/Cubin.h"
#include "gpucc/Target/Cuda/Emit.h"
#include "gpucc/Target/Cuda/KernelCompiler.h"
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

namespace {

/// Compiles the CUDA text of all kernels for all architectures.
class CudaCompiler {
public:
  CudaCompiler(ModuleOp module, const CompileOptions &options, KernelCode &code,
               std::vector<KernelReport> &reports)
      : module(module), options(options), code(code), reports(reports),
        cache(kernelCacheFolder(options)) {}

  LogicalResult run() {
    cuda::KernelCompilerOptions compilers;
    compilers.architectures = options.target.archs;
    compilers.cacheFolder = cache;
    compilers.nvrtcSearchFolders = options.libraryFolders;
    compilers.jobs = options.jobs;
    std::string error;
    auto compiler = cuda::KernelCompiler::open(compilers, error);
    if (!compiler)
      return module.emitError() << "cannot compile for " << options.target.dump() << ": " << error;
    if (failed(emit()))
      return failure();
    std::vector<std::string> texts;
    for (const cuda::CudaKernel &kernel : kernels)
      texts.push_back(kernel.text);
    return collect(compiler->compile(texts));
  }

private:
  LogicalResult emit() {
    for (auto func : module.getOps<kernel::FuncOp>()) {
      FailureOr<cuda::CudaKernel> kernel = cuda::emitCuda(func);
      if (failed(kernel))
        return failure();
      kernels.push_back(std::move(*kernel));
      functions.push_back(func);
    }
    return success();
  }

  LogicalResult collect(cuda::CompiledKernels compiled) {
    for (auto [k, kernel] : llvm::enumerate(kernels)) {
      code.kernels.push_back({kernel.name, kernel.text, {}});
      reports.push_back({kernel.name, kernel.text, 0, {}});
      for (auto [a, arch] : llvm::enumerate(options.target.archs)) {
        cuda::Code &result = compiled.code[k][a];
        if (!result.ok)
          return functions[k].emitError()
                 << "kernel '" << kernel.name << "' does not compile for " << arch << ":\n"
                 << result.log;
        KernelVariantCode variant;
        variant.blob = code.blobs.size();
        variant.symbol = kernel.name;
        for (int d = 0; d < 3; ++d) {
          variant.grid[d] = static_cast<uint32_t>(kernel.grid[d]);
          variant.block[d] = static_cast<uint32_t>(kernel.block[d]);
        }
        variant.sharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
        variant.registers = report(k, arch, result);
        code.kernels[k].variants.push_back(variant);
        code.blobs.push_back({arch == "simt" ? CodeBlob::Kind::SimtImage : CodeBlob::Kind::Cubin,
                              arch, std::move(result.bytes)});
      }
    }
    return success();
  }

  /// What the cubin says of itself; its registers.
  uint32_t report(size_t kernel, const std::string &arch, const cuda::Code &result) {
    KernelReport::Variant v;
    v.arch = arch;
    if (arch != "simt") {
      cuda::CubinInfo info = cuda::readCubin(result.bytes);
      if (const cuda::KernelInfo *k = info.find(kernels[kernel].name)) {
        v.registers = k->registers;
        v.spillBytes = k->spills() ? std::max(k->stackBytes, 1u) : 0;
        v.sharedBytes = k->sharedBytes;
        v.matrixInstructions = (*k)[cuda::Instruction::HMMA] + (*k)[cuda::Instruction::HGMMA];
      }
    }
    reports[kernel].variants.push_back(v);
    return v.registers;
  }

  ModuleOp module;
  const CompileOptions &options;
  KernelCode &code;
  std::vector<KernelReport> &reports;
  std::string cache;
  std::vector<cuda::CudaKernel> kernels;
  std::vector<kernel::FuncOp> functions;
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
