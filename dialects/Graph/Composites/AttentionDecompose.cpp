//===- AttentionDecompose.cpp - attention and its derivative --------------===//
//
// Query heads of one key head form a dimension of their own, so that no key or
// value is repeated:
//
//   q [B,H,S,D] -> [B,K,G,S,D]      scores = q · kᵀ over D, batch (B,K): [B,K,G,S,T]
//   p = softmax over T (a row of -inf only gives zeros)
//   result = p · v over T: [B,K,G,S,E] -> [B,H,S,E]
//
// The derivative recomputes p from q and k (nothing of size S x T is kept):
//
//   dv = pᵀ g,  dp = g vᵀ,  ds = p (dp - Σ_t p dp),  dq = scale ds k,  dk = scale dsᵀ q
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::graph;

namespace {
/// Attention's tensors with heads grouped, and its probabilities.
struct Scores {
  GraphBuilder &g;
  RankedTensorType qType, kType, vType;
  int64_t groups;      ///< G = H / K
  Value q, k, v;       ///< q [B,K,G,S,D], or [B,H,S,D] when G is 1
  Value probabilities; ///< [B,K,G,S,T] or [B,H,S,T], wide

  Scores(GraphBuilder &g, AttentionOp op, ValueRange operands)
      : g(g), qType(tensorOf(operands[0])), kType(tensorOf(operands[1])),
        vType(tensorOf(operands[2])), groups(qType.getDimSize(1) / kType.getDimSize(1)),
        k(operands[1]), v(operands[2]) {
    q = group(operands[0]);
    Value s = g.contract(q, k, {0, 1}, {0, 1}, {lastOf(q)}, {3}, wideElement());
    s = g.mul(s, op.getScale().convertToDouble());
    if (op.getBias())
      s = g.add(s, group(wideBias(operands[3])));
    if (op.getCausal())
      s = group(masked(ungroup(s)));
    normalize(s);
  }

  static int64_t lastOf(Value v) { return tensorOf(v).getRank() - 1; }
  Type wideElement() {
    Type e = qType.getElementType();
    return e.getIntOrFloatBitWidth() < 32 ? g.builder.getF32Type() : e;
  }
  /// [B,H,X,Y] -> [B,K,G,X,Y]
  Value group(Value x) {
    ArrayRef<int64_t> s = tensorOf(x).getShape();
    return groups == 1 ? x : g.reshape(x, {s[0], s[1] / groups, groups, s[2], s[3]});
  }
  Value ungroup(Value x) {
    ArrayRef<int64_t> s = tensorOf(x).getShape();
    return groups == 1 ? x : g.reshape(x, {s[0], s[1] * s[2], s[3], s[4]});
  }
  SmallVector<int64_t> scoreShape() {
    return {qType.getDimSize(0), qType.getDimSize(1), qType.getDimSize(2), kType.getDimSize(2)};
  }
  Value wideBias(Value bias) {
    return g.broadcast(g.convert(bias, wideElement()), scoreShape(), {0, 1, 2, 3});
  }
  /// Row s sees columns t ≤ s + (T - S).
  Value masked(Value s) {
    RankedTensorType type = tensorOf(s), index = type.clone(g.builder.getI64Type());
    Value last =
        g.add(g.iota(index, 2), static_cast<double>(type.getDimSize(3) - type.getDimSize(2)));
    Value seen = g.compare(CompareKind::Le, g.iota(index, 3), last);
    return g.select(seen, s, g.like(s, -HUGE_VAL));
  }
  void normalize(Value s) {
    int64_t t = lastOf(s);
    Value most = g.reduce(ReductionKind::Max, s, {t});
    Value none = g.compare(CompareKind::Eq, most, -HUGE_VAL);
    most = g.select(none, g.like(most, 0), most);
    Value e = g.exp(g.sub(s, g.broadcastOver(most, s, {t})));
    Value sum = g.sum(e, {t});
    sum = g.select(none, g.like(sum, 1), sum);
    probabilities = g.div(e, g.broadcastOver(sum, s, {t}));
  }
};
} // namespace

SmallVector<Value> AttentionOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Scores s(g, *this, operands);
  Type element = s.vType.getElementType();
  Value p = g.convert(s.probabilities, element);
  return {s.ungroup(g.contract(p, s.v, {0, 1}, {0, 1}, {Scores::lastOf(p)}, {2}))};
}

/// Sums a gradient of the scores' shape to that of a broadcast bias.
static Value biasGrad(GraphBuilder &g, Value grad, RankedTensorType bias) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < 4; ++d)
    if (bias.getDimSize(d) != tensorOf(grad).getDimSize(d))
      dims.push_back(d);
  return g.convert(g.reshape(g.sum(grad, dims), bias.getShape()), bias.getElementType());
}

LogicalResult AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!resultGrads[0])
    return success();
  GraphBuilder g(builder, getLoc());
  Scores s(g, *this, getOperands());
  Type element = s.qType.getElementType(), wide = s.wideElement();
  bool plain = s.groups == 1;
  Value grad = s.group(resultGrads[0]); // [B,K,(G,)S,E]
  Value p = s.probabilities;
  int64_t row = plain ? 2 : 3, last = row + 1;
  SmallVector<int64_t> rows = plain ? SmallVector<int64_t>{2} : SmallVector<int64_t>{2, 3};
  if (needed[2]) // sum over rows (and query heads of the key head): [B,K,T,E]
    operandGrads[2] = g.contract(g.convert(p, element), grad, {0, 1}, {0, 1}, rows, rows, element);
  if (!needed[0] && !needed[1] && !(getBias() && needed[3]))
    return success();
  Value dp = g.contract(grad, s.v, {0, 1}, {0, 1}, {last}, {3}, wide); // [B,K,(G,)S,T]
  Value inner = g.sum(g.mul(p, dp), {last});
  Value ds = g.mul(p, g.sub(dp, g.broadcastOver(inner, dp, {last})));
  if (getBias() && needed[3])
    operandGrads[3] = biasGrad(g, s.ungroup(ds), tensorOf(getBias()));
  Value scaled = g.convert(g.mul(ds, getScale().convertToDouble()), element);
  if (needed[0])
    operandGrads[0] = s.ungroup(g.contract(scaled, s.k, {0, 1}, {0, 1}, {last}, {2}));
  if (needed[1])
    operandGrads[1] = g.contract(scaled, s.q, {0, 1}, {0, 1}, rows, rows);
  return success();
}
