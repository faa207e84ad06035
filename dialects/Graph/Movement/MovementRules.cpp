//===- MovementRules.cpp - how movement is split, what it costs -----------===//
//
//   slice x[8,16] to [8,4]: 8 is a loop of both; 16 and 4 are needed whole
//   gather data[V,D], ids[N]: V whole, D and N parallel
//   scatter sum of zeros[V,D], ids[N], updates[N,D]: N is summed over
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Facts.h"
#include "dialects/Graph/Movement/ReshapeRule.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

ShardingRule ReshapeOp::getShardingRule() {
  return reshapeRule(tensorOf(getX()).getShape(), getShape());
}

ShardingRule TransposeOp::getShardingRule() {
  Rule rule;
  Rule::Dims x, y;
  for (int64_t size : tensorOf(getX()).getShape())
    x.push_back({rule.factor(size)});
  for (int64_t p : getPermutation())
    y.push_back(x[p]);
  return rule.operand(x).result(y).linearIn({true});
}

ShardingRule BroadcastOp::getShardingRule() {
  RankedTensorType x = tensorOf(getX());
  Rule rule;
  Rule::Dims operand(x.getRank()), result;
  for (int64_t size : getShape())
    result.push_back({rule.factor(size)});
  for (auto [d, to] : llvm::enumerate(getDims()))
    if (x.getDimSize(d) == getShape()[to])
      operand[d] = result[to];
  return rule.operand(operand).result(result).linearIn({true});
}

ShardingRule SliceOp::getShardingRule() {
  Rule rule;
  Rule::Dims x, y;
  for (auto [d, size] : llvm::enumerate(tensorOf(getX()).getShape())) {
    bool full = getSizes()[d] == size && getStrides()[d] == 1;
    x.push_back({full ? rule.factor(size) : rule.whole(size)});
    y.push_back({full ? x.back()[0] : rule.whole(getSizes()[d])});
  }
  rule.operand(x).result(y);
  for (size_t i = 0; i < getOffsets().size(); ++i)
    rule.operand({});
  ShardingRule out = rule;
  out.linearIn.assign(out.operands.size(), false);
  out.linearIn[0] = true;
  return out;
}

ShardingRule PadOp::getShardingRule() {
  Rule rule;
  Rule::Dims x, y;
  RankedTensorType type = tensorOf(getX());
  for (auto [d, size] : llvm::enumerate(tensorOf(getResult()).getShape())) {
    bool bare = !getLow()[d] && !getHigh()[d] && !getInterior()[d];
    x.push_back({bare ? rule.factor(size) : rule.whole(type.getDimSize(d))});
    y.push_back({bare ? x.back()[0] : rule.whole(size)});
  }
  rule.operand(x).result(y);
  if (!getValue())
    return rule.linearIn({true});
  return rule.operand({}).linearIn({isZero(getValue()), false}).linearTogether({true, true});
}

ShardingRule ConcatOp::getShardingRule() {
  Rule rule;
  Rule::Dims shared;
  RankedTensorType result = tensorOf(getResult());
  int64_t dim = getDim();
  for (auto [d, size] : llvm::enumerate(result.getShape()))
    shared.push_back(static_cast<int64_t>(d) == dim ? std::vector<int>{}
                                                    : std::vector<int>{rule.factor(size)});
  auto with = [&](int64_t size) {
    Rule::Dims dims = shared;
    dims[dim] = {rule.whole(size)};
    return dims;
  };
  for (Value input : getInputs())
    rule.operand(with(tensorOf(input).getDimSize(dim)));
  rule.result(with(result.getDimSize(dim)));
  return rule.linearTogether(std::vector<bool>(getInputs().size(), true));
}

/// data, indices and gathered slices in terms of shared loops.
static Rule gatherRule(RankedTensorType data, RankedTensorType indices, int64_t dim, bool sums,
                       Rule::Dims &dataDims, Rule::Dims &indexDims, Rule::Dims &sliceDims) {
  Rule rule;
  for (auto [d, size] : llvm::enumerate(data.getShape()))
    dataDims.push_back({static_cast<int64_t>(d) == dim ? rule.whole(size) : rule.factor(size)});
  for (int64_t size : indices.getShape())
    indexDims.push_back({sums ? rule.reduced(size) : rule.factor(size)});
  sliceDims.assign(dataDims.begin(), dataDims.begin() + dim);
  llvm::append_range(sliceDims, indexDims);
  sliceDims.insert(sliceDims.end(), dataDims.begin() + dim + 1, dataDims.end());
  return rule;
}

ShardingRule GatherOp::getShardingRule() {
  Rule::Dims data, indices, slices;
  Rule rule = gatherRule(tensorOf(getData()), tensorOf(getIndices()), getDim(), false, data,
                         indices, slices);
  return rule.operand(data).operand(indices).result(slices).linearIn({true, false});
}

ShardingRule ScatterOp::getShardingRule() {
  bool sum = getKind() == ReductionKind::Sum, sumOfZeros = sum && isZero(getData());
  Rule::Dims data, indices, slices;
  Rule rule = gatherRule(tensorOf(getData()), tensorOf(getIndices()), getDim(), sumOfZeros, data,
                         indices, slices);
  rule.operand(data).operand(indices).operand(slices).result(data);
  // Updates meet in the order of the indices, so without a sum those cannot be split.
  ShardingRule out = rule;
  if (!sumOfZeros)
    for (const auto &dims : indices)
      out.factors[dims[0]].kind = FactorKind::Replicated;
  if (sum)
    out.linearTogether = {true, false, true};
  if (sumOfZeros)
    out.linearIn = {false, false, true};
  return out;
}

SmallVector<Value> ReshapeOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                         TypeRange resultTypes, ArrayRef<Value>) {
  return {ReshapeOp::create(builder, getLoc(), operands[0],
                            cast<RankedTensorType>(resultTypes[0]).getShape())};
}

SmallVector<Value> BroadcastOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                           TypeRange resultTypes, ArrayRef<Value>) {
  return {BroadcastOp::create(builder, getLoc(), operands[0],
                              cast<RankedTensorType>(resultTypes[0]).getShape(), getDims())};
}

/// Only dimensions taken in full are split; they stay full. (An offset there clamps to 0.)
SmallVector<Value> SliceOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                       TypeRange resultTypes, ArrayRef<Value>) {
  return {SliceOp::create(builder, getLoc(), operands[0], operands.drop_front(), getStart(),
                          cast<RankedTensorType>(resultTypes[0]).getShape(), getStrides())};
}

/// Pads count from the ends, so they hold for any size.
SmallVector<Value> PadOp::buildLocal(OpBuilder &builder, ValueRange operands, TypeRange resultTypes,
                                     ArrayRef<Value>) {
  return cloneWithTypes(builder, *this, operands, resultTypes);
}

OpFacts ReshapeOp::getFacts() { return memoryFacts(*this); }
OpFacts TransposeOp::getFacts() { return memoryFacts(*this); }
OpFacts BroadcastOp::getFacts() { return memoryFacts(*this); }
OpFacts PadOp::getFacts() { return memoryFacts(*this); }
OpFacts ConcatOp::getFacts() { return memoryFacts(*this); }

/// Reads only what it yields.
static OpFacts readsResult(Operation *op) {
  OpFacts f;
  f.bytesRead = f.bytesWritten = bytes(op->getResult(0));
  return f;
}

OpFacts SliceOp::getFacts() { return readsResult(*this); }

OpFacts GatherOp::getFacts() {
  OpFacts f = readsResult(*this);
  f.bytesRead += bytes(getIndices());
  return f;
}

OpFacts ScatterOp::getFacts() {
  OpFacts f = memoryFacts(*this);
  f.aluFlops = getKind() ? elements(getUpdates()) : 0;
  return f;
}
