//===- CompositesRules.cpp - how composites are split, what they cost -----===//
//
//   softmax x[8,16] along 1: 8 parallel, 16 whole
//   cross_entropy logits[N,C], labels[N]: N reduce(sum) for loss and count, C whole
//   batch_norm with training: only channels are parallel; partition expands the
//   op before, and its sums over the batch then become reductions
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Decomposition.h"
#include "dialects/Graph/Facts.h"
#include "dialects/Graph/Rules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

ShardingRule SoftmaxOp::getShardingRule() {
  Rule rule;
  Rule::Dims dims;
  for (auto [d, size] : llvm::enumerate(tensorOf(getX()).getShape()))
    dims.push_back({d == getDim() ? rule.whole(size) : rule.factor(size)});
  return rule.operand(dims).result(dims);
}

/// Normalized dimensions whole; scale and bias (if any) lie along them.
static ShardingRule normRule(Operation *op, int64_t begin) {
  Rule rule;
  Rule::Dims dims;
  for (auto [d, size] : llvm::enumerate(tensorOf(op->getOperand(0)).getShape()))
    dims.push_back({static_cast<int64_t>(d) >= begin ? rule.whole(size) : rule.factor(size)});
  rule.operand(dims).result(dims);
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    rule.operand(Rule::Dims(dims.begin() + begin, dims.end()));
  return rule;
}

ShardingRule LayerNormOp::getShardingRule() { return normRule(*this, getBegin()); }
ShardingRule RmsNormOp::getShardingRule() { return normRule(*this, getBegin()); }

ShardingRule BatchNormOp::getShardingRule() {
  Rule rule;
  Rule::Dims x;
  for (auto [d, size] : llvm::enumerate(tensorOf(getX()).getShape()))
    x.push_back({getTraining() && d != 1 ? rule.whole(size) : rule.factor(size)});
  rule.operand(x);
  for (int i = 0; i < 4; ++i)
    rule.operand({x[1]});
  return rule.result(x).result({x[1]}).result({x[1]});
}

ShardingRule GeluOp::getShardingRule() { return pointwiseRule(*this); }
ShardingRule SiluOp::getShardingRule() { return pointwiseRule(*this); }

ShardingRule AttentionOp::getShardingRule() {
  RankedTensorType q = tensorOf(getQ()), k = tensorOf(getK()), v = tensorOf(getV());
  Rule rule;
  int batch = rule.factor(q.getDimSize(0)), heads = rule.factor(k.getDimSize(1));
  int64_t groups = q.getDimSize(1) / k.getDimSize(1), rows = q.getDimSize(2);
  std::vector<int> queryHeads{heads};
  if (groups != 1)
    queryHeads.push_back(rule.whole(groups));
  int row = getCausal() ? rule.whole(rows) : rule.factor(rows);
  int column = rule.whole(k.getDimSize(2)), depth = rule.whole(q.getDimSize(3)),
      width = rule.whole(v.getDimSize(3));
  rule.operand({{batch}, queryHeads, {row}, {depth}});
  rule.operand({{batch}, {heads}, {column}, {depth}});
  rule.operand({{batch}, {heads}, {column}, {width}});
  rule.result({{batch}, queryHeads, {row}, {width}});
  if (!getBias())
    return rule.linearIn({false, false, true});
  Rule::Dims scores{{batch}, queryHeads, {row}, {column}}, bias;
  int64_t shape[] = {q.getDimSize(0), q.getDimSize(1), rows, k.getDimSize(2)};
  for (auto [d, size] : llvm::enumerate(tensorOf(getBias()).getShape()))
    bias.push_back(size == shape[d] ? scores[d] : std::vector<int>{});
  return rule.operand(bias).linearIn({false, false, true, false});
}

ShardingRule RopeOp::getShardingRule() {
  RankedTensorType x = tensorOf(getX()), cos = tensorOf(getCos());
  Rule rule;
  Rule::Dims dims;
  for (int64_t d = 0; d < 3; ++d)
    dims.push_back({rule.factor(x.getDimSize(d))});
  dims.push_back({rule.whole(x.getDimSize(3))});
  Rule::Dims angle{dims[2], {rule.whole(cos.getShape().back())}};
  if (cos.getRank() == 3)
    angle.insert(angle.begin(), dims[0]);
  return rule.operand(dims).operand(angle).operand(angle).result(dims).linearIn(
      {true, false, false});
}

ShardingRule CrossEntropyOp::getShardingRule() {
  Rule rule;
  Rule::Dims labels;
  for (int64_t size : tensorOf(getLabels()).getShape())
    labels.push_back({rule.reduced(size)});
  Rule::Dims logits = labels;
  logits.push_back({rule.whole(tensorOf(getLogits()).getShape().back())});
  return rule.operand(logits).operand(labels).result({}).result({});
}

ShardingRule DropoutOp::getShardingRule() {
  Rule rule;
  Rule::Dims dims;
  for (int64_t size : tensorOf(getX()).getShape())
    dims.push_back({rule.factor(size)});
  rule.operand(dims).result(dims);
  for (unsigned i = 1; i < getNumOperands(); ++i)
    rule.operand({});
  ShardingRule out = rule;
  out.linearIn.assign(getNumOperands(), false);
  out.linearIn[0] = true; // the same elements are dropped in every part of a sum
  return out;
}

SmallVector<Value> DropoutOp::buildLocal(OpBuilder &builder, ValueRange operands, TypeRange,
                                         ArrayRef<Value> offsets) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> sums(operands.drop_front(2));
  if (!offsets.empty())
    sums = addOffsets(g, operands.drop_front(2), offsets);
  return {DropoutOp::create(builder, getLoc(), operands[0], operands[1], sums, getRatio(),
                            getSeed(), getOrdinal(), getGlobalShape())};
}

OpFacts SoftmaxOp::getFacts() { return factsByDecomposition(*this); }
OpFacts LayerNormOp::getFacts() { return factsByDecomposition(*this); }
OpFacts RmsNormOp::getFacts() { return factsByDecomposition(*this); }
OpFacts BatchNormOp::getFacts() { return factsByDecomposition(*this); }
OpFacts GeluOp::getFacts() { return factsByDecomposition(*this); }
OpFacts SiluOp::getFacts() { return factsByDecomposition(*this); }
OpFacts AttentionOp::getFacts() { return factsByDecomposition(*this); }
OpFacts RopeOp::getFacts() { return factsByDecomposition(*this); }
OpFacts CrossEntropyOp::getFacts() { return factsByDecomposition(*this); }
OpFacts DropoutOp::getFacts() { return factsByDecomposition(*this); }
