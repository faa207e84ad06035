//===- StageFunction.cpp - a function of one stage, built op by op -------===//
#include "StageFunction.h"

using namespace mlir;
using namespace gpucc;

StageFunction::StageFunction(func::FuncOp source, int64_t stage, StringRef segment)
    : source(source), stageNumber(stage), opBuilder(source) {
  std::string name = ("stage" + Twine(stage) + "_" + segment).str();
  target =
      func::FuncOp::create(opBuilder, source.getLoc(), name, opBuilder.getFunctionType({}, {}));
  target->setAttr(dist::stageAttr, opBuilder.getI64IntegerAttr(stage));
  target->setAttr(base::segmentAttr, opBuilder.getStringAttr(segment));
  if (Attribute profile = source->getAttr(base::profileAttr))
    target->setAttr(base::profileAttr, profile);
  opBuilder.setInsertionPointToEnd(target.addEntryBlock());
}

Value StageFunction::addArgument(Type type, Location loc, DictionaryAttr attrs) {
  argumentAttrs.push_back(attrs);
  return target.getBody().front().addArgument(type, loc);
}

Value StageFunction::argument(BlockArgument argument) {
  if (!has(argument)) {
    indices[argument.getArgNumber()] = static_cast<unsigned>(argumentAttrs.size());
    put(argument, addArgument(argument.getType(), argument.getLoc(),
                              source.getArgAttrDict(argument.getArgNumber())));
  }
  return at(argument);
}

unsigned StageFunction::argumentIndex(BlockArgument value) {
  argument(value);
  return indices.lookup(value.getArgNumber());
}

/// `dist.saved = key` and the value's sharding.
static DictionaryAttr savedAttrs(OpBuilder &builder, Value value, int64_t key) {
  NamedAttrList attrs;
  attrs.append(dist::savedAttr, builder.getI64IntegerAttr(key));
  if (auto sharding = dist::getSharding(value))
    attrs.append(dist::shardingAttr, dist::ShardingAttr::get(builder.getContext(), *sharding));
  return attrs.getDictionary(builder.getContext());
}

Value StageFunction::savedArgument(Value value, int64_t key) {
  Value here = addArgument(value.getType(), value.getLoc(), savedAttrs(opBuilder, value, key));
  put(value, here);
  return here;
}

Operation *StageFunction::clone(Operation *op) {
  Operation *copy = opBuilder.clone(*op, mapping);
  copy->setAttr(dist::stageAttr, opBuilder.getI64IntegerAttr(stageNumber));
  return copy;
}

void StageFunction::sendTo(Value value, int64_t stage, int64_t channel) {
  OpBuilder::InsertionGuard guard(opBuilder);
  Value here = at(value);
  if (Operation *op = here.getDefiningOp())
    opBuilder.setInsertionPointAfter(op);
  else
    opBuilder.setInsertionPointToStart(&target.getBody().front());
  dist::SendOp::create(opBuilder, value.getLoc(), here, stage, channel);
}

Value StageFunction::receive(Value value, int64_t stage, int64_t channel) {
  Value here = dist::RecvOp::create(opBuilder, value.getLoc(), value.getType(), stage, channel);
  if (auto sharding = dist::getSharding(value))
    dist::setSharding(here, *sharding);
  put(value, here);
  return here;
}

void StageFunction::result(Value value, unsigned index) {
  results.push_back(value);
  resultAttrs.push_back(source.getResultAttrDict(index));
}

void StageFunction::savedResult(Value value, int64_t key) {
  resultAttrs.push_back(savedAttrs(opBuilder, value, key));
  results.push_back(at(value));
}

void StageFunction::stateResult(Value value, unsigned index, BlockArgument state) {
  NamedAttrList attrs(source.getResultAttrDict(index));
  attrs.set(base::aliasAttr, opBuilder.getI64IntegerAttr(argumentIndex(state)));
  results.push_back(value);
  resultAttrs.push_back(attrs.getDictionary(opBuilder.getContext()));
}

func::FuncOp StageFunction::finish() {
  Block &block = target.getBody().front();
  func::ReturnOp::create(opBuilder, source.getLoc(), results);
  for (Operation *op = block.getTerminator()->getPrevNode(); op;) {
    Operation *before = op->getPrevNode();
    if (op->use_empty() && isMemoryEffectFree(op))
      op->erase();
    op = before;
  }
  SmallVector<Type> resultTypes;
  for (Value value : results)
    resultTypes.push_back(value.getType());
  target.setFunctionType(opBuilder.getFunctionType(block.getArgumentTypes(), resultTypes));
  target.setAllArgAttrs(argumentAttrs);
  target.setAllResultAttrs(resultAttrs);
  return target;
}
