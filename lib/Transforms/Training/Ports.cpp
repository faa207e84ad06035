//===- Ports.cpp - arguments and results of training functions ------------===//
#include "Ports.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

DictionaryAttr training::portAttrs(MLIRContext *context, StringRef name, StringRef kind,
                                   base::StateAttr state, std::optional<int64_t> alias) {
  Builder b(context);
  NamedAttrList attrs;
  attrs.set(base::nameAttr, b.getStringAttr(name));
  attrs.set(base::kindAttr, b.getStringAttr(kind));
  if (state)
    attrs.set(base::stateAttr, state);
  if (alias)
    attrs.set(base::aliasAttr, b.getI64IntegerAttr(*alias));
  return attrs.getDictionary(context);
}

StringRef training::nameOf(func::FuncOp f, unsigned i) {
  auto name = f.getArgAttrOfType<StringAttr>(i, base::nameAttr);
  return name ? name.getValue() : StringRef();
}
base::StateAttr training::stateOf(func::FuncOp f, unsigned i) {
  return f.getArgAttrOfType<base::StateAttr>(i, base::stateAttr);
}
bool training::isTrainable(func::FuncOp f, unsigned i) {
  base::StateAttr state = stateOf(f, i);
  return state && state.getRole() == base::StateRole::Param && state.getTrainable();
}

Value training::addArgument(func::FuncOp f, Type type, DictionaryAttr attrs) {
  unsigned index = f.getNumArguments();
  (void)f.insertArgument(index, type, attrs, f.getLoc());
  return f.getArgument(index);
}

void training::addResult(func::FuncOp f, Value value, DictionaryAttr attrs) {
  unsigned index = f.getNumResults();
  (void)f.insertResult(index, value.getType(), attrs);
  f.getBody().front().getTerminator()->insertOperands(index, value);
}

State training::addState(func::FuncOp f, StringRef name, Type type, base::StateAttr state) {
  unsigned index = f.getNumArguments();
  Value value = addArgument(f, type, portAttrs(f.getContext(), name, "state", state));
  return {value, index};
}

State training::getState(func::FuncOp f, StringRef name, Type type, base::StateAttr state) {
  for (unsigned i = 0; i < f.getNumArguments(); ++i)
    if (nameOf(f, i) == name && stateOf(f, i))
      return {f.getArgument(i), i};
  return addState(f, name, type, state);
}

void training::setState(func::FuncOp f, State state, Value newValue) {
  NamedAttrList attrs(f.getArgAttrDict(state.index));
  attrs.set(base::aliasAttr, Builder(f.getContext()).getI64IntegerAttr(state.index));
  addResult(f, newValue, attrs.getDictionary(f.getContext()));
}

void training::derivePlace(func::FuncOp f, State derived, DictionaryAttr parameter,
                           base::StateRole role) {
  Builder b(f.getContext());
  if (auto source = parameter.getAs<StringAttr>(base::sourceNameAttr)) {
    f.setArgAttr(derived.index, base::sourceNameAttr,
                 b.getStringAttr(derivedName(source.getValue(), role)));
    f.setArgAttr(derived.index, base::sourceShapeAttr, parameter.get(base::sourceShapeAttr));
  }
  if (Attribute weight = parameter.get(base::weightAttr); weight && role == base::StateRole::Master)
    f.setArgAttr(derived.index, base::weightAttr, weight);
}

std::string training::derivedName(StringRef parameter, base::StateRole role) {
  return (parameter + "." + base::stringifyStateRole(role)).str();
}
