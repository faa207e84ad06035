//===- LeavesRules.cpp - how leaves are split, what they cost -------------===//
//
// A leaf can be split along every dimension: each rank makes its own block. A
// constant that is not a splat, and a weight, are cut out of the whole by the
// rank's offsets (the plan writer turns such a slice of a weight into a recipe
// per rank, so that no rank stores the rest).
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Facts.h"
#include "dialects/Graph/Rules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

/// Every dimension of result 0 a loop; operands are scalars.
static Rule leafRule(Operation *op) {
  Rule rule;
  Rule::Dims dims;
  for (int64_t size : tensorOf(op->getResult(0)).getShape())
    dims.push_back({rule.factor(size)});
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    rule.operand({});
  rule.result(dims);
  return rule;
}

static OpFacts writeFacts(Operation *op) {
  OpFacts f;
  f.bytesWritten = bytes(op->getResult(0));
  return f;
}

ShardingRule ConstantOp::getShardingRule() { return leafRule(*this); }
ShardingRule WeightOp::getShardingRule() { return leafRule(*this); }
ShardingRule IotaOp::getShardingRule() { return leafRule(*this); }
ShardingRule RngUniformOp::getShardingRule() { return leafRule(*this); }

SmallVector<Value> ConstantOp::buildLocal(OpBuilder &builder, ValueRange, TypeRange resultTypes,
                                          ArrayRef<Value> offsets) {
  GraphBuilder g(builder, getLoc());
  auto local = cast<RankedTensorType>(resultTypes[0]);
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (dense && dense.isSplat())
    return {ConstantOp::create(builder, getLoc(), dense.resizeSplat(local))};
  return {localBlock(g, ConstantOp::create(builder, getLoc(), getValue()), local, offsets)};
}

SmallVector<Value> WeightOp::buildLocal(OpBuilder &builder, ValueRange, TypeRange resultTypes,
                                        ArrayRef<Value> offsets) {
  GraphBuilder g(builder, getLoc());
  auto whole = cast<WeightOp>(builder.clone(**this));
  return {localBlock(g, whole, cast<RankedTensorType>(resultTypes[0]), offsets)};
}

SmallVector<Value> IotaOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes, ArrayRef<Value> offsets) {
  GraphBuilder g(builder, getLoc());
  Value start = operands.empty() ? Value() : operands[0];
  if (Value offset = offsets.empty() ? Value() : offsets[getDim()])
    start = start ? g.add(start, offset) : offset;
  return {
      IotaOp::create(builder, getLoc(), start, cast<RankedTensorType>(resultTypes[0]), getDim())};
}

SmallVector<Value> RngUniformOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                            TypeRange resultTypes, ArrayRef<Value> offsets) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> sums(operands.drop_front());
  if (!offsets.empty())
    sums = addOffsets(g, operands.drop_front(), offsets);
  return {RngUniformOp::create(builder, getLoc(), operands[0], sums,
                               cast<RankedTensorType>(resultTypes[0]), getSeed(), getOrdinal(),
                               getGlobalShape())};
}

OpFacts ConstantOp::getFacts() { return writeFacts(*this); }
OpFacts WeightOp::getFacts() { return {}; } // the weight lies in memory already

OpFacts IotaOp::getFacts() {
  OpFacts f = writeFacts(*this);
  f.aluFlops = elements(getResult());
  return f;
}

/// Philox4x32-10: ten rounds of about eight integer operations for four numbers.
OpFacts RngUniformOp::getFacts() {
  OpFacts f = writeFacts(*this);
  f.aluFlops = 25 * elements(getResult());
  return f;
}
