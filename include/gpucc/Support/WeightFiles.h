//===- WeightFiles.h - weights mapped from the model's files ----*- C++ -*-===//
//
// Files are mapped read-only on first use; a tensor refers to the mapped bytes
// and keeps the mapping alive. Only pages that are looked at are read.
//
//   WeightFiles files("/models/mlp");
//   std::string error;
//   auto w = files.get("mlp.onnx", 4096, DType::F32, {8, 8}, error);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SUPPORT_WEIGHTFILES_H
#define GPUCC_SUPPORT_WEIGHTFILES_H

#include "gpucc/Facts/HostTensor.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gpucc {

class WeightFiles {
public:
  /// `folder`: what relative file names are relative to.
  explicit WeightFiles(std::string folder) : folder(std::move(folder)) {}

  /// The tensor at `offset` of `file`; none, with `error` set, when the file cannot be mapped or is
  /// too short. The bytes are read-only: write only to a clone().
  std::optional<HostTensor> get(const std::string &file, int64_t offset, DType type,
                                std::vector<int64_t> shape, std::string &error);

private:
  struct Mapping;
  std::string folder;
  std::map<std::string, std::shared_ptr<Mapping>> mappings;
};

} // namespace gpucc

#endif // GPUCC_SUPPORT_WEIGHTFILES_H
