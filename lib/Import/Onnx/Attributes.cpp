//===- Attributes.cpp - AttributeProto to MLIR attributes -----------------===//
#include "gpucc/Support/Types.h"
#include "lib/Import/Onnx/GraphImporter.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::onnx_import;

/// The kind of a field; files before IR version 3 do not say it.
static ::onnx::AttributeProto::AttributeType kindOf(const ::onnx::AttributeProto &a) {
  using A = ::onnx::AttributeProto;
  if (a.has_type() && a.type() != A::UNDEFINED)
    return a.type();
  if (a.has_f())
    return A::FLOAT;
  if (a.has_i())
    return A::INT;
  if (a.has_s())
    return A::STRING;
  if (a.has_t())
    return A::TENSOR;
  if (a.has_g())
    return A::GRAPH;
  if (a.floats_size())
    return A::FLOATS;
  if (a.ints_size())
    return A::INTS;
  if (a.strings_size())
    return A::STRINGS;
  return A::UNDEFINED;
}

/// What we have no value for: a type that says in words what it was.
static Attribute opaque(MLIRContext *context, const Twine &what) {
  return TypeAttr::get(frontend::ValueType::get(context, what.str()));
}

Attribute GraphImporter::convertAttribute(const ::onnx::AttributeProto &a, StringRef node) {
  using A = ::onnx::AttributeProto;
  switch (kindOf(a)) {
  case A::FLOAT:
    return builder.getF32FloatAttr(a.f());
  case A::INT:
    return builder.getI64IntegerAttr(a.i());
  case A::STRING:
    return builder.getStringAttr(a.s());
  case A::FLOATS:
    return builder.getDenseF32ArrayAttr({a.floats().data(), size_t(a.floats_size())});
  case A::INTS:
    return builder.getDenseI64ArrayAttr(SmallVector<int64_t>(a.ints().begin(), a.ints().end()));
  case A::STRINGS: {
    SmallVector<Attribute> strings;
    for (const std::string &s : a.strings())
      strings.push_back(builder.getStringAttr(s));
    return builder.getArrayAttr(strings);
  }
  case A::TENSOR: {
    if (!elementType(a.t().data_type()))
      return opaque(builder.getContext(), "tensor of " + elementTypeName(a.t().data_type()));
    HostTensor value;
    std::string problem;
    if (decodeTensor(a.t(), std::nullopt, value, problem))
      return toElementsAttr(builder.getContext(), value);
    error(nodeLocation(node, "attribute"),
          "attribute '" + a.name() + "' of node '" + node + "': the tensor " + problem);
    return builder.getUnitAttr();
  }
  case A::GRAPH:
    return {}; // a region
  default:
    return opaque(builder.getContext(), "attribute of kind " + Twine(int(kindOf(a))));
  }
}
