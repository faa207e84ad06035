//===- GraphImporter.cpp - ModelProto to a frontend module ----------------===//
#include "lib/Import/Onnx/GraphImporter.h"

#include "gpucc/Support/Types.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::onnx_import;

/// Where the graph stands in the file: MLIR wants a name for each place.
GraphImporter::GraphImporter(MLIRContext *context, const ::onnx::ModelProto &model,
                             const SlimModel &slim, StringRef file, StringRef fileName,
                             StringRef folder, const OnnxOptions &options)
    : model(model), slim(slim), file(file), fileName(fileName), folder(folder), options(options),
      builder(context), fileLocation(FileLineColLoc::get(context, fileName, 0, 0)) {
  files.push_back(fileName.str());
  for (const ::onnx::FunctionProto &f : model.functions())
    if (!functions.try_emplace(f.domain() + ":" + f.name() + ":" + f.overload(), &f).second)
      error(fileLocation, "the model has the function '" + f.name() + "' of domain '" + f.domain() +
                              "' twice; a name stands for one function: rename one of them");
}

void GraphImporter::error(Location where, const Twine &text) {
  ++errors;
  emitError(where) << text;
}

Location GraphImporter::nodeLocation(StringRef node, StringRef opType) {
  return NameLoc::get(builder.getStringAttr(node + " (" + opType + ")"), fileLocation);
}

Value GraphImporter::absent() {
  return frontend::AbsentOp::create(builder, builder.getUnknownLoc(),
                                    frontend::ValueType::get(builder.getContext(), ""));
}

bool GraphImporter::readOpsets(Surroundings &around) {
  for (const auto &opset : model.opset_import()) {
    StringRef domain = opset.domain() == frontend::onnxDomain ? "" : StringRef(opset.domain());
    auto [known, isNew] = around.opsets.try_emplace(domain, opset.version());
    if (opset.version() < 1)
      error(fileLocation, "the model imports version " + Twine(opset.version()) + " of domain '" +
                              domain + "'; versions start at 1: correct opset_import");
    else if (!isNew && known->second != opset.version())
      error(fileLocation, "the model imports versions " + Twine(known->second) + " and " +
                              Twine(opset.version()) + " of domain '" + domain +
                              "'; one is allowed: remove the other from opset_import");
  }
  if (!around.opsets.contains(""))
    around.opsets[""] = 1; // IR version 2 and below did not say
  return errors == 0;
}

/// The name of a dimension, "" for none. "?" is none: Paddle's exporter writes that for "unknown",
/// and two of them are no promise of equal sizes. A profile is written `a=1,b=2;a=3,b=4`, so a name
/// keeps none of its separators: `max(1, n)` is `max(1_ n)`.
static std::string symbolOf(StringRef written) {
  if (llvm::none_of(written, llvm::isAlnum))
    return "";
  std::string symbol = written.trim().str();
  for (char &c : symbol)
    if (StringRef(",;=").contains(c))
      c = '_';
  return symbol;
}

/// `dims` receives the names of the dimensions; an unknown one without a name is called
/// <value>_dim<i>, so that a profile can bind it.
Type GraphImporter::typeOf(const ::onnx::TypeProto &type, StringRef name,
                           SmallVectorImpl<Attribute> *dims) {
  auto opaque = [&](const Twine &what) -> Type {
    return frontend::ValueType::get(builder.getContext(), what.str());
  };
  switch (type.value_case()) {
  case ::onnx::TypeProto::kTensorType:
    break;
  case ::onnx::TypeProto::kSequenceType:
    return opaque("sequence");
  case ::onnx::TypeProto::kMapType:
    return opaque("map");
  case ::onnx::TypeProto::kOptionalType:
    return opaque("optional");
  case ::onnx::TypeProto::kSparseTensorType:
    return opaque("sparse tensor");
  default:
    return opaque("");
  }
  const auto &tensor = type.tensor_type();
  std::optional<DType> element = elementType(tensor.elem_type());
  if (!element)
    return opaque("tensor of " + elementTypeName(tensor.elem_type()));
  Type elementType = toType(builder.getContext(), *element);
  if (!tensor.has_shape())
    return UnrankedTensorType::get(elementType);
  SmallVector<int64_t> shape;
  for (const auto &dim : tensor.shape().dim()) {
    bool known = dim.has_dim_value() && dim.dim_value() >= 0;
    std::string symbol = known ? "" : symbolOf(dim.dim_param());
    shape.push_back(known ? dim.dim_value() : ShapedType::kDynamic);
    if (dims)
      dims->push_back(builder.getStringAttr(
          known || !symbol.empty() ? Twine(symbol) : name + "_dim" + Twine(shape.size() - 1)));
  }
  return RankedTensorType::get(shape, elementType);
}

void GraphImporter::importInputs(frontend::GraphOp graph, Scope &scope) {
  llvm::StringSet<> initializers;
  for (const auto &tensor : model.graph().initializer())
    initializers.insert(tensor.name());
  SmallVector<Attribute> names, allDims;
  for (const auto &input : model.graph().input()) {
    if (initializers.contains(input.name()))
      continue; // IR version 3 lists weights among the inputs; later it is a default value
    SmallVector<Attribute> dims;
    if (input.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET)
      error(fileLocation, "the input '" + input.name() +
                              "' has no type; a tensor has an element type and a shape: add them");
    Type type = typeOf(input.type(), input.name(), &dims);
    Value arg = graph.getBody().front().addArgument(
        type, NameLoc::get(builder.getStringAttr(input.name()), fileLocation));
    if (input.name().empty() || !scope.define(input.name(), arg))
      error(fileLocation, "graph '" + model.graph().name() + "' lists the input '" + input.name() +
                              "' twice or without a name; give each its own");
    names.push_back(builder.getStringAttr(input.name()));
    allDims.push_back(builder.getArrayAttr(dims));
  }
  graph.setInputsAttr(builder.getArrayAttr(names));
  graph.setDimsAttr(builder.getArrayAttr(allDims));
}

Value GraphImporter::outputOf(StringRef name, StringRef graph, Scope &scope) {
  if (name.empty())
    return absent();
  if (Value value = scope.find(name))
    return value;
  error(fileLocation, "graph '" + graph + "' lists the output '" + name +
                          "', which no node, input or initializer defines; correct the name or "
                          "remove the output");
  return absent();
}

OwningOpRef<ModuleOp> GraphImporter::importModel() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(fileLocation);
  builder.setInsertionPointToEnd(module->getBody());
  Surroundings around;
  if (!readOpsets(around))
    return {};
  SmallVector<NamedAttribute> opsets;
  for (auto &entry : around.opsets)
    opsets.push_back(builder.getNamedAttr(entry.getKey().empty() ? StringRef(frontend::onnxDomain)
                                                                 : entry.getKey(),
                                          builder.getI64IntegerAttr(entry.getValue())));
  ArrayAttr none = builder.getArrayAttr({});
  auto graph = frontend::GraphOp::create(builder, fileLocation, "main", model.ir_version(),
                                         builder.getDictionaryAttr(opsets), none, none, none, none);
  Block &block = graph.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&block);

  Scope scope;
  importInputs(graph, scope);
  importInitializers(model.graph(), /*isMain=*/true, scope);
  importNodes(model.graph().node(), model.graph().name(), scope, around);
  SmallVector<Attribute> names, allDims, declared;
  SmallVector<Value> values;
  if (model.graph().output().empty())
    error(fileLocation, "graph '" + model.graph().name() +
                            "' has no outputs; a model computes at least one: list it in "
                            "graph.output");
  for (const auto &output : model.graph().output()) {
    SmallVector<Attribute> dims;
    declared.push_back(TypeAttr::get(typeOf(output.type(), output.name(), &dims)));
    names.push_back(builder.getStringAttr(output.name()));
    allDims.push_back(builder.getArrayAttr(dims));
    values.push_back(outputOf(output.name(), model.graph().name(), scope));
  }
  graph.setOutputsAttr(builder.getArrayAttr(names));
  graph.setOutputDimsAttr(builder.getArrayAttr(allDims));
  graph->setAttr(frontend::declaredAttr, builder.getArrayAttr(declared));
  frontend::YieldOp::create(builder, fileLocation, values);

  SmallVector<StringRef> fileNames(files.begin(), files.end());
  module->getOperation()->setAttr(frontend::filesAttr, builder.getStrArrayAttr(fileNames));
  if (errors)
    return {};
  return module;
}
