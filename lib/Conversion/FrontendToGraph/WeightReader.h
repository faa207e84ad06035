//===- WeightReader.h - values of small stored tensors ----------*- C++ -*-===//
//
// A few operators need the value of a stored tensor while they are converted
// (the sizes of a Resize). Only those few bytes are read, from the mapped file.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_WEIGHTREADER_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_WEIGHTREADER_H

#include "dialects/Graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>

namespace gpucc::frontend_to_graph {

class WeightReader {
public:
  WeightReader(mlir::ModuleOp module, llvm::StringRef folder) : module(module), folder(folder) {}

  /// The value of a graph.weight of at most `maxElements` elements; none when it is larger or the
  /// file cannot be read.
  std::optional<HostTensor> read(graph::WeightOp op, int64_t maxElements = 4096);

private:
  mlir::ModuleOp module;
  std::string folder;
  std::map<int64_t, std::unique_ptr<llvm::MemoryBuffer>> files;
};

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_WEIGHTREADER_H
