//===- Initializers.cpp - stored tensors ----------------------------------===//
//
// A float tensor stays where it is: the op says file, offset and bytes. Inline
// are small integer tensors (shapes, axes, index tables are needed while
// converting), scalars, and what the file does not store as plain bytes.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Support/Types.h"
#include "lib/Import/Onnx/GraphImporter.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::onnx_import;

/// Integer tensors up to this many elements are inlined.
static constexpr int64_t inlineIntegers = 1024;

int64_t GraphImporter::fileNumber(StringRef name) {
  for (auto [i, known] : llvm::enumerate(files))
    if (known == name)
      return i;
  files.push_back(name.str());
  return files.size() - 1;
}

void GraphImporter::importInitializers(const ::onnx::GraphProto &graph, bool isMain, Scope &scope) {
  for (auto [i, tensor] : llvm::enumerate(graph.initializer())) {
    const Span *span = isMain && i < slim.spans.size() ? &slim.spans[i] : nullptr;
    importInitializer(tensor, span && span->present ? span : nullptr, scope);
  }
  for (const auto &sparse : graph.sparse_initializer())
    scope.define(sparse.values().name(),
                 frontend::AbsentOp::create(
                     builder, builder.getUnknownLoc(),
                     frontend::ValueType::get(builder.getContext(), "sparse tensor")));
}

void GraphImporter::importInitializer(const ::onnx::TensorProto &tensor, const Span *span,
                                      Scope &scope) {
  Location loc = NameLoc::get(builder.getStringAttr(tensor.name()), fileLocation);
  auto fail = [&](const Twine &text) {
    error(loc, "initializer '" + tensor.name() + "' " + text);
    scope.define(tensor.name(), absent()); // so that its users do not complain too
  };
  auto define = [&](Value value) {
    if (tensor.name().empty() || !scope.define(tensor.name(), value))
      error(loc, "the initializer name '" + tensor.name() +
                     "' is empty or taken; rename one of its owners");
  };
  std::string problem;
  std::vector<int64_t> shape;
  if (!tensorShape(tensor, shape, problem) || !checkPayload(tensor, span != nullptr, problem))
    return fail(problem);
  std::optional<DType> type = elementType(tensor.data_type());
  if (!type) // fine as long as nothing that we convert reads it
    return define(frontend::AbsentOp::create(
        builder, loc,
        frontend::ValueType::get(builder.getContext(),
                                 "tensor of " + elementTypeName(tensor.data_type()))));
  RankedTensorType tensorType = toTensorType(builder.getContext(), *type, shape);
  uint64_t need = byteSize(*type, tensorType.getNumElements());

  auto reference = [&](StringRef name, uint64_t offset) {
    define(frontend::InitializerOp::create(
        builder, loc, tensorType, builder.getStringAttr(tensor.name()),
        builder.getI64IntegerAttr(fileNumber(name)), builder.getI64IntegerAttr(offset),
        builder.getI64IntegerAttr(need), ElementsAttr()));
  };
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
    ExternalData data;
    if (!locateExternal(tensor, folder, need, options.followLinks, data, problem))
      return fail(problem);
    return reference(data.file, data.offset);
  }
  bool small = tensorType.getRank() == 0 ||
               (!isFloat(*type) && tensorType.getNumElements() <= inlineIntegers);
  // A packed float_data or double_data is raw bytes only for its own type.
  bool plain = span && (span->bytes == need || tensor.has_raw_data());
  if (span && !plain)
    return fail("has " + Twine(span->bytes) + " bytes of data; its dims and type take " +
                Twine(need) + ": correct one of them");
  if (span && (!small || options.keepAllByReference))
    return reference(fileName, span->offset);
  HostTensor value;
  std::optional<StringRef> raw;
  if (span)
    raw = file.substr(span->offset, span->bytes);
  if (!decodeTensor(tensor, raw, value, problem))
    return fail(problem);
  define(frontend::InitializerOp::create(
      builder, loc, tensorType, builder.getStringAttr(tensor.name()), IntegerAttr(), IntegerAttr(),
      IntegerAttr(), toElementsAttr(builder.getContext(), value)));
}
