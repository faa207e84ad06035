//===- OnnxData.h - tensors in files of their own ---------------*- C++ -*-===//
//
// The official node tests keep inputs and expected outputs as TensorProto files.
//
//   HostTensor x; std::string error;
//   readTensorFile("test_add/test_data_set_0/input_0.pb", x, error);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_IMPORT_ONNXDATA_H
#define GPUCC_IMPORT_ONNXDATA_H

#include "gpucc/Facts/HostTensor.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace gpucc {

/// False, with the reason in `error`, when the file cannot be read or holds a type that gpucc does
/// not have.
bool readTensorFile(llvm::StringRef path, HostTensor &tensor, std::string &error);

} // namespace gpucc

#endif // GPUCC_IMPORT_ONNXDATA_H
