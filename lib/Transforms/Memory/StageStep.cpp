//===- StageStep.cpp - forward and backward of a stage as one -------------===//
#include "StageStep.h"

#include "FunctionMemory.h"
#include "dialects/Base/Base.h"
#include "dialects/Dist/Dist.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

StageStep::StageStep(func::FuncOp forward, func::FuncOp backward)
    : forward(forward), backward(backward) {
  join();
}

//===-- Joining -----------------------------------------------------------===//

static std::string keyOf(DictionaryAttr attrs) {
  auto name = attrs ? attrs.getAs<StringAttr>(base::nameAttr) : StringAttr();
  auto kind = attrs ? attrs.getAs<StringAttr>(base::kindAttr) : StringAttr();
  return ((kind ? kind.getValue() : "") + ":" + (name ? name.getValue() : "")).str();
}

static IntegerAttr savedKey(DictionaryAttr attrs) {
  return attrs ? attrs.getAs<IntegerAttr>(dist::savedAttr) : IntegerAttr();
}

/// The argument of the joined function for one of a source; state and inputs of both are one.
Value StageStep::joinArgument(func::FuncOp source, unsigned index) {
  DictionaryAttr attrs = source.getArgAttrDict(index);
  Value &known = arguments[keyOf(attrs)];
  if (!known) {
    known = function.getBody().front().addArgument(source.getArgumentTypes()[index],
                                                   source.getArgument(index).getLoc());
    argumentAttrs.push_back(attrs);
  }
  return known;
}

/// Results but saved ones; an alias names the joined argument.
void StageStep::joinResults(func::FuncOp source, const IRMapping &mapping) {
  Builder b(source.getContext());
  for (auto [i, value] : llvm::enumerate(source.getBody().front().getTerminator()->getOperands())) {
    DictionaryAttr attrs = source.getResultAttrDict(static_cast<unsigned>(i));
    if (savedKey(attrs))
      continue;
    NamedAttrList list(attrs);
    if (auto alias = dyn_cast_or_null<IntegerAttr>(list.get(base::aliasAttr))) {
      Value argument = mapping.lookup(source.getArgument(static_cast<unsigned>(alias.getInt())));
      list.set(base::aliasAttr, b.getI64IntegerAttr(cast<BlockArgument>(argument).getArgNumber()));
      if (source == forward && mapping.lookup(value) != argument)
        overwrittenArguments.insert(argument);
    }
    results.push_back(mapping.lookup(value));
    resultAttrs.push_back(list.getDictionary(source.getContext()));
  }
}

void StageStep::join() {
  OpBuilder b(forward);
  function = func::FuncOp::create(b, forward.getLoc(), (forward.getName() + "_joined").str(),
                                  b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(function.addEntryBlock());
  IRMapping mapping;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i)
    mapping.map(forward.getArgument(i), joinArgument(forward, i));
  for (Operation &op : forward.getBody().front().without_terminator())
    b.clone(op, mapping)->removeAttr(base::backwardAttr);
  joinResults(forward, mapping);
  numForwardResults = results.size();
  std::map<int64_t, Value> handed;
  for (auto [i, value] : llvm::enumerate(forward.getBody().front().getTerminator()->getOperands()))
    if (IntegerAttr key = savedKey(forward.getResultAttrDict(static_cast<unsigned>(i))))
      handed[key.getInt()] = mapping.lookup(value);
  for (unsigned i = 0; i < backward.getNumArguments(); ++i) {
    IntegerAttr key = savedKey(backward.getArgAttrDict(i));
    mapping.map(backward.getArgument(i), key ? handed.at(key.getInt()) : joinArgument(backward, i));
  }
  for (Operation &op : backward.getBody().front().without_terminator())
    b.clone(op, mapping)->setAttr(base::backwardAttr, b.getUnitAttr());
  joinResults(backward, mapping);
  func::ReturnOp::create(b, forward.getLoc(), results);
  function.setFunctionType(b.getFunctionType(function.getBody().front().getArgumentTypes(),
                                             llvm::to_vector(ValueRange(results).getTypes())));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);
}

//===-- Splitting ---------------------------------------------------------===//

Value StageStep::backwardArgument(Value joinedValue, DictionaryAttr attrs) {
  Value argument =
      backward.getBody().front().addArgument(joinedValue.getType(), joinedValue.getLoc());
  backwardAttrs.push_back(attrs);
  toBackward.map(joinedValue, argument);
  return argument;
}

/// The joined function's value in backward: made there, an argument, made again for nothing, or
/// saved by forward.
Value StageStep::bring(Value value) {
  if (Value known = toBackward.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && !overwrittenArguments.contains(value))
    return backwardArgument(value, argumentAttrs[argument.getArgNumber()]);
  Operation *op = value.getDefiningOp();
  OpBuilder b = OpBuilder::atBlockEnd(&backward.getBody().front());
  if (op && isFree(op)) {
    for (Value operand : op->getOperands())
      bring(operand);
    b.clone(*op, toBackward);
    return toBackward.lookup(value);
  }
  NamedAttrList attrs;
  attrs.append(dist::savedAttr, b.getI64IntegerAttr(static_cast<int64_t>(saved.size())));
  saved.push_back(value);
  return backwardArgument(value, attrs.getDictionary(b.getContext()));
}

void StageStep::splitBackward() {
  Block &block = backward.getBody().front();
  block.clear();
  block.eraseArguments(0, block.getNumArguments());
  OpBuilder b = OpBuilder::atBlockEnd(&block);
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (!op.hasAttr(base::backwardAttr))
      continue;
    for (Value operand : op.getOperands())
      bring(operand);
    b.clone(op, toBackward);
  }
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs;
  for (size_t i = numForwardResults; i < results.size(); ++i) {
    NamedAttrList list(resultAttrs[i]);
    if (auto alias = dyn_cast_or_null<IntegerAttr>(list.get(base::aliasAttr))) {
      Value argument = bring(function.getArgument(static_cast<unsigned>(alias.getInt())));
      list.set(base::aliasAttr, b.getI64IntegerAttr(cast<BlockArgument>(argument).getArgNumber()));
    }
    values.push_back(bring(results[i]));
    attrs.push_back(list.getDictionary(b.getContext()));
  }
  func::ReturnOp::create(b, backward.getLoc(), values);
  backward.setFunctionType(
      b.getFunctionType(block.getArgumentTypes(), llvm::to_vector(ValueRange(values).getTypes())));
  backward.setAllArgAttrs(backwardAttrs);
  backward.setAllResultAttrs(attrs);
}

/// Ops that only backward wanted and now repeats run no more here.
static void eraseUnused(Block &block) {
  for (Operation *op = block.getTerminator()->getPrevNode(); op;) {
    Operation *before = op->getPrevNode();
    if (op->use_empty() && isMemoryEffectFree(op))
      op->erase();
    op = before;
  }
}

void StageStep::splitForward() {
  Block &block = forward.getBody().front();
  block.clear();
  OpBuilder b = OpBuilder::atBlockEnd(&block);
  IRMapping mapping;
  for (BlockArgument argument : block.getArguments()) // they came first when joining
    mapping.map(function.getArgument(argument.getArgNumber()), argument);
  for (Operation &op : function.getBody().front().without_terminator())
    if (!op.hasAttr(base::backwardAttr))
      b.clone(op, mapping);
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs(resultAttrs.begin(), resultAttrs.begin() + numForwardResults);
  for (size_t i = 0; i < numForwardResults; ++i)
    values.push_back(mapping.lookup(results[i]));
  for (auto [key, value] : llvm::enumerate(saved)) {
    values.push_back(mapping.lookup(value));
    attrs.push_back(b.getDictionaryAttr(
        b.getNamedAttr(dist::savedAttr, b.getI64IntegerAttr(static_cast<int64_t>(key)))));
  }
  func::ReturnOp::create(b, forward.getLoc(), values);
  forward.setFunctionType(
      b.getFunctionType(block.getArgumentTypes(), llvm::to_vector(ValueRange(values).getTypes())));
  forward.setAllResultAttrs(attrs);
  eraseUnused(block);
}

void StageStep::split() {
  results.assign(function.getBody().front().getTerminator()->operand_begin(),
                 function.getBody().front().getTerminator()->operand_end());
  splitBackward();
  splitForward();
  function.erase();
}
