//===- StateSpace.cpp - CausalConvWithState, LinearAttention --------------===//
//
// The two ops of Mamba and DeltaNet layers. The convolution is an ordinary one
// over the carried positions and the new ones; the attention's state is a
// matrix per head that each token updates, so tokens are unrolled:
//
//   S = exp(g) S + b k (v - exp(g) Sᵀk)ᵀ,   o = scale Sᵀq        (gated delta)
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// Tokens that are unrolled at most.
static constexpr int64_t maxTokens = 1024;

static LogicalResult causalConvolution(Node &n) {
  GraphBuilder &g = n.g;
  Dims x = shapeOf(n[0]), w = shapeOf(n[1]);
  if (x.size() != 3 || w.size() != 3 || w[0] != x[1] || w[1] != 1 || w[2] < 1)
    return n.invalid("it takes an input [batch, channels, length] and a kernel [channels, 1, k]");
  StringRef activation = n.getString("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return n.invalid("activation is '" + activation + "'; none, silu and swish are allowed");
  int64_t carried = w[2] - 1;
  RankedTensorType stateType = RankedTensorType::get({x[0], x[1], carried}, elementOf(n[0]));
  if (n.has(3) && n[3].getType() != stateType)
    return n.invalid("past_state must be [batch, channels, k - 1]");
  Value joined = n[0];
  if (carried > 0)
    joined = g.concat({n.has(3) ? n[3] : g.splat(stateType, 0), n[0]}, 2);
  Dims one{1}, none{0};
  Value y = g.create<ConvolutionOp>(joined, n[1], one, none, none, one, x[1]);
  if (n.has(2) && !g.failed())
    y = g.add(y, g.broadcastDims(n[2], x, {1}));
  if (g.failed())
    return failure();
  if (activation != "none")
    y = g.create<SiluOp>(y);
  Value state = carried > 0 ? g.slice(joined, 2, x[2], carried) : g.splat(stateType, 0);
  return n.yield({y, state});
}

namespace {
struct LinearHeads {
  int64_t batch, tokens, heads, group, keys, values; ///< group: query heads per key head
  Type wide;

  /// Token t of [batch, tokens, ...] as `shape`.
  Value token(GraphBuilder &g, Value x, int64_t t, ArrayRef<int64_t> shape) const {
    Value row = g.slice(x, 1, t, 1);
    return g.failed() ? row : g.convert(g.reshape(row, shape), wide);
  }
};
} // namespace

static std::optional<LinearHeads> linearHeads(Node &n) {
  Dims q = shapeOf(n[0]), k = shapeOf(n[1]), v = shapeOf(n[2]);
  int64_t queryHeads = n.getInt("q_num_heads", 0), heads = n.getInt("kv_num_heads", 0);
  bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && heads > 0 && queryHeads > 0 &&
              queryHeads <= 1 << 20 && queryHeads % heads == 0 && k[2] % heads == 0 &&
              v[2] % heads == 0 && q[2] == k[2] / heads * queryHeads && q[1] == k[1] &&
              q[1] == v[1];
  if (!fits) {
    (void)n.invalid("query, key and value must be [batch, tokens, heads * size] with q_num_heads a "
                    "multiple of kv_num_heads");
    return std::nullopt;
  }
  if (q[1] > maxTokens) {
    (void)n.unsupported("more than 1024 tokens at once");
    return std::nullopt;
  }
  Type wide = elementOf(n[0]).getIntOrFloatBitWidth() < 32 ? Type(n.g.builder.getF32Type())
                                                           : elementOf(n[0]);
  return LinearHeads{q[0], q[1], heads, queryHeads / heads, k[2] / heads, v[2] / heads, wide};
}

/// Past state, decay and beta have the sizes that the heads say.
static bool linearOperandsFit(Node &n, const LinearHeads &h, bool gated, bool delta) {
  auto perToken = [&](unsigned i, int64_t perHead) {
    Dims s = shapeOf(n[i]);
    return s.size() == 3 && s[0] == h.batch && s[1] == h.tokens &&
           (s[2] == h.heads || s[2] == perHead);
  };
  Dims matrix{h.batch, h.heads, h.keys, h.values};
  if ((n.has(3) && shapeOf(n[3]) != matrix) || (gated && !perToken(4, h.heads * h.keys)) ||
      (delta && !perToken(5, 1))) {
    (void)n.invalid("past_state must be [batch, heads, keys, values], decay [batch, tokens, heads "
                    "or heads * keys] and beta [batch, tokens, heads or 1]");
    return false;
  }
  return true;
}

static LogicalResult linearAttention(Node &n) {
  auto h = linearHeads(n);
  if (!h)
    return failure();
  GraphBuilder &g = n.g;
  StringRef rule = n.getString("update_rule", "gated_delta");
  bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  if (!llvm::is_contained({"linear", "gated", "delta", "gated_delta"}, rule))
    return n.invalid("update_rule is '" + rule +
                     "'; linear, gated, delta and gated_delta are allowed");
  if ((gated && !n.has(4)) || (delta && !n.has(5)))
    return n.invalid("update_rule " + rule + " needs its decay or beta operand");
  if (!linearOperandsFit(n, *h, gated, delta))
    return failure();
  float scale = n.getFloat("scale", 0);
  double factor = scale != 0 ? double(scale) : 1 / std::sqrt(double(h->keys));
  Dims matrix{h->batch, h->heads, h->keys, h->values};
  Value state =
      n.has(3) ? g.convert(n[3], h->wide) : g.splat(RankedTensorType::get(matrix, h->wide), 0);
  SmallVector<Value> outputs;
  for (int64_t t = 0; t < h->tokens && !g.failed(); ++t) {
    Value k = h->token(g, n[1], t, {h->batch, h->heads, h->keys});
    Value v = h->token(g, n[2], t, {h->batch, h->heads, h->values});
    Value q = h->token(g, n[0], t, {h->batch, h->heads, h->group, h->keys});
    if (gated) {
      bool each = shapeOf(n[4])[2] != h->heads || h->keys == 1;
      Value decay = h->token(g, n[4], t, {h->batch, h->heads, each ? h->keys : 1, 1});
      state = g.mul(state, g.unary(UnaryKind::Exp, decay));
    }
    if (delta) {
      Value known = g.contract(state, k, {0, 1}, {0, 1}, {2}, {2});
      Value rate = h->token(g, n[5], t, {h->batch, shapeOf(n[5])[2], 1});
      v = g.mul(g.sub(v, known), rate);
    }
    if (g.failed())
      return failure();
    Value outer = g.mul(g.insertDims(k, {3}), g.insertDims(v, {2}));
    state = g.add(state, outer);
    Value y = g.contract(q, state, {0, 1}, {0, 1}, {3}, {2}); // [B, H, group, values]
    y = g.binary(BinaryKind::Mul, y, factor);
    if (!g.failed())
      outputs.push_back(g.reshape(y, {h->batch, 1, h->heads * h->group * h->values}));
  }
  if (g.failed() || outputs.empty())
    return outputs.empty() ? n.unsupported("no tokens") : failure();
  Value y = g.convert(g.concat(outputs, 1), elementOf(n[0]));
  return n.yield({y, g.convert(state, n.has(3) ? elementOf(n[3]) : elementOf(n[0]))});
}

ArrayRef<Entry> gpucc::frontend_to_graph::stateSpaceRules() {
  static const Entry rules[] = {
      {"CausalConvWithState", 27, latest, 2, causalConvolution},
      {"LinearAttention", 27, latest, 3, linearAttention},
  };
  return rules;
}
