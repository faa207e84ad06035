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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  gpucc::OnnxModel model =
      gpucc::importOnnxBytes(&context, bytes, "fuzz.onnx", "/nonexistent", {});
  if (model.status == gpucc::frontend::Status::Ok) {
    gpucc::ConversionOptions options;
    options.folder = "/nonexistent";
    gpucc::convertFrontendToGraph(*model.module, options);
  }
  return 0;
}
