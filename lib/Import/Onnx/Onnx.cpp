//===- Onnx.cpp - from an ONNX file to the frontend dialect ---------------===//
#include "gpucc/Import/Onnx.h"
#include "lib/Import/Onnx/GraphImporter.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::onnx_import;

static constexpr int64_t oldestIr = 3;

/// Faults of the model as a whole.
static bool checkModel(const ::onnx::ModelProto &model, Location where) {
  auto refuse = [&](const Twine &text) {
    emitError(where) << text;
    return false;
  };
  if (!model.has_graph() || !model.has_ir_version())
    return refuse("is no ONNX model: the message has no " +
                  Twine(model.has_graph() ? "ir_version" : "graph") +
                  "; expected is a ModelProto as onnx.save writes it");
  if (model.ir_version() < oldestIr)
    return refuse("has IR version " + Twine(model.ir_version()) +
                  "; 3 and newer are read (convert it with onnx.version_converter)");
  return true;
}

OnnxModel gpucc::importOnnxBytes(MLIRContext *context, StringRef bytes, StringRef fileName,
                                 StringRef folder, const OnnxOptions &options) {
  context->loadDialect<frontend::FrontendDialect>();
  OnnxModel result;
  result.folder = folder.str();
  Location where = FileLineColLoc::get(context, fileName, 0, 0);
  SlimModel slim;
  std::string problem;
  if (!slimModel(bytes, slim, problem)) {
    emitError(where) << "is no ONNX model: " << problem
                     << "; the file is cut short, or of another kind: export or download it again";
    return result;
  }
  ::onnx::ModelProto model;
  google::protobuf::io::ArrayInputStream stream(slim.bytes.data(), int(slim.bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(100);
  if (slim.bytes.size() > size_t(INT32_MAX) || !model.ParseFromCodedStream(&coded) ||
      !coded.ConsumedEntireMessage()) {
    emitError(where) << "is no ONNX model: a message inside is malformed or nested more than 100 "
                        "deep, which is what is allowed; export the model again";
    return result;
  }
  if (!checkModel(model, where))
    return result;
  GraphImporter importer(context, model, slim, bytes, fileName, folder, options);
  result.module = importer.importModel();
  if (result.module)
    result.status = frontend::Status::Ok;
  return result;
}

OnnxModel gpucc::importOnnx(MLIRContext *context, StringRef path, const OnnxOptions &options) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    emitError(UnknownLoc::get(context))
        << "cannot read the model '" << path << "': " << buffer.getError().message();
    return {};
  }
  return importOnnxBytes(context, (*buffer)->getBuffer(), llvm::sys::path::filename(path),
                         llvm::sys::path::parent_path(path), options);
}
