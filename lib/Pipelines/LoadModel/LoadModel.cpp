//===- LoadModel.cpp - from a model file to graph functions ---------------===//
#include "gpucc/Pipelines/LoadModel.h"

using namespace gpucc;

LoadedModel gpucc::loadModel(mlir::MLIRContext *context, llvm::StringRef path,
                             const OnnxOptions &import, ConversionOptions conversion) {
  LoadedModel result;
  OnnxModel model = importOnnx(context, path, import);
  result.status = model.status;
  result.folder = model.folder;
  if (model.status != frontend::Status::Ok)
    return result;
  conversion.folder = model.folder;
  Conversion outcome = convertFrontendToGraph(*model.module, conversion);
  result.status = outcome.status;
  result.missing = std::move(outcome.missing);
  result.neededInputs = std::move(outcome.neededInputs);
  if (outcome.status == frontend::Status::Ok)
    result.module = std::move(model.module);
  return result;
}
