//===- CompositesVjp.cpp - derivatives of composites ----------------------===//
//
// Closed forms where they keep less than the decomposition's derivative would:
//
//   softmax        dx = y (g - Σ g y)                      keeps y
//   log softmax    dx = g - exp(y) Σ g                     keeps y
//   layer_norm     dx = r (h - mean h - x̂ mean(h x̂)), h = g scale; recomputes r, x̂ from x
//   rms_norm       the same without the middle term
//   cross_entropy  dx = (softmax - onehot) g, 0 for ignored labels
//   rope           the rotation by -angle
//   dropout        the same op on the gradient: the same numbers, the same mask
//
// Attention's stands in AttentionDecompose.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Decomposition.h"

using namespace mlir;
using namespace gpucc::graph;

static Type elementOf(Value v) { return tensorOf(v).getElementType(); }

LogicalResult SoftmaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0])
    return success();
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value y = g.widen(getResult()), grad = g.widen(resultGrads[0]);
  auto over = [&](Value v) { return g.broadcastOver(v, y, {dim}); };
  Value dx = getLog() ? g.sub(grad, g.mul(g.exp(y), over(g.sum(grad, {dim}))))
                      : g.mul(y, g.sub(grad, over(g.sum(g.mul(grad, y), {dim}))));
  operandGrads[0] = g.convert(dx, elementOf(getX()));
  return success();
}

namespace {
/// Normalization over `dims`: what layer, rms and batch norm share. Everything is wide.
struct Norm {
  GraphBuilder &g;
  Value x;
  SmallVector<int64_t> dims;
  Value rstd, normalized; ///< 1 / sqrt(var + epsilon) repeated over x, and x̂

  Norm(GraphBuilder &g, Value narrow, SmallVector<int64_t> dims, double epsilon, bool centre)
      : g(g), x(g.widen(narrow)), dims(std::move(dims)) {
    Value centred = centre ? g.sub(x, mean(x)) : x;
    Value variance = mean(g.mul(centred, centred));
    rstd = g.rsqrt(g.add(variance, epsilon));
    normalized = g.mul(centred, rstd);
  }
  /// The mean over dims, repeated.
  Value mean(Value v) {
    double n = 1;
    for (int64_t d : dims)
      n *= static_cast<double>(tensorOf(x).getDimSize(d));
    Value sum = g.sum(v, dims);
    return g.broadcastOver(g.div(sum, g.like(sum, n)), x, dims);
  }
  /// Gradient of x from that of x̂.
  Value backward(Value h, bool centre) {
    Value inner = g.sub(h, g.mul(normalized, mean(g.mul(h, normalized))));
    return g.mul(rstd, centre ? g.sub(inner, mean(h)) : inner);
  }
};
} // namespace

/// layer_norm and rms_norm: operands x, then scale and bias where the op has them.
static void normVjp(GraphBuilder &g, Operation *op, int64_t begin, double epsilon, bool centre,
                    Value scale, Value bias, Value resultGrad, ArrayRef<bool> needed,
                    MutableArrayRef<Value> operandGrads) {
  Value x = op->getOperand(0);
  int64_t rank = tensorOf(x).getRank();
  auto outer = llvm::to_vector(llvm::seq<int64_t>(0, begin));
  Norm norm(g, x, llvm::to_vector(llvm::seq<int64_t>(begin, rank)), epsilon, centre);
  Value grad = g.convert(resultGrad, elementOf(norm.x)), h = grad;
  size_t next = 1;
  if (scale) {
    h = g.mul(grad, g.broadcastOver(g.convert(scale, elementOf(norm.x)), norm.x, outer));
    if (needed[next])
      operandGrads[next] = g.convert(g.sum(g.mul(grad, norm.normalized), outer), elementOf(scale));
    ++next;
  }
  if (bias && needed[next])
    operandGrads[next] = g.convert(g.sum(grad, outer), elementOf(bias));
  if (needed[0])
    operandGrads[0] = g.convert(norm.backward(h, centre), elementOf(x));
}

LogicalResult LayerNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  GraphBuilder g(builder, getLoc());
  if (resultGrads[0])
    normVjp(g, *this, getBegin(), getEpsilon().convertToDouble(), true, getScale(), getBias(),
            resultGrads[0], needed, operandGrads);
  return success();
}

LogicalResult RmsNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  GraphBuilder g(builder, getLoc());
  if (resultGrads[0])
    normVjp(g, *this, getBegin(), getEpsilon().convertToDouble(), false, getScale(), Value(),
            resultGrads[0], needed, operandGrads);
  return success();
}

/// The closed form holds for y alone; gradients of the new statistics take the general way.
LogicalResult BatchNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!getTraining() || resultGrads[1] || resultGrads[2])
    return vjpByDecomposition(*this, builder, resultGrads, needed, operandGrads);
  if (!resultGrads[0])
    return success();
  GraphBuilder g(builder, getLoc());
  SmallVector<int64_t> dims{0};
  for (int64_t d = 2; d < tensorOf(getX()).getRank(); ++d)
    dims.push_back(d);
  Norm norm(g, getX(), dims, getEpsilon().convertToDouble(), /*centre=*/true);
  Value grad = g.convert(resultGrads[0], elementOf(norm.x));
  Value scale = g.convert(getScale(), elementOf(norm.x));
  if (needed[0])
    operandGrads[0] = g.convert(
        norm.backward(g.mul(grad, g.broadcastOver(scale, norm.x, dims)), true), elementOf(getX()));
  if (needed[1])
    operandGrads[1] = g.convert(g.sum(g.mul(grad, norm.normalized), dims), elementOf(getScale()));
  if (needed[2])
    operandGrads[2] = g.convert(g.sum(grad, dims), elementOf(getBias()));
  return success();
}

LogicalResult GeluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  return vjpByDecomposition(*this, builder, resultGrads, needed, operandGrads);
}

LogicalResult SiluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  return vjpByDecomposition(*this, builder, resultGrads, needed, operandGrads);
}

LogicalResult RopeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!resultGrads[0])
    return success();
  if (needed[1] || needed[2])
    return vjpByDecomposition(*this, builder, resultGrads, needed, operandGrads);
  if (needed[0])
    operandGrads[0] =
        RopeOp::create(builder, getLoc(), resultGrads[0], getCos(),
                       GraphBuilder(builder, getLoc()).neg(getSin()), getInterleaved());
  return success();
}

LogicalResult CrossEntropyOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                       ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0]) // the count is constant
    return success();
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(getLogits()), labels = getLabels();
  RankedTensorType type = tensorOf(x);
  int64_t last = type.getRank() - 1;
  Value softmax = SoftmaxOp::create(builder, getLoc(), x, last, /*log=*/false);
  Value spread = g.broadcastOver(labels, x, {last});
  Value hit = g.compare(CompareKind::Eq, g.iota(type.clone(elementOf(labels)), last), spread);
  Value difference = g.sub(softmax, g.convert(hit, elementOf(x)));
  // Labels that are ignored, or no class at all, add nothing to the loss.
  auto classes = static_cast<double>(type.getDimSize(last));
  Value counts = g.compare(CompareKind::Ne, labels,
                           static_cast<double>(static_cast<int64_t>(getIgnoreIndex())));
  counts = g.binary(BinaryKind::And, counts, g.compare(CompareKind::Ge, labels, 0.0));
  counts = g.binary(BinaryKind::And, counts, g.compare(CompareKind::Lt, labels, classes));
  Value grad = g.convert(resultGrads[0], elementOf(x));
  Value scale = g.select(counts, g.broadcastScalar(grad, tensorOf(labels).getShape()),
                         g.splat(tensorOf(labels).clone(elementOf(x)), 0));
  Value dx = g.mul(difference, g.broadcastOver(scale, x, {last}));
  operandGrads[0] = g.convert(dx, elementOf(getLogits()));
  return success();
}

LogicalResult DropoutOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] = DropoutOp::create(builder, getLoc(), resultGrads[0], getStep(), getOffsets(),
                                        getRatio(), getSeed(), getOrdinal(), getGlobalShape());
  return success();
}
