//===- LoadModel.h - from a model file to graph functions -------*- C++ -*-===//
//
// Import and conversion in one call: what `gpucc compile`, `run`, `check` and
// `show` start with.
//
//   LoadedModel model = loadModel(context, "mlp.onnx", {}, {.profiles = {{"p0", {{"batch", 4}}}}});
//   if (model.status != frontend::Status::Ok)
//     return frontend::exitCode(model.status);      // errors were emitted
//   model.module     graph.weight_data entries and func.func @main (docs/conventions.md)
//   model.folder     where the module's graph.files lie
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PIPELINES_LOADMODEL_H
#define GPUCC_PIPELINES_LOADMODEL_H

#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#include "gpucc/Import/Onnx.h"

namespace gpucc {

struct LoadedModel {
  frontend::Status status = frontend::Status::BadInput;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string folder;
  std::vector<frontend::MissingOp> missing; ///< when status is Unsupported
  /// Inputs whose values the model needs while compiling; give them as constantInputs.
  std::vector<std::string> neededInputs;
};

/// Reads an ONNX file. `conversion.folder` is set to the model's folder.
LoadedModel loadModel(mlir::MLIRContext *context, llvm::StringRef path, const OnnxOptions &import,
                      ConversionOptions conversion);

} // namespace gpucc

#endif // GPUCC_PIPELINES_LOADMODEL_H
