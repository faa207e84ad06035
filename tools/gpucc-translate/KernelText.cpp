//===- KernelText.cpp - kernels of an IR file as CUDA text ----------------===//
#include "KernelText.h"

#include "gpucc/Pipelines/Register.h"
#include "gpucc/Target/Cuda/Emit.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

int gpucc::printKernels(StringRef file, raw_ostream &os) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  cuda::registerCudaTarget(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, errs());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  if (!module)
    return 2;
  auto list = [&](const std::array<int64_t, 3> &d) { os << d[0] << ", " << d[1] << ", " << d[2]; };
  for (auto kernel : module->getOps<kernel::FuncOp>()) {
    auto text = cuda::emitCuda(kernel);
    if (failed(text))
      return 3;
    os << "// grid (";
    list(text->grid);
    os << ") block (";
    list(text->block);
    os << ")\n" << text->text;
  }
  return 0;
}
