//===- Normalization.cpp - batch, layer, RMS, group, instance norms -------===//
#include "lib/Conversion/FrontendToGraph/ModelConverter.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// Under training the running statistics of the model become state that this op overwrites.
static LogicalResult batchNorm(Node &n) {
  if (n.rank(0) < 2)
    return n.invalid("it needs a batch and channels");
  bool training = n.training() || n.getInt("training_mode", 0) != 0;
  double epsilon = n.getFloat("epsilon", 1e-5f), momentum = n.getFloat("momentum", 0.9f);
  Type type = elementOf(n[0]);
  Value parameters[4];
  for (unsigned i = 0; i < 4; ++i) // f16 operands may come with f32 statistics
    parameters[i] = n.g.convert(n[i + 1], type);
  SmallVector<Value> y = n.g.createMany<BatchNormOp>(
      3, n[0], parameters[0], parameters[1], parameters[2], parameters[3], llvm::APFloat(epsilon),
      llvm::APFloat(momentum), training);
  if (n.g.failed())
    return failure();
  for (unsigned i = 1; i < 3; ++i) {
    y[i] = n.g.convert(y[i], elementOf(n[i + 2]));
    if (n.training())
      n.model.updateStatistic(n[i + 2], y[i]);
  }
  if (n.numResults() > 3 || (n.version() < 14 && n.wants(1) && !training))
    return n.unsupported("saved statistics as results");
  return n.yield(y);
}

/// Scale or bias as the composite wants them: the shape of the normalized dimensions.
static Value scaleOf(Node &n, unsigned i, ArrayRef<int64_t> normalized, Type type) {
  if (!n.has(i))
    return {};
  return n.g.broadcastTo(n.g.convert(n[i], type), normalized);
}

static bool fitsNormalized(Node &n, unsigned i, size_t rank) {
  return !n.has(i) || n.rank(i) <= static_cast<int64_t>(rank);
}

/// Statistics in f32 (stash_type 1) or in the operand's type. The second and third result are the
/// mean and 1/deviation.
static LogicalResult layerNorm(Node &n) {
  auto axis = n.dimension(n.getInt("axis", -1), n.rank(0));
  if (!axis)
    return failure();
  double epsilon = n.getFloat("epsilon", 1e-5f);
  Dims shape = shapeOf(n[0]);
  ArrayRef<int64_t> normalized = ArrayRef<int64_t>(shape).drop_front(*axis);
  Type type = elementOf(n[0]);
  bool composite =
      fitsNormalized(n, 1, normalized.size()) && fitsNormalized(n, 2, normalized.size());
  if (!composite)
    return n.invalid("scale and bias must broadcast to the normalized dimensions");
  Value y = n.g.create<LayerNormOp>(n[0], scaleOf(n, 1, normalized, type),
                                    scaleOf(n, 2, normalized, type), *axis, llvm::APFloat(epsilon));
  if (!n.wants(1) && !n.wants(2))
    return n.yield(y);
  Dims dims(normalized.size());
  std::iota(dims.begin(), dims.end(), *axis);
  Value x = n.g.convert(n[0], n.g.builder.getF32Type());
  Value mean = n.g.mean(x, dims, true);
  Value centered = n.g.sub(x, mean);
  Value variance = n.g.mean(n.g.mul(centered, centered), dims, true);
  Value inverse = n.g.unary(UnaryKind::Rsqrt, n.g.binary(BinaryKind::Add, variance, epsilon));
  return n.yield({y, mean, inverse});
}

static LogicalResult rmsNorm(Node &n) {
  auto axis = n.dimension(n.getInt("axis", -1), n.rank(0));
  if (!axis)
    return failure();
  Dims shape = shapeOf(n[0]);
  ArrayRef<int64_t> normalized = ArrayRef<int64_t>(shape).drop_front(*axis);
  Value scale = scaleOf(n, 1, normalized, elementOf(n[0]));
  return n.yield(n.g.create<RmsNormOp>(n[0], scale, *axis,
                                       llvm::APFloat(double(n.getFloat("epsilon", 1e-5f)))));
}

/// com.microsoft: layer (RMS) norm of input + skip (+ bias). Results: y, mean, inverse, the sum.
template <bool rms> static LogicalResult skipNorm(Node &n) {
  Value sum = n.g.add(n[0], n[1]);
  unsigned biasAt = rms ? 3 : 4;
  if (n.has(biasAt))
    sum = n.g.add(sum, n[biasAt]);
  if (n.g.failed())
    return failure();
  int64_t last = rankOf(sum) - 1;
  llvm::APFloat epsilon(double(n.getFloat("epsilon", 1e-5f)));
  Value y = rms ? n.g.create<RmsNormOp>(sum, n[2], last, epsilon)
                : n.g.create<LayerNormOp>(sum, n[2], n[3], last, epsilon);
  return n.yield({y, Value(), Value(), sum});
}

/// Normalizes x seen as [rows, elements], in f32 at least.
static Value normalizeRows(GraphBuilder &g, Value x, int64_t rows, double epsilon) {
  Dims shape = shapeOf(x);
  Value flat = g.reshape(x, {rows, rows ? elementsOf(shape) / rows : 0});
  if (g.failed())
    return x;
  Value y = g.create<LayerNormOp>(flat, Value(), Value(), int64_t(1), llvm::APFloat(epsilon));
  return g.failed() ? y : g.reshape(y, shape);
}

/// y * scale + bias with one number per channel (dimension 1)
static Value perChannel(GraphBuilder &g, Value y, Value scale, Value bias) {
  if (g.failed())
    return y;
  Dims shape = shapeOf(y);
  if (rankOf(scale) != 1 || rankOf(bias) != 1) {
    g.error("scale and bias must have one number per channel");
    return y;
  }
  return g.add(g.mul(y, g.broadcastDims(scale, shape, {1})), g.broadcastDims(bias, shape, {1}));
}

static LogicalResult instanceNorm(Node &n) {
  if (n.rank(0) < 2)
    return n.invalid("it needs a batch and channels");
  Dims shape = shapeOf(n[0]);
  Value y = normalizeRows(n.g, n[0], shape[0] * shape[1], n.getFloat("epsilon", 1e-5f));
  return n.yield(perChannel(n.g, y, n[1], n[2]));
}

/// Opset 18 scales per group, 21 per channel.
static LogicalResult groupNorm(Node &n) {
  Dims shape = shapeOf(n[0]);
  int64_t groups = n.getInt("num_groups", 0);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0)
    return n.invalid("channels must be a multiple of num_groups");
  Value y = normalizeRows(n.g, n[0], shape[0] * groups, n.getFloat("epsilon", 1e-5f));
  Value scale = n[1], bias = n[2];
  if (n.version() < 21)
    for (Value *v : {&scale, &bias}) { // [groups] to [channels]
      if (rankOf(*v) != 1)
        return n.invalid("scale and bias must have one number per group");
      Value spread = n.g.broadcastDims(*v, {groups, shape[1] / groups}, {0});
      *v = n.g.failed() ? spread : n.g.reshape(spread, {shape[1]});
    }
  return n.yield(perChannel(n.g, y, scale, bias));
}

/// (x - mean) / sqrt(E[x²] - mean²) over the axes
static LogicalResult meanVariance(Node &n) {
  Dims axes = n.getInts("axes").value_or(Dims{0, 2, 3});
  if (!n.dimensions(axes, n.rank(0)))
    return failure();
  Value mean = n.g.mean(n[0], axes, true);
  Value centered = n.g.sub(n[0], mean);
  Value variance = n.g.mean(n.g.mul(centered, centered), axes, true);
  Value deviation = n.g.binary(BinaryKind::Add, n.g.unary(UnaryKind::Sqrt, variance), 1e-9);
  return n.yield(n.g.div(centered, deviation));
}

/// x / (bias + alpha/size * sum of squares over neighbouring channels)^beta
static LogicalResult localResponse(Node &n) {
  Dims shape = shapeOf(n[0]);
  int64_t size = n.getInt("size", 1);
  if (shape.size() < 2 || size < 1 || size > 1 << 10)
    return n.invalid("it needs channels and a size from 1 to 1024");
  Dims low(shape.size(), 0), high(shape.size(), 0);
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  Value squares = n.g.pad(n.g.mul(n[0], n[0]), low, high, n.g.scalar(elementOf(n[0]), 0));
  if (n.g.failed())
    return failure();
  Value sum = n.g.slice(squares, 1, 0, shape[1]);
  for (int64_t i = 1; i < size; ++i)
    sum = n.g.add(sum, n.g.slice(squares, 1, i, shape[1]));
  Value base = n.g.binary(
      BinaryKind::Add, n.g.binary(BinaryKind::Mul, sum, n.getFloat("alpha", 1e-4f) / double(size)),
      n.getFloat("bias", 1));
  return n.yield(n.g.div(n[0], n.g.binary(BinaryKind::Pow, base, n.getFloat("beta", 0.75f))));
}

/// x / ||x||_p along one dimension; zero rows stay zero.
static LogicalResult lpNorm(Node &n) {
  auto axis = n.dimension(n.getInt("axis", -1), n.rank(0));
  if (!axis)
    return failure();
  int64_t p = n.getInt("p", 2);
  if (p != 1 && p != 2)
    return n.invalid("p is " + llvm::Twine(p) + "; 1 and 2 are allowed");
  Value x = n.g.widenForSums(n[0]);
  Value power = p == 1 ? n.g.unary(UnaryKind::Abs, x) : n.g.mul(x, x);
  Value norm = n.g.reduce(ReductionKind::Sum, power, {*axis}, true);
  if (p == 2)
    norm = n.g.unary(UnaryKind::Sqrt, norm);
  Value zero = n.g.compare(CompareKind::Eq, norm, n.g.splatLike(norm, 0));
  Value y = n.g.div(x, n.g.select(zero, n.g.splatLike(norm, 1), norm));
  return n.yield(n.g.convert(y, elementOf(n[0])));
}

/// Identity in inference. In training a random mask from counters; the node's own seed is kept.
static LogicalResult dropout(Node &n) {
  double ratio = n.getFloat("ratio", 0.5f);
  if (n.has(1)) {
    auto given = n.constantNumber(1, "the ratio");
    if (!given)
      return failure();
    ratio = *given;
  }
  bool wantsTraining = n.training();
  if (!wantsTraining && n.has(2)) {
    auto mode = n.constantNumber(2, "training_mode");
    if (!mode)
      return failure();
    if (*mode != 0 && ratio != 0)
      return n.unsupported("training_mode without --train: its random numbers are not defined");
  }
  Value mask = n.g.splat(RankedTensorType::get(shapeOf(n[0]), n.g.builder.getI1Type()), 1);
  if (!wantsTraining || ratio == 0)
    return n.yield({n[0], mask});
  if (!(ratio > 0 && ratio < 1))
    return n.invalid("the ratio must be in [0, 1)");
  if (n.wants(1))
    return n.unsupported("its mask as a result under --train");
  Value zero = n.g.scalar(n.g.builder.getI64Type(), 0);
  SmallVector<Value> offsets(n.rank(0), zero);
  return n.yield(n.g.create<DropoutOp>(n[0], n.model.stepCounter(), ValueRange(offsets),
                                       llvm::APFloat(ratio), n.getInt("seed", 0),
                                       n.model.nextOrdinal(), shapeOf(n[0])));
}

ArrayRef<Entry> gpucc::frontend_to_graph::normalizationRules() {
  static const Entry rules[] = {
      {"BatchNormalization", 7, latest, 5, batchNorm},
      {"LayerNormalization", 17, latest, 2, layerNorm},
      {"RMSNormalization", 23, latest, 2, rmsNorm},
      {"InstanceNormalization", 6, latest, 3, instanceNorm},
      {"GroupNormalization", 18, latest, 3, groupNorm},
      {"MeanVarianceNormalization", 9, latest, 1, meanVariance},
      {"LRN", 1, latest, 1, localResponse},
      {"LpNormalization", 1, latest, 1, lpNorm},
      {"Dropout", 7, latest, 1, dropout},
      {"com.microsoft.SkipLayerNormalization", 1, latest, 3, skipNorm<false>},
      {"com.microsoft.SkipSimplifiedLayerNormalization", 1, latest, 3, skipNorm<true>},
      // ONNX Runtime writes these into the default domain at version 1.
      {"SimplifiedLayerNormalization", 1, latest, 2, rmsNorm},
  };
  return rules;
}
