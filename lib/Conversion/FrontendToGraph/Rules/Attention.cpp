//===- Attention.cpp - Attention and its contrib cousins ------------------===//
//
// Operands become [B,H,S,D]; caches are joined to keys and values; masks become
// one additive bias. What the composite cannot say (softcap, the score matrix
// as a result) is written out in simpler ops.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"
#include "lib/Conversion/FrontendToGraph/Rules/ElementTypes.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

namespace {
struct Heads {
  Value q, k, v;
  bool flat = false; ///< operands came as [B,S,H*D]
};
} // namespace

/// [B,S,H*D] to [B,H,S,D]
static Value splitHeads(Node &n, Value x, int64_t heads) {
  Dims s = shapeOf(x);
  if (s.size() != 3 || heads < 1 || s[2] % heads != 0) {
    n.g.error("the last dimension must be a multiple of the number of heads");
    return x;
  }
  return n.g.transpose(n.g.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}
static Value joinHeads(GraphBuilder &g, Value x) {
  if (g.failed() || rankOf(x) != 4)
    return x;
  Dims s = shapeOf(x);
  return g.reshape(g.transpose(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

static std::optional<Heads> headsOf(Node &n) {
  Heads h{n[0], n[1], n[2]};
  if (n.rank(0) == 3) {
    h.flat = true;
    int64_t heads = n.getInt("q_num_heads", 0), kv = n.getInt("kv_num_heads", 0);
    h.q = splitHeads(n, h.q, heads);
    h.k = splitHeads(n, h.k, kv);
    h.v = splitHeads(n, h.v, kv);
  }
  if (n.g.failed())
    return std::nullopt;
  for (Value x : {h.q, h.k, h.v})
    if (rankOf(x) != 4) {
      (void)n.invalid("queries, keys and values must all have rank 3 or all rank 4");
      return std::nullopt;
    }
  return h;
}

/// True becomes 0, false -inf; floats stay.
static Value additive(GraphBuilder &g, Value mask, Type type) {
  if (!isBool(mask))
    return g.convert(mask, type);
  return g.select(mask, g.scalar(type, 0),
                  g.scalar(type, -std::numeric_limits<double>::infinity()));
}

/// 0 where row s may see column t (t <= s + past), -inf elsewhere.
static Value causalBias(GraphBuilder &g, int64_t rows, int64_t columns, int64_t past, Type type) {
  Type index = g.builder.getI64Type();
  Value difference = g.sub(g.iota({rows, columns}, 1, index), g.iota({rows, columns}, 0, index));
  Value seen = g.compare(CompareKind::Le, difference, g.splatLike(difference, double(past)));
  return additive(g, seen, type);
}

/// A mask shorter than the keys hides the rest.
static Value padMask(GraphBuilder &g, Value mask, int64_t columns) {
  int64_t last = rankOf(mask) - 1, have = last < 0 ? 1 : typeOf(mask).getDimSize(last);
  if (last < 0 || have >= columns || have == 1)
    return mask;
  Dims low(rankOf(mask), 0), high(rankOf(mask), 0);
  high[last] = columns - have;
  double hidden = isBool(mask) ? 0 : -std::numeric_limits<double>::infinity();
  return g.pad(mask, low, high, g.scalar(elementOf(mask), hidden));
}

/// Rank 4, as the composite wants its bias.
static Value asRank4(GraphBuilder &g, Value bias) {
  Dims shape = shapeOf(bias);
  if (shape.size() > 4) {
    g.error("the mask must broadcast to [batch, heads, rows, columns]");
    return bias;
  }
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  return g.reshape(bias, shape);
}

/// repeats key/value heads so that there is one per query head
static Value repeatHeads(GraphBuilder &g, Value x, int64_t heads) {
  Dims s = shapeOf(x);
  if (s[1] == heads || s[1] == 0 || heads % s[1] != 0)
    return x;
  Value wide = g.broadcastDims(x, {s[0], s[1], heads / s[1], s[2], s[3]}, {0, 1, 3, 4});
  return g.failed() ? x : g.reshape(wide, {s[0], heads, s[2], s[3]});
}

/// Scores in steps: product, softcap, bias, softmax; `mode` tells which of them is a result. A row
/// of -inf only sees nothing and is zero.
static void spelledOut(Node &n, Heads &h, Value bias, double scale, Value &y, Value &scores) {
  GraphBuilder &g = n.g;
  int64_t heads = shapeOf(h.q)[1], mode = n.getInt("qk_matmul_output_mode", 0);
  double softcap = n.getFloat("softcap", 0);
  Value k = repeatHeads(g, h.k, heads), v = repeatHeads(g, h.v, heads);
  Type type = elementOf(h.q);
  Value s = g.contract(g.binary(BinaryKind::Mul, h.q, std::sqrt(scale)),
                       g.binary(BinaryKind::Mul, k, std::sqrt(scale)), {0, 1}, {0, 1}, {3}, {3});
  scores = s;
  if (softcap > 0)
    s = g.binary(BinaryKind::Mul, g.unary(UnaryKind::Tanh, g.binary(BinaryKind::Div, s, softcap)),
                 softcap);
  if (mode == 1)
    scores = s;
  if (bias)
    s = g.add(s, bias);
  if (mode == 2)
    scores = s;
  if (Type wide = elementTypeOfOnnx(g.builder.getContext(), n.getInt("softmax_precision", 0)))
    s = g.convert(s, wide);
  if (g.failed())
    return;
  Value top = g.reduce(ReductionKind::Max, s, {3}, true);
  double inf = std::numeric_limits<double>::infinity();
  Value blind = g.compare(CompareKind::Eq, top, g.splatLike(top, -inf));
  Value p = g.create<SoftmaxOp>(s, int64_t(3), false);
  p = g.convert(g.select(blind, g.splat(RankedTensorType::get({}, elementOf(p)), 0), p), type);
  if (mode == 3)
    scores = p;
  y = g.contract(p, v, {0, 1}, {0, 1}, {3}, {2});
}

static LogicalResult attention(Node &n) {
  auto h = headsOf(n);
  if (!h)
    return failure();
  GraphBuilder &g = n.g;
  int64_t past = 0;
  if (n.has(4) != n.has(5))
    return n.invalid("past_key and past_value come together");
  if (n.has(4)) {
    if (n.rank(4) != 4 || n.rank(5) != 4)
      return n.invalid("past_key and past_value must have rank 4");
    past = shapeOf(n[4])[2];
    h->k = g.concat({n[4], h->k}, 2);
    h->v = g.concat({n[5], h->v}, 2);
    if (g.failed())
      return failure();
  }
  Value presentK = h->k, presentV = h->v;
  Type type = elementOf(h->q);
  int64_t rows = shapeOf(h->q)[2], columns = shapeOf(h->k)[2], depth = shapeOf(h->q)[3];
  bool causal = n.getInt("is_causal", 0) != 0;
  Value bias = n.has(3) ? additive(g, padMask(g, n[3], columns), type) : Value();
  auto addBias = [&](Value more) { bias = bias ? g.add(bias, more) : more; };
  bool aligned = rows + past == columns && !n.has(6);
  if (n.has(6)) { // valid keys per batch
    if (n.rank(6) != 1)
      return n.invalid("nonpad_kv_seqlen must have one number per batch");
    Type index = g.builder.getI64Type();
    int64_t batch = shapeOf(h->q)[0];
    Value valid = g.reshape(g.convert(n[6], index), {batch, 1, 1, 1});
    Value column = g.iota({1, 1, 1, columns}, 3, index);
    if (g.failed())
      return failure();
    if (causal) { // the last row sees the last valid column
      Value row = g.iota({1, 1, rows, 1}, 2, index);
      Value last = g.add(row, g.binary(BinaryKind::Add, valid, -double(rows)));
      addBias(additive(g, g.compare(CompareKind::Le, column, last), type));
    }
    addBias(additive(g, g.compare(CompareKind::Lt, column, valid), type));
  } else if (causal && !aligned) {
    addBias(causalBias(g, rows, columns, past, type));
  }
  causal &= aligned;
  if (g.failed())
    return failure();
  if (bias)
    bias = asRank4(g, bias);
  double scale = n.hasAttr("scale") ? double(n.getFloat("scale", 1)) : 1 / std::sqrt(double(depth));
  bool plain = n.getFloat("softcap", 0) == 0 && !n.wants(3);
  Value y, scores;
  if (g.failed())
    return failure();
  if (plain) {
    y = g.create<AttentionOp>(h->q, h->k, h->v, bias, llvm::APFloat(scale), causal);
  } else {
    if (causal) {
      addBias(causalBias(g, rows, columns, past, type));
      bias = asRank4(g, bias);
    }
    spelledOut(n, *h, bias, scale, y, scores);
  }
  if (g.failed())
    return failure();
  return n.yield({h->flat ? joinHeads(g, y) : y, presentK, presentV, scores});
}

/// com.microsoft.MultiHeadAttention without packed operands, masks of bytes or caches.
static LogicalResult multiHead(Node &n) {
  for (unsigned i = 3; i < n.size(); ++i)
    if (n.has(i) && i != 5)
      return n.unsupported("bias, padding mask or cache operands");
  if (!n.has(1) || !n.has(2) || n.rank(0) != 3)
    return n.unsupported("packed queries, keys and values");
  int64_t heads = n.getInt("num_heads", 0);
  Value q = splitHeads(n, n[0], heads), k = splitHeads(n, n[1], heads),
        v = splitHeads(n, n[2], heads);
  if (n.g.failed())
    return failure();
  double scale =
      n.hasAttr("scale") ? double(n.getFloat("scale", 1)) : 1 / std::sqrt(double(shapeOf(q)[3]));
  bool causal = n.getInt("unidirectional", 0) != 0;
  Value bias = n.has(5) ? asRank4(n.g, n[5]) : Value();
  Value y = n.g.create<AttentionOp>(q, k, v, bias, llvm::APFloat(scale), causal);
  return n.yield(joinHeads(n.g, y));
}

ArrayRef<Entry> gpucc::frontend_to_graph::attentionRules() {
  static const Entry rules[] = {
      {"Attention", 23, latest, 3, attention},
      {"com.microsoft.MultiHeadAttention", 1, latest, 1, multiHead},
  };
  return rules;
}
