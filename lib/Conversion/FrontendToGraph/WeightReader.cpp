//===- WeightReader.cpp - values of small stored tensors ------------------===//
#include "lib/Conversion/FrontendToGraph/WeightReader.h"

#include "llvm/Support/Path.h"

#include <cstring>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

std::optional<HostTensor> WeightReader::read(graph::WeightOp op, int64_t maxElements) {
  auto data = module.lookupSymbol<graph::WeightDataOp>(op.getKey());
  auto type = cast<RankedTensorType>(op.getType());
  if (!data || type != data.getType() || type.getNumElements() > maxElements)
    return std::nullopt;
  auto names = module->getAttrOfType<ArrayAttr>(graph::filesAttr);
  int64_t index = data.getFile();
  if (!names || index < 0 || index >= static_cast<int64_t>(names.size()))
    return std::nullopt;
  std::unique_ptr<llvm::MemoryBuffer> &file = files[index];
  if (!file) {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, cast<StringAttr>(names[index]).getValue());
    auto opened = llvm::MemoryBuffer::getFile(path, false, false);
    if (!opened)
      return std::nullopt;
    file = std::move(*opened);
  }
  uint64_t offset = data.getOffset(), bytes = data.getBytes();
  if (offset > file->getBufferSize() || bytes > file->getBufferSize() - offset)
    return std::nullopt;
  HostTensor result(*toDType(type.getElementType()), toShape(type));
  if (bytes != static_cast<uint64_t>(result.byteSize()))
    return std::nullopt;
  if (bytes)
    std::memcpy(result.bytes(), file->getBufferStart() + offset, bytes);
  return result;
}
