//===- Onnx.h - from an ONNX file to the frontend dialect -------*- C++ -*-===//
//
// Bytes in, `frontend` out; nothing is understood here (Conversion/
// FrontendToGraph does that). The file is mapped, and the bytes of weights are
// neither copied nor read: an initializer says file, offset and length.
//
//   OnnxOptions options;
//   OnnxModel model = importOnnx(context, "models/mlp.onnx", options);
//   if (model.status != frontend::Status::Ok) ...   // the errors were emitted
//   model.module->dump();                           // frontend.graph @main ...
//   model.folder                                    // "models": where frontend.files lie
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_IMPORT_ONNX_H
#define GPUCC_IMPORT_ONNX_H

#include "dialects/Frontend/Status.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace gpucc {

struct OnnxOptions {
  /// External data may be reached through symbolic links that leave the model's folder (as in a
  /// Hugging Face cache). Off: a model cannot make us read files it should not know of.
  bool followLinks = false;
  /// No initializer is inlined (but those whose file form is not a row of plain bytes).
  bool keepAllByReference = false;
};

struct OnnxModel {
  frontend::Status status = frontend::Status::BadInput;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string folder; ///< the model's folder; entries of `frontend.files` are relative to it
};

/// Reads a model file. Errors (place, what was found, what is allowed, remedy) go to the context's
/// diagnostic handlers.
OnnxModel importOnnx(mlir::MLIRContext *context, llvm::StringRef path, const OnnxOptions &options);

/// The same from memory (fuzzing, Python). `fileName` stands for the file in `frontend.files`.
OnnxModel importOnnxBytes(mlir::MLIRContext *context, llvm::StringRef bytes,
                          llvm::StringRef fileName, llvm::StringRef folder,
                          const OnnxOptions &options);

} // namespace gpucc

#endif // GPUCC_IMPORT_ONNX_H
