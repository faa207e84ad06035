//===- OnnxData.cpp - tensors in files of their own -----------------------===//
#include "gpucc/Import/OnnxData.h"

#include "lib/Import/Onnx/Tensor.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace gpucc;

bool gpucc::readTensorFile(llvm::StringRef path, HostTensor &tensor, std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  if (!buffer) {
    error = "cannot be read: " + buffer.getError().message();
    return false;
  }
  ::onnx::TensorProto proto;
  if (!proto.ParseFromArray((*buffer)->getBufferStart(), int((*buffer)->getBufferSize()))) {
    error = "is no TensorProto";
    return false;
  }
  return onnx_import::decodeTensor(proto, std::nullopt, tensor, error);
}
