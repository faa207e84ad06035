//===- Frontend.cpp - registration and verifiers of the frontend dialect --===//
#include "dialects/Frontend/Frontend.h"
#include "gpucc/Support/Types.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc::frontend;

#include "dialects/Frontend/FrontendDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Frontend/FrontendTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Frontend/Frontend.cpp.inc"

void FrontendDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Frontend/FrontendTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Frontend/Frontend.cpp.inc"
      >();
}

/// C2 of frontend.graph for one value.
static LogicalResult verifyDims(GraphOp op, StringRef what, StringRef name, Attribute names,
                                Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto list = dyn_cast<ArrayAttr>(names);
  if (!list || !llvm::all_of(list, [](Attribute a) { return isa<StringAttr>(a); }))
    return op.emitOpError() << "(C2) names of the dimensions of " << what << " '" << name
                            << "' must be an array of strings";
  if (!tensor)
    return success();
  if (static_cast<int64_t>(list.size()) != tensor.getRank())
    return op.emitOpError() << "(C2) " << what << " '" << name << "' has " << tensor.getRank()
                            << " dimensions but " << list.size() << " dimension names";
  for (auto [d, entry] : llvm::enumerate(list))
    if (tensor.isDynamicDim(d) && cast<StringAttr>(entry).getValue().empty())
      return op.emitOpError() << "(C2) dimension " << d << " of " << what << " '" << name
                              << "' is unknown and has no name; give it one so that a profile "
                                 "can bind it";
  return success();
}

/// (C3) and (C4) of frontend.graph for one output; `declared` is null where the file says nothing.
static LogicalResult verifyOutput(GraphOp op, StringRef name, Attribute dims, Attribute declared) {
  auto list = dyn_cast<ArrayAttr>(dims);
  if (!list || !llvm::all_of(list, [](Attribute a) { return isa<StringAttr>(a); }))
    return op.emitOpError() << "(C3) names of the dimensions of output '" << name
                            << "' must be an array of strings";
  if (!declared)
    return success();
  auto type = dyn_cast<TypeAttr>(declared);
  if (!type)
    return op.emitOpError() << "(C4) output '" << name << "' is declared as " << declared << "; '"
                            << declaredAttr << "' holds one type per output";
  auto tensor = dyn_cast<RankedTensorType>(type.getValue());
  if (tensor && tensor.getRank() != static_cast<int64_t>(list.size()))
    return op.emitOpError() << "(C4) output '" << name << "' is declared as " << tensor << " with "
                            << list.size() << " dimension names; give one per dimension";
  return success();
}

static LogicalResult verifyOutputs(GraphOp op) {
  Attribute all = op->getAttr(declaredAttr);
  auto declared = dyn_cast_or_null<ArrayAttr>(all);
  if (all && (!declared || declared.size() != op.getOutputs().size()))
    return op.emitOpError() << "(C4) '" << declaredAttr << "' is " << all << "; expected an array "
                            << "with one type per output (" << op.getOutputs().size() << ")";
  for (auto [i, name, dims] : llvm::enumerate(op.getOutputs(), op.getOutputDims()))
    if (failed(verifyOutput(op, cast<StringAttr>(name).getValue(), dims,
                            declared ? declared[i] : Attribute())))
      return failure();
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  Block &block = getBody().front();
  if (getInputs().size() != block.getNumArguments() || getDims().size() != getInputs().size())
    return emitOpError() << "(C1) " << block.getNumArguments() << " arguments, but "
                         << getInputs().size() << " names and " << getDims().size()
                         << " lists of dimension names";
  for (auto [name, dims, arg] : llvm::zip(getInputs(), getDims(), block.getArguments()))
    if (failed(verifyDims(*this, "input", cast<StringAttr>(name).getValue(), dims, arg.getType())))
      return failure();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError() << "(C3) must end in frontend.yield";
  if (yield.getValues().size() != getOutputs().size() ||
      getOutputDims().size() != getOutputs().size())
    return emitOpError() << "(C3) yields " << yield.getValues().size() << " values, but has "
                         << getOutputs().size() << " output names and " << getOutputDims().size()
                         << " lists of dimension names";
  return verifyOutputs(*this);
}

LogicalResult InitializerOp::verify() {
  bool reference = getFile() && getOffset() && getBytes();
  bool anyReference = getFile() || getOffset() || getBytes();
  if (getValue() ? anyReference : !reference)
    return emitOpError() << "(C1) '" << getName()
                         << "' needs either 'value', or 'file', 'offset' and 'bytes'";
  if (getValue()) {
    if (getValue()->getType() != getType())
      return emitOpError() << "(C4) the value of '" << getName() << "' is a "
                           << getValue()->getType() << ", the result a " << getType();
    return success();
  }
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto files = module ? module->getAttrOfType<ArrayAttr>(filesAttr) : ArrayAttr();
  int64_t count = files ? files.size() : 0;
  if (static_cast<int64_t>(*getFile()) < 0 || static_cast<int64_t>(*getFile()) >= count)
    return emitOpError() << "(C2) '" << getName() << "' lies in file " << *getFile()
                         << ", but the module's frontend.files has " << count << " entries";
  auto tensor = dyn_cast<RankedTensorType>(getType());
  auto dtype = tensor ? toDType(tensor.getElementType()) : std::nullopt;
  if (!dtype || !tensor.hasStaticShape())
    return emitOpError() << "(C3) '" << getName() << "' has type " << getType()
                         << "; stored tensors have a static shape and an element type of gpucc";
  int64_t need = byteSize(*dtype, tensor.getNumElements());
  if (need != static_cast<int64_t>(*getBytes()) || static_cast<int64_t>(*getOffset()) < 0)
    return emitOpError() << "(C3) '" << getName() << "' has " << *getBytes() << " bytes at offset "
                         << *getOffset() << "; its type " << getType() << " takes " << need;
  return success();
}

LogicalResult NodeOp::verify() {
  if (getNames().size() != getNumResults())
    return emitOpError() << "(C1) '" << getNode() << "' has " << getNumResults() << " results but "
                         << getNames().size() << " names";
  if (getBodyNames().size() != getBodies().size())
    return emitOpError() << "(C2) '" << getNode() << "' has " << getBodies().size()
                         << " regions but " << getBodyNames().size() << " names of them";
  if (static_cast<int64_t>(getVersion()) < 1)
    return emitOpError() << "(C3) version " << getVersion() << " of '" << getNode()
                         << "' is below 1";
  return success();
}
