//===- SlimModel.h - a model file without the bytes of its weights -*- C++ -*-===//
//
// Protobuf would copy every weight into a string. So the mapped file is first
// walked by its wire format (ModelProto.graph.initializer[i].raw_data), and a
// copy is made that lacks those payloads; where they lie is noted. float_data
// and double_data in one packed piece are plain little-endian bytes too.
//
//   file: 400 MB of which 398 MB raw_data
//   slim.bytes: 2 MB for the parser;  slim.spans[7] = {offset 1048576, bytes 4096}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_IMPORT_ONNX_SLIMMODEL_H
#define GPUCC_IMPORT_ONNX_SLIMMODEL_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace gpucc::onnx_import {

/// A payload that was left out; `present` is false where there was none.
struct Span {
  bool present = false;
  uint64_t offset = 0; ///< in the file
  uint64_t bytes = 0;
};

struct SlimModel {
  std::string bytes;
  std::vector<Span> spans; ///< one per initializer of the main graph, in file order
};

/// False when the bytes are not a protobuf message; `error` says where it breaks.
bool slimModel(llvm::StringRef file, SlimModel &slim, std::string &error);

} // namespace gpucc::onnx_import

#endif // GPUCC_IMPORT_ONNX_SLIMMODEL_H
