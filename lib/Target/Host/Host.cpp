//===- Host.cpp - kernels as machine code for the CPU ---------------------===//
#include "gpucc/Target/Host/Host.h"

#include "dialects/Kernel/Kernel.h"
#include "lib/Target/Host/Pieces.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::host;

int64_t host::getVectorWidth(StringRef cpuLevel) {
  return llvm::StringSwitch<int64_t>(cpuLevel)
      .Case("x86-64-v2", 4)
      .Case("x86-64-v3", 8)
      .Case("x86-64-v4", 16)
      .Default(0);
}

std::string host::getNativeCpuLevel() {
  auto features = llvm::sys::getHostCPUFeatures();
  auto all = [&](ArrayRef<StringRef> names) {
    return llvm::all_of(names, [&](StringRef name) { return features.lookup(name); });
  };
  if (!all({"sse4.2", "ssse3", "popcnt", "cx16"}))
    return "";
  if (!all({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}))
    return "x86-64-v2";
  if (!all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return "x86-64-v3";
  return "x86-64-v4";
}

void host::registerHostTarget(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, kernel::KernelDialect, arith::ArithDialect,
                  math::MathDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

/// About 16 thousand points are worth the start of a thread.
static int64_t chooseGrain(kernel::FuncOp kernel) {
  int64_t points = 0;
  kernel.walk([&](kernel::LoopOp loop) {
    int64_t n = loop.getPoints();
    for (auto outer = loop->getParentOfType<kernel::LoopOp>(); outer;
         outer = outer->getParentOfType<kernel::LoopOp>())
      n *= outer.getPoints();
    points += n;
  });
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, points));
}

/// A module with copies of the kernels alone.
static OwningOpRef<ModuleOp> copyKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  for (auto kernel : module.getOps<kernel::FuncOp>())
    copy->push_back(kernel->clone());
  return copy;
}

static LogicalResult report(ModuleOp module, llvm::Error error) {
  return module.emitError("host code: ") << llvm::toString(std::move(error));
}

LogicalResult host::compileHostImage(ModuleOp module, const HostOptions &options,
                                     HostImage &image) {
  int64_t width = getVectorWidth(options.cpuLevel);
  if (!width)
    return module.emitError("unknown CPU level '")
           << options.cpuLevel << "'; one of x86-64-v2, x86-64-v3, x86-64-v4";
  DialectRegistry registry;
  registerHostTarget(registry);
  module.getContext()->appendDialectRegistry(registry);

  OwningOpRef<ModuleOp> kernels = copyKernels(module);
  if (failed(prepareKernels(*kernels)))
    return failure();
  for (auto kernel : kernels->getOps<kernel::FuncOp>())
    image.kernels.push_back(
        {kernel.getName().str(), kernel.getProgramCount(), chooseGrain(kernel)});
  if (failed(lowerToLlvmDialect(*kernels, width)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*kernels, context, "gpucc");
  if (!code)
    return module.emitError("host code: no translation to LLVM IR");
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(options.cpuLevel, error);
  if (!machine)
    return module.emitError("host code: ") << error;
  if (llvm::Error e = optimize(*code, *machine, width))
    return report(module, std::move(e));
  if (!options.dumpLlvmIr.empty()) {
    std::error_code ec;
    llvm::raw_fd_ostream stream(options.dumpLlvmIr, ec);
    code->print(stream, nullptr);
    stream.close();
    if (!ec)
      ec = stream.error();
    stream.clear_error(); // else LLVM ends the process
    if (ec)
      return module.emitError("host code: cannot write ")
             << options.dumpLlvmIr << ": " << ec.message();
  }
  llvm::Expected<std::string> object = emitObject(*code, *machine);
  if (!object)
    return report(module, object.takeError());
  llvm::Expected<std::string> library = linkSharedLibrary(*object, options.linker);
  if (!library)
    return report(module, library.takeError());
  image.bytes = std::move(*library);
  return success();
}
