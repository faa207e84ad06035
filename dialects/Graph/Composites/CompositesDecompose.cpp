//===- CompositesDecompose.cpp - what composites consist of ---------------===//
//
// Written against the values it gets, not against the op's own types: the
// evaluator passes f64 values and receives the same formula in f64. Narrow
// floats are widened to f32 first and the result is rounded back at the end.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::graph;

static Type elementOf(Value v) { return tensorOf(v).getElementType(); }

static SmallVector<int64_t> dimsFrom(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq<int64_t>(begin, end));
}

static double count(Value x, ArrayRef<int64_t> dims) {
  double n = 1;
  for (int64_t d : dims)
    n *= static_cast<double>(tensorOf(x).getDimSize(d));
  return n;
}

/// Sum over `dims`, divided by the number of elements.
static Value mean(GraphBuilder &g, Value x, ArrayRef<int64_t> dims) {
  Value sum = g.sum(x, dims);
  return g.div(sum, g.like(sum, count(x, dims)));
}

/// log softmax of a wide value.
static Value logSoftmax(GraphBuilder &g, Value x, int64_t dim) {
  Value shifted = g.sub(x, g.broadcastOver(g.reduce(ReductionKind::Max, x, {dim}), x, {dim}));
  Value logSum = g.log(g.sum(g.exp(shifted), {dim}));
  return g.sub(shifted, g.broadcastOver(logSum, x, {dim}));
}

SmallVector<Value> SoftmaxOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value x = g.widen(operands[0]);
  if (getLog())
    return {g.convert(logSoftmax(g, x, dim), elementOf(operands[0]))};
  Value e = g.exp(g.sub(x, g.broadcastOver(g.reduce(ReductionKind::Max, x, {dim}), x, {dim})));
  Value y = g.div(e, g.broadcastOver(g.sum(e, {dim}), x, {dim}));
  return {g.convert(y, elementOf(operands[0]))};
}

/// Repeats scale or bias, which has the shape of the dimensions from `begin`, over x.
static Value alongNormalized(GraphBuilder &g, Value v, Value x, int64_t begin) {
  return g.broadcastOver(g.convert(v, elementOf(x)), x, dimsFrom(0, begin));
}

SmallVector<Value> LayerNormOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]);
  int64_t begin = getBegin();
  auto dims = dimsFrom(begin, tensorOf(x).getRank());
  Value centred = g.sub(x, g.broadcastOver(mean(g, x, dims), x, dims));
  Value variance = mean(g, g.mul(centred, centred), dims);
  Value rstd = g.rsqrt(g.add(variance, getEpsilon().convertToDouble()));
  Value y = g.mul(centred, g.broadcastOver(rstd, x, dims));
  size_t next = 1;
  if (getScale())
    y = g.mul(y, alongNormalized(g, operands[next++], x, begin));
  if (getBias())
    y = g.add(y, alongNormalized(g, operands[next], x, begin));
  return {g.convert(y, elementOf(operands[0]))};
}

SmallVector<Value> RmsNormOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]);
  auto dims = dimsFrom(getBegin(), tensorOf(x).getRank());
  Value rstd = g.rsqrt(g.add(mean(g, g.mul(x, x), dims), getEpsilon().convertToDouble()));
  Value y = g.mul(x, g.broadcastOver(rstd, x, dims));
  if (getScale())
    y = g.mul(y, alongNormalized(g, operands[1], x, getBegin()));
  return {g.convert(y, elementOf(operands[0]))};
}

SmallVector<Value> BatchNormOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]);
  SmallVector<int64_t> dims{0};
  llvm::append_range(dims, dimsFrom(2, tensorOf(x).getRank()));
  auto channel = [&](Value v) { return g.convert(v, elementOf(x)); };
  auto over = [&](Value v) { return g.broadcastOver(v, x, dims); };
  Value scale = channel(operands[1]), bias = channel(operands[2]);
  Value average = channel(operands[3]), variance = channel(operands[4]);
  Value newMean = operands[3], newVariance = operands[4], centred;
  if (getTraining()) {
    double keep = getMomentum().convertToDouble();
    Value batchMean = mean(g, x, dims);
    centred = g.sub(x, over(batchMean));
    Value batchVariance = mean(g, g.mul(centred, centred), dims);
    auto blend = [&](Value old, Value batch, Type type) {
      return g.convert(g.add(g.mul(old, keep), g.mul(batch, 1 - keep)), type);
    };
    newMean = blend(average, batchMean, elementOf(newMean));
    newVariance = blend(variance, batchVariance, elementOf(newVariance));
    variance = batchVariance;
  } else {
    centred = g.sub(x, over(average));
  }
  Value factor = g.mul(scale, g.rsqrt(g.add(variance, getEpsilon().convertToDouble())));
  Value y = g.add(g.mul(centred, over(factor)), over(bias));
  return {g.convert(y, elementOf(operands[0])), newMean, newVariance};
}

SmallVector<Value> GeluOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]), inner;
  if (getForm() == GeluKind::Erf) {
    inner = g.erf(g.mul(x, M_SQRT1_2));
  } else {
    Value cubic = g.mul(g.mul(g.mul(x, x), x), 0.044715);
    inner = g.tanh(g.mul(g.add(x, cubic), M_2_SQRTPI * M_SQRT1_2));
  }
  Value y = g.mul(g.mul(x, 0.5), g.add(inner, 1.0));
  return {g.convert(y, elementOf(operands[0]))};
}

SmallVector<Value> SiluOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]);
  return {g.convert(g.mul(x, g.logistic(x)), elementOf(operands[0]))};
}

SmallVector<Value> RopeOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]);
  ArrayRef<int64_t> shape = tensorOf(x).getShape();
  int64_t half = tensorOf(operands[1]).getShape().back(), rank = tensorOf(operands[1]).getRank();
  SmallVector<int64_t> halfShape{shape[0], shape[1], shape[2], half};
  SmallVector<int64_t> onto =
      rank == 2 ? SmallVector<int64_t>{2, 3} : SmallVector<int64_t>{0, 2, 3};
  auto angle = [&](Value v) { return g.broadcast(g.convert(v, elementOf(x)), halfShape, onto); };
  Value cos = angle(operands[1]), sin = angle(operands[2]);
  Value rotated = g.sliceDim(x, 3, 0, 2 * half), a, b;
  SmallVector<int64_t> pairs{shape[0], shape[1], shape[2], half, 2};
  if (getInterleaved()) {
    Value split = g.reshape(rotated, pairs);
    a = g.reshape(g.sliceDim(split, 4, 0, 1), halfShape);
    b = g.reshape(g.sliceDim(split, 4, 1, 1), halfShape);
  } else {
    a = g.sliceDim(rotated, 3, 0, half);
    b = g.sliceDim(rotated, 3, half, half);
  }
  Value newA = g.sub(g.mul(a, cos), g.mul(b, sin)), newB = g.add(g.mul(b, cos), g.mul(a, sin));
  Value y;
  if (getInterleaved()) {
    pairs.back() = 1;
    Value joined = g.concat({g.reshape(newA, pairs), g.reshape(newB, pairs)}, 4);
    y = g.reshape(joined, tensorOf(rotated).getShape());
  } else {
    y = g.concat({newA, newB}, 3);
  }
  if (int64_t rest = shape[3] - 2 * half)
    y = g.concat({y, g.sliceDim(x, 3, 2 * half, rest)}, 3);
  return {g.convert(y, elementOf(operands[0]))};
}

SmallVector<Value> CrossEntropyOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]), labels = operands[1];
  int64_t last = tensorOf(x).getRank() - 1;
  RankedTensorType labelType = tensorOf(labels), indexType = tensorOf(x).clone(elementOf(labels));
  Value hit =
      g.compare(CompareKind::Eq, g.iota(indexType, last), g.broadcastOver(labels, x, {last}));
  Value picked = g.sum(g.select(hit, logSoftmax(g, x, last), g.like(x, 0)), {last});
  Value counts =
      g.compare(CompareKind::Ne, labels,
                g.splat(labelType, static_cast<double>(static_cast<int64_t>(getIgnoreIndex()))));
  auto all = dimsFrom(0, labelType.getRank());
  Value loss = g.neg(g.sum(g.select(counts, picked, g.like(picked, 0)), all));
  return {loss, g.sum(g.convert(counts, elementOf(x)), all)};
}

SmallVector<Value> DropoutOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = operands[0];
  double ratio = getRatio().convertToDouble();
  Value uniform = RngUniformOp::create(builder, getLoc(), operands[1], operands.drop_front(2),
                                       tensorOf(x).clone(builder.getF32Type()), getSeed(),
                                       getOrdinal(), getGlobalShape());
  Value kept = g.compare(CompareKind::Ge, uniform, ratio);
  Value wide = g.widen(x);
  Value y = g.select(kept, g.mul(wide, 1 / (1 - ratio)), g.like(wide, 0));
  return {g.convert(y, elementOf(x))};
}
