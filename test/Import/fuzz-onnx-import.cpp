//===- fuzz-onnx-import.cpp - any bytes as an ONNX model ------------------===//
//
// Import and conversion must end in a status, whatever the bytes: no crash, no
// unbounded memory. Run: fuzz-onnx-import CORPUS
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#include "gpucc/Import/Onnx.h"
#include "mlir/IR/MLIRContext.h"

#include <cstddef>
#include <cstdint>
#include <memory>

/// Making a context costs more than importing a small model. One serves many inputs, and then makes
/// room: it keeps every type and attribute it has seen.
static mlir::MLIRContext &sharedContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (uses++ % 256 == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext &context = sharedContext();
  mlir::ScopedDiagnosticHandler silent(&context,
                                       [](mlir::Diagnostic &) { return mlir::success(); });
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  gpucc::OnnxModel model = gpucc::importOnnxBytes(&context, bytes, "fuzz.onnx", "/nonexistent", {});
  if (model.status == gpucc::frontend::Status::Ok) {
    gpucc::ConversionOptions options;
    options.folder = "/nonexistent";
    gpucc::convertFrontendToGraph(*model.module, options);
  }
  return 0;
}
