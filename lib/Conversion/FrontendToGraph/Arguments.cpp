//===- Arguments.cpp - inputs, weights, state and results of a model ------===//
#include "lib/Conversion/FrontendToGraph/ModelConverter.h"

#include "dialects/Base/VaryingAttrs.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

DictionaryAttr ModelConverter::valueAttributes(StringRef name, StringRef kind, Attribute dims) {
  SmallVector<NamedAttribute> attrs = {
      builder.getNamedAttr(base::nameAttr, builder.getStringAttr(name)),
      builder.getNamedAttr(base::kindAttr, builder.getStringAttr(kind))};
  if (dims)
    attrs.push_back(builder.getNamedAttr(base::dimsAttr, dims));
  return builder.getDictionaryAttr(attrs);
}

/// Binds the symbols of one input; none (after an error) when that is not possible.
static std::optional<Dims> boundShape(RankedTensorType type, ArrayAttr dims,
                                      const ProfileBinding &profile) {
  Dims shape(type.getShape());
  for (auto [d, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size)) {
      auto it = profile.sizes.find(cast<StringAttr>(dims[d]).getValue().str());
      if (it == profile.sizes.end())
        return std::nullopt; // checkProfiles has complained
      size = it->second;
    }
  return shape;
}

bool ModelConverter::makeArguments() {
  bool fine = true;
  for (auto [argument, nameAttr, dims] :
       llvm::zip(source.getBody().getArguments(), source.getInputs(), source.getDims())) {
    StringRef name = cast<StringAttr>(nameAttr).getValue();
    Type type = argument.getType();
    if (isa<frontend::ValueType>(type))
      continue; // whoever reads it says what is missing
    if (auto given = options.constantInputs.find(name.str());
        given != options.constantInputs.end()) {
      g.location = argument.getLoc();
      values[argument] = g.constant(given->second);
      continue;
    }
    std::optional<Dims> shape;
    Type element = cast<TensorType>(type).getElementType();
    if (auto given = options.inputShapes.find(name.str()); given != options.inputShapes.end())
      shape = Dims(given->second.begin(), given->second.end());
    else if (auto ranked = dyn_cast<RankedTensorType>(type))
      shape = boundShape(ranked, cast<ArrayAttr>(dims), profile);
    else
      emitError(argument.getLoc())
          << "input '" << name
          << "' has no shape in the model; a tensor has sizes or names for its dimensions: "
             "add them";
    if (!shape) {
      worsen(outcome.status, frontend::Status::BadInput);
      fine = false;
      continue;
    }
    if (tooLarge(*shape) || static_cast<int64_t>(shape->size()) > maxRank) {
      auto diag = emitError(argument.getLoc()) << "input '" << name << "' has ";
      if (tooLarge(*shape))
        diag << "more than 2^40 elements, which is what is allowed; choose smaller sizes";
      else
        diag << shape->size() << " dimensions; at most " << maxRank
             << " are allowed: merge some of them";
      worsen(outcome.status, frontend::Status::BadInput);
      fine = false;
      continue;
    }
    Value value = entry->addArgument(RankedTensorType::get(*shape, element), argument.getLoc());
    values[argument] = value;
    inputNames[value] = name.str();
    bool named = llvm::any_of(cast<ArrayAttr>(dims),
                              [](Attribute a) { return !cast<StringAttr>(a).getValue().empty(); });
    argumentAttributes.push_back(valueAttributes(name, "input", named ? dims : Attribute()));
  }
  return fine;
}

graph::WeightDataOp ModelConverter::weightData(frontend::InitializerOp op) {
  StringRef name = op.getName();
  graph::WeightDataOp &entryOf = weightTable[name];
  if (entryOf)
    return entryOf;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*module.getOps<func::FuncOp>().begin()); // the table stands first
  // The symbol is the initializer's name; only a clash with a function or program, here or in a
  // later phase, changes it.
  std::string symbol = name.str();
  if (name == "step" || name == "update" || name.starts_with("main") || name.starts_with("stage"))
    symbol += ".weight";
  while (Operation *taken = module.lookupSymbol(symbol)) {
    // Another profile has made the entry already.
    auto same = dyn_cast<graph::WeightDataOp>(taken);
    if (same && same.getType() == op.getType() && same.getFile() == *op.getFile() &&
        same.getOffset() == *op.getOffset())
      return entryOf = same;
    symbol += ".weight";
  }
  return entryOf = graph::WeightDataOp::create(
             builder, op.getLoc(), symbol, cast<RankedTensorType>(op.getType()),
             static_cast<int64_t>(*op.getFile()), static_cast<int64_t>(*op.getOffset()),
             static_cast<int64_t>(*op.getBytes()));
}

Value ModelConverter::stateArgument(frontend::InitializerOp op, RankedTensorType type) {
  graph::WeightDataOp data = weightData(op);
  Value value = entry->addArgument(type, op.getLoc());
  NamedAttrList attrs(valueAttributes(op.getName(), "state", Attribute()));
  if (data.getSymName() != op.getName())
    attrs.set(base::weightAttr, data.getSymNameAttr());
  attrs.set(base::stateAttr, base::StateAttr::get(builder.getContext(), base::StateRole::Param, "",
                                                  /*trainable=*/true, {}));
  argumentAttributes.push_back(attrs.getDictionary(builder.getContext()));
  return value;
}

/// Scalars are constants, under training too (they are never trained).
Value ModelConverter::weight(frontend::InitializerOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  OpBuilder::InsertionGuard guard(builder);
  if (entry->empty())
    builder.setInsertionPointToStart(entry);
  else
    builder.setInsertionPointToEnd(entry);
  bool state = options.train && isa<FloatType>(type.getElementType()) && type.getRank() > 0;
  if (ElementsAttr value = op.getValueAttr()) {
    if (!state)
      return graph::ConstantOp::create(builder, op.getLoc(), value);
    worsen(outcome.status, frontend::Status::BadInput);
    emitError(op.getLoc()) << "initializer '" << op.getName()
                           << "' is not stored as plain bytes, so it cannot be trained from its "
                              "file; save the model with raw_data (onnx.save of a model made by "
                              "numpy_helper.from_array)";
    return {};
  }
  if (state)
    return stateArgument(op, type);
  graph::WeightDataOp data = weightData(op);
  return graph::WeightOp::create(builder, op.getLoc(), type, data.getSymName(), type,
                                 ArrayRef<int64_t>());
}

void ModelConverter::updateStatistic(Value value, Value next) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != entry || inputNames.contains(value))
    return;
  NamedAttrList attrs(argumentAttributes[argument.getArgNumber()]);
  attrs.set(base::stateAttr, base::StateAttr::get(builder.getContext(), base::StateRole::Stat, "",
                                                  /*trainable=*/false, {}));
  argumentAttributes[argument.getArgNumber()] = attrs.getDictionary(builder.getContext());
  statistics[value] = next;
}

Value ModelConverter::stepCounter() {
  if (counter)
    return counter;
  counter = entry->addArgument(RankedTensorType::get({}, builder.getI64Type()), source.getLoc());
  NamedAttrList attrs(valueAttributes("step", "state", Attribute()));
  attrs.set(base::stateAttr, base::StateAttr::get(builder.getContext(), base::StateRole::Counter,
                                                  "", /*trainable=*/false, {}));
  argumentAttributes.push_back(attrs.getDictionary(builder.getContext()));
  return counter;
}

/// What the file says about an output is not used. Another shape than the computed one is a
/// warning, for exporters write old ones; another element type is a mistake on one of the sides.
bool ModelConverter::compareDeclared(StringRef name, unsigned index, ArrayAttr dims,
                                     Value computed) {
  auto all = source->getAttrOfType<ArrayAttr>(frontend::declaredAttr);
  auto declared = all ? dyn_cast<TensorType>(cast<TypeAttr>(all[index]).getValue()) : TensorType();
  if (!declared)
    return true;
  RankedTensorType type = typeOf(computed);
  if (declared.getElementType() != type.getElementType()) {
    worsen(outcome.status, frontend::Status::BadInput);
    emitError(computed.getLoc())
        << "output '" << name << "' is declared with elements of type " << declared.getElementType()
        << ", the model computes " << type.getElementType()
        << "; both must be the same: correct the declaration or add a Cast";
    return false;
  }
  if (varyingOf(computed)) // its shape is a bound
    return true;
  bool same = !declared.hasRank() || declared.getRank() == type.getRank();
  if (declared.hasRank() && same)
    for (auto [d, written] : llvm::enumerate(declared.getShape())) {
      auto bound = profile.sizes.find(cast<StringAttr>(dims[d]).getValue().str());
      int64_t size =
          ShapedType::isDynamic(written) && bound != profile.sizes.end() ? bound->second : written;
      same &= ShapedType::isDynamic(size) || size == type.getDimSize(static_cast<unsigned>(d));
    }
  if (!same)
    emitWarning(source.getLoc()) << "output '" << name << "' is declared as " << declared
                                 << ", the model computes " << type
                                 << ", which is used; correct the declaration or the model";
  return true;
}

/// What a plan says of an output whose size a run computes; false where it cannot be one.
bool ModelConverter::addVaryingSize(Value result, NamedAttrList &attrs) {
  const Varying *size = varyingOf(result);
  if (!size)
    return true;
  StringRef name = cast<StringAttr>(attrs.get(base::nameAttr)).getValue();
  if (elementOf(result).getIntOrFloatBitWidth() == 4) {
    worsen(outcome.status, frontend::Status::Unsupported);
    outcome.missing.push_back({name.str(), "output", 0,
                               "its size depends on values of a run, and its elements are two to "
                               "a byte; cast it to a wider type"});
    return false;
  }
  std::string &counter = counts[size->count];
  if (counter.empty()) {
    auto taken = [&](StringRef text) {
      return llvm::any_of(source.getOutputs().getValue(),
                          [&](Attribute a) { return cast<StringAttr>(a) == text; }) ||
             llvm::any_of(inputNames, [&](const auto &input) { return input.second == text; });
    };
    counter = (name + ".count").str();
    while (taken(counter))
      counter += "_";
  }
  attrs.set(base::varyingDimAttr, builder.getI64IntegerAttr(size->dim));
  attrs.set(base::countAttr, builder.getStringAttr(counter));
  if (auto dims = dyn_cast_or_null<ArrayAttr>(attrs.get(base::dimsAttr))) {
    SmallVector<Attribute> names(dims.getValue());
    names[static_cast<size_t>(size->dim)] = builder.getStringAttr(""); // no profile binds it
    if (llvm::all_of(names, [](Attribute a) { return cast<StringAttr>(a).getValue().empty(); }))
      attrs.erase(base::dimsAttr);
    else
      attrs.set(base::dimsAttr, builder.getArrayAttr(names));
  }
  return true;
}

/// The counts of such outputs, each once, as results of their own.
void ModelConverter::addCounts() {
  for (const auto &[value, name] : counts) {
    resultValues.push_back(value);
    resultAttributes.push_back(valueAttributes(name, "count", Attribute()));
  }
}

bool ModelConverter::makeResults(frontend::YieldOp yield) {
  bool fine = true;
  for (auto [index, value, nameAttr, dims] :
       llvm::enumerate(yield.getValues(), source.getOutputs(), source.getOutputDims())) {
    StringRef name = cast<StringAttr>(nameAttr).getValue();
    Value converted = valueOf(value);
    if (!converted) {
      fine = false;
      auto type = dyn_cast<frontend::ValueType>(value.getType());
      if (value.getDefiningOp<frontend::AbsentOp>()) {
        worsen(outcome.status, frontend::Status::BadInput);
        emitError(source.getLoc()) << "output " << index
                                   << " has no name; an output is the name of a value: give it one, or remove it";
      } else if (listOf(value)) {
        worsen(outcome.status, frontend::Status::Unsupported);
        outcome.missing.push_back({name.str(), "output", 0,
                                   "it is a sequence, which a plan cannot return; make its tensors "
                                   "outputs, or join them with ConcatFromSequence"});
      } else if (type && !type.getWhat().empty() && !value.getDefiningOp<frontend::NodeOp>()) {
        worsen(outcome.status, frontend::Status::Unsupported);
        outcome.missing.push_back(
            {name.str(), "output", 0,
             "it is a " + type.getWhat().str() + ", a type that gpucc does not have"});
      } else if (outcome.status == frontend::Status::Ok) { // nobody has said why
        worsen(outcome.status, frontend::Status::BadInput);
        emitError(value.getLoc()) << "output '" << name
                                  << "' gets no value: a body on its way has an output without a name; an output is "
                                     "the name of a value: give it one, or remove it";
      }
      continue;
    }
    auto names = cast<ArrayAttr>(dims);
    fine &= compareDeclared(name, index, names, converted);
    if (rankOf(converted) > maxRank) { // of a weight or a constant; builders refuse all others
      worsen(outcome.status, frontend::Status::BadInput);
      emitError(converted.getLoc()) << "output '" << name << "' has " << rankOf(converted)
                                    << " dimensions; at most " << maxRank << " are allowed";
      fine = false;
    }
    bool useful =
        static_cast<int64_t>(names.size()) == rankOf(converted) &&
        llvm::any_of(names, [](Attribute a) { return !cast<StringAttr>(a).getValue().empty(); });
    resultValues.push_back(converted);
    NamedAttrList attrs(valueAttributes(name, "output", useful ? names : Attribute()));
    fine &= addVaryingSize(converted, attrs);
    resultAttributes.push_back(attrs.getDictionary(builder.getContext()));
  }
  addCounts();
  for (auto [argument, next] : statistics) {
    unsigned index = cast<BlockArgument>(argument).getArgNumber();
    NamedAttrList attrs(argumentAttributes[index]);
    attrs.set(base::aliasAttr, builder.getI64IntegerAttr(index));
    resultValues.push_back(next);
    resultAttributes.push_back(attrs.getDictionary(builder.getContext()));
  }
  return fine;
}

void ModelConverter::finishFunction(StringRef name, bool withProfile) {
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, source.getLoc(), resultValues);
  function.setFunctionType(
      builder.getFunctionType(entry->getArgumentTypes(), ValueRange(resultValues).getTypes()));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
  if (withProfile) {
    SmallVector<StringAttr> symbols;
    SmallVector<int64_t> sizes;
    for (const auto &[symbol, size] : profile.sizes) {
      symbols.push_back(builder.getStringAttr(symbol));
      sizes.push_back(size);
    }
    function->setAttr(base::profileAttr,
                      base::ProfileAttr::get(builder.getContext(), profile.name, symbols, sizes));
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
}
