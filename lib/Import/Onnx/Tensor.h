//===- Tensor.h - TensorProto as types, values and references ---*- C++ -*-===//
//
//   elementType(ctx, TensorProto::FLOAT16) == f16
//   decodeTensor({dims [2], int64_data [1, 2]}) == HostTensor(i64, {2}) of 1, 2
//   locateExternal({location "w.bin", offset "64"}) == {file "w.bin", offset 64, ...}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_IMPORT_ONNX_TENSOR_H
#define GPUCC_IMPORT_ONNX_TENSOR_H

#include "gpucc/Facts/HostTensor.h"
#include "lib/Import/Onnx/SlimModel.h"
#include "onnx.pb.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace gpucc::onnx_import {

/// None for strings, complex numbers and formats that gpucc does not have.
std::optional<DType> elementType(int onnxType);
/// "float8e4m3fnuz", for messages.
std::string elementTypeName(int onnxType);

/// Checks dims (not negative, size fits 63 bits); `error` says what is wrong.
bool tensorShape(const ::onnx::TensorProto &tensor, std::vector<int64_t> &shape,
                 std::string &error);

/// Whole and stored once. `isElsewhere`: raw_data was left out of the message.
bool checkPayload(const ::onnx::TensorProto &tensor, bool isElsewhere, std::string &error);

/// The values of a tensor that is stored in the message itself. `raw` replaces raw_data when the
/// payload was left out of the parsed message.
bool decodeTensor(const ::onnx::TensorProto &tensor, std::optional<llvm::StringRef> raw,
                  HostTensor &result, std::string &error);

struct ExternalData {
  std::string file; ///< relative to the model's folder
  uint64_t offset = 0, bytes = 0;
};

/// Reads and checks the external_data of a tensor that takes `need` bytes: the file lies in
/// `folder`, exists and is long enough.
bool locateExternal(const ::onnx::TensorProto &tensor, llvm::StringRef folder, uint64_t need,
                    bool followLinks, ExternalData &result, std::string &error);

} // namespace gpucc::onnx_import

#endif // GPUCC_IMPORT_ONNX_TENSOR_H
