//===- ContractionRules.cpp - how contractions are split, what they cost --===//
//
//   contract x[8,16] · w[16,4]:  8 and 4 parallel, 16 reduce(sum)
//   convolution x[N,C,h,w] * f[O,C,3,3]:  N, O parallel, C reduce(sum), windows whole
//
// With groups the channels of input, filter and result are tied in pairs, and
// splitting them would change the attribute: they stay whole.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Facts.h"
#include "dialects/Graph/Geometry.h"
#include "dialects/Graph/Rules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

ShardingRule ContractOp::getShardingRule() {
  RankedTensorType l = tensorOf(getLhs()), r = tensorOf(getRhs());
  Rule rule;
  Rule::Dims lhs(l.getRank()), rhs(r.getRank()), out;
  for (auto [a, b] : llvm::zip(getLhsBatch(), getRhsBatch())) {
    lhs[a] = rhs[b] = {rule.factor(l.getDimSize(a))};
    out.push_back(lhs[a]);
  }
  for (int64_t d : getLhsFree())
    out.push_back(lhs[d] = {rule.factor(l.getDimSize(d))});
  for (int64_t d : getRhsFree())
    out.push_back(rhs[d] = {rule.factor(r.getDimSize(d))});
  for (auto [a, b] : llvm::zip(getLhsContract(), getRhsContract()))
    lhs[a] = rhs[b] = {rule.reduced(l.getDimSize(a))};
  return rule.operand(lhs).operand(rhs).result(out).linearIn({true, true});
}

namespace {
/// Dimensions of the three tensors of a convolution in terms of shared loops. `summed` says which
/// of batch, input channels and output channels the result sums over.
enum class Summed { Batch, InputChannels, OutputChannels };
struct ConvDims {
  Rule rule;
  Rule::Dims input, filter, output;

  ConvDims(ArrayRef<int64_t> in, ArrayRef<int64_t> w, ArrayRef<int64_t> out, int64_t groups,
           Summed summed) {
    auto loop = [&](int64_t size, bool sums, bool whole) {
      return whole ? rule.whole(size) : sums ? rule.reduced(size) : rule.factor(size);
    };
    bool tied = groups != 1;
    int n = loop(in[0], summed == Summed::Batch, false);
    int o = loop(out[1], summed == Summed::OutputChannels, tied);
    int c = loop(in[1], summed == Summed::InputChannels, tied);
    int filterC = tied ? rule.whole(w[1]) : c;
    input = {{n}, {c}};
    filter = {{o}, {filterC}};
    output = {{n}, {o}};
    for (size_t d = 2; d < in.size(); ++d) {
      input.push_back({rule.whole(in[d])});
      filter.push_back({rule.whole(w[d])});
      output.push_back({rule.whole(out[d])});
    }
  }
};
} // namespace

ShardingRule ConvolutionOp::getShardingRule() {
  SmallVector<int64_t> in(tensorOf(getInput()).getShape()), out(tensorOf(getResult()).getShape());
  if (getChannelsLast()) {
    in = channelsFirst(in);
    out = channelsFirst(out);
  }
  ConvDims dims(in, tensorOf(getFilter()).getShape(), out, getGroups(), Summed::InputChannels);
  if (getChannelsLast())
    for (Rule::Dims *d : {&dims.input, &dims.output})
      std::rotate(d->begin() + 1, d->begin() + 2, d->end());
  return dims.rule.operand(dims.input)
      .operand(dims.filter)
      .result(dims.output)
      .linearIn({true, true});
}

ShardingRule ConvolutionInputGradOp::getShardingRule() {
  ConvDims dims(getInputShape(), tensorOf(getFilter()).getShape(), tensorOf(getGrad()).getShape(),
                getGroups(), Summed::OutputChannels);
  return dims.rule.operand(dims.output)
      .operand(dims.filter)
      .result(dims.input)
      .linearIn({true, true});
}

ShardingRule ConvolutionFilterGradOp::getShardingRule() {
  ConvDims dims(tensorOf(getInput()).getShape(), getFilterShape(), tensorOf(getGrad()).getShape(),
                getGroups(), Summed::Batch);
  return dims.rule.operand(dims.input)
      .operand(dims.output)
      .result(dims.filter)
      .linearIn({true, true});
}

SmallVector<Value> ConvolutionInputGradOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                                      TypeRange resultTypes, ArrayRef<Value>) {
  return {ConvolutionInputGradOp::create(builder, getLoc(), operands[0], operands[1],
                                         cast<RankedTensorType>(resultTypes[0]).getShape(),
                                         getStrides(), getPadsLow(), getPadsHigh(), getDilations(),
                                         getGroups())};
}

SmallVector<Value> ConvolutionFilterGradOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                                       TypeRange resultTypes, ArrayRef<Value>) {
  return {ConvolutionFilterGradOp::create(builder, getLoc(), operands[0], operands[1],
                                          cast<RankedTensorType>(resultTypes[0]).getShape(),
                                          getStrides(), getPadsLow(), getPadsHigh(), getDilations(),
                                          getGroups())};
}

static int64_t product(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims)
    n *= shape[d];
  return n;
}

OpFacts ContractOp::getFacts() {
  OpFacts f = memoryFacts(*this);
  ArrayRef<int64_t> l = tensorOf(getLhs()).getShape(), r = tensorOf(getRhs()).getShape();
  f.batch = product(l, getLhsBatch());
  f.m = product(l, getLhsFree());
  f.n = product(r, getRhsFree());
  f.k = product(l, getLhsContract());
  f.matrixFlops = 2.0 * f.batch * f.m * f.n * f.k;
  f.matrixType = *toDType(tensorOf(getLhs()).getElementType());
  return f;
}

/// As implicit matrix products, one per group: `k` products are summed for each of m x n results.
static OpFacts convFacts(Operation *op, Value any, int64_t groups, int64_t m, int64_t n,
                         int64_t k) {
  OpFacts f = memoryFacts(op);
  f.batch = groups;
  f.m = m;
  f.n = n;
  f.k = k;
  f.matrixFlops = 2.0 * groups * m * n * k;
  f.matrixType = *toDType(tensorOf(any).getElementType());
  return f;
}

OpFacts ConvolutionOp::getFacts() {
  RankedTensorType w = tensorOf(getFilter()), y = tensorOf(getResult());
  int64_t o = w.getDimSize(0), positions = o ? y.getNumElements() / o : 0;
  return convFacts(*this, getInput(), getGroups(), positions, o / getGroups(),
                   o ? w.getNumElements() / o : 0);
}

OpFacts ConvolutionInputGradOp::getFacts() {
  RankedTensorType w = tensorOf(getFilter()), g = tensorOf(getGrad());
  int64_t o = w.getDimSize(0), positions = o ? g.getNumElements() / o : 0;
  return convFacts(*this, getGrad(), getGroups(), positions, o ? w.getNumElements() / o : 0,
                   o / getGroups());
}

OpFacts ConvolutionFilterGradOp::getFacts() {
  RankedTensorType g = tensorOf(getGrad()), w = tensorOf(getResult());
  int64_t o = w.getDimSize(0), positions = o ? g.getNumElements() / o : 0;
  return convFacts(*this, getInput(), getGroups(), o / getGroups(), o ? w.getNumElements() / o : 0,
                   positions);
}
