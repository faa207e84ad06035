//===- GroupQuery.cpp - com.microsoft.GroupQueryAttention -----------------===//
//
// The attention of exported language models: rotary embedding, a cache of keys
// and values that the new ones join, causal and windowed masks, all in one node.
//
// With past[b] valid positions in the cache, row s is token past[b] + s:
//
//   present[b, t] = t < past[b] ? cache[t] : new[t - past[b]]
//   row s sees t  when past[b] + s - window < t <= past[b] + s
//
// The cache is either exactly what was before (its length plus the new tokens
// is the total) or a buffer as long as the total, filled in place.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

namespace {
enum Operand {
  Query,
  Key,
  Values,
  PastKey,
  PastValue,
  Lengths,
  Total,
  Cos,
  Sin,
  Positions,
  Bias,
  HeadSink
};

class GroupQuery {
public:
  GroupQuery(Node &n) : n(n), g(n.g), index(n.g.builder.getI64Type()) {}

  LogicalResult run() {
    if (failed(read()) || failed(rotate()))
      return failure();
    Value presentK = joined(k, PastKey), presentV = joined(v, PastValue), bias = mask();
    if (g.failed())
      return failure();
    double scale = n.getFloat("scale", 0);
    if (scale == 0)
      scale = 1 / std::sqrt(double(depth));
    Value y = g.create<AttentionOp>(q, presentK, presentV, bias, llvm::APFloat(scale), false);
    if (g.failed())
      return failure();
    y = g.reshape(g.transpose(y, {0, 2, 1, 3}), {batch, rows, heads * depth});
    return n.yield({y, presentK, presentV});
  }

private:
  /// [B,S,count*D] as [B,count,S,D]
  Value split(Value x, int64_t count) {
    return g.transpose(g.reshape(x, {batch, rows, count, depth}), {0, 2, 1, 3});
  }

  bool isQuantized(llvm::StringRef attribute) const {
    return n.getString(attribute, "NONE") != "NONE";
  }

  LogicalResult read() {
    heads = n.getInt("num_heads", 0);
    groups = n.getInt("kv_num_heads", 0);
    if (!n.has(Lengths) || !n.has(Total))
      return n.invalid("seqlens_k and total_sequence_length are missing");
    if (n.rank(Query) != 3 || heads < 1 || groups < 1 || heads > 1 << 20 || heads % groups != 0 ||
        n.rank(Lengths) != 1)
      return n.invalid(
          "it takes queries [batch, tokens, heads * size], lengths [batch], and num_heads a "
          "multiple of kv_num_heads");
    if (n.getFloat("softcap", 0) != 0 || n.getInt("smooth_softmax", 0) > 0 || n.has(HeadSink))
      return n.unsupported("softcap, smooth_softmax or head_sink");
    for (unsigned i = HeadSink + 1; i < n.size(); ++i) // scales of a quantized cache, norms of Q, K
      if (n.has(i))
        return n.unsupported("operands beyond head_sink (a quantized cache, normalized queries)");
    if (n.getInt("causal", 1) == 0 || n.getInt("sliding_window_cache", 0) != 0 ||
        n.getInt("qk_output", 0) != 0 || isQuantized("k_quant_type") || isQuantized("v_quant_type"))
      return n.unsupported("causal = 0, sliding_window_cache, qk_output or a quantized cache");
    Dims shape = shapeOf(n[Query]);
    batch = shape[0];
    rows = shape[1];
    bool packed = !n.has(Key) || !n.has(Values);
    int64_t all = packed ? heads + 2 * groups : heads;
    if (shape[2] % all != 0 || n.has(PastKey) != n.has(PastValue) || batch < 1 || rows < 1)
      return n.invalid(
          "the last dimension of the queries is no multiple of the number of heads, or "
          "only one of past_key and past_value is given");
    depth = shape[2] / all;
    Dims kv{batch, rows, groups * depth};
    if (!packed && (shapeOf(n[Key]) != kv || shapeOf(n[Values]) != kv))
      return n.invalid("keys and values must be [batch, tokens, kv_num_heads * size]");
    q = split(packed ? g.slice(n[Query], 2, 0, heads * depth) : n[Query], heads);
    k = split(packed ? g.slice(n[Query], 2, heads * depth, groups * depth) : n[Key], groups);
    v = split(packed ? g.slice(n[Query], 2, (heads + groups) * depth, groups * depth) : n[Values],
              groups);
    auto given = n.constantInts(Total, "total_sequence_length");
    if (!given || given->size() != 1 || g.failed())
      return given && given->size() != 1 ? n.invalid("total_sequence_length must be one number")
                                         : failure();
    cached = n.has(PastKey) && n.rank(PastKey) == 4 ? shapeOf(n[PastKey])[2] : 0;
    length = std::max(cached, given->front());
    Dims cache{batch, groups, cached, depth};
    if (n.has(PastKey) && (shapeOf(n[PastKey]) != cache || shapeOf(n[PastValue]) != cache))
      return n.invalid("past_key and past_value must be [batch, kv_num_heads, length, size]");
    if (length < rows || length > cached + rows)
      return n.invalid("total_sequence_length " + llvm::Twine(given->front()) + " does not fit " +
                       llvm::Twine(cached) + " cached and " + llvm::Twine(rows) + " new tokens");
    RankedTensorType perBatch = RankedTensorType::get({batch}, index);
    past = given->front() == rows // the first tokens
               ? g.splat(perBatch, 0)
               : g.binary(BinaryKind::Add, g.convert(n[Lengths], index), double(1 - rows));
    return failure(g.failed());
  }

  /// past[b] + s, [B,S]
  Value places() {
    return g.add(g.broadcastDims(past, {batch, rows}, {0}), g.iota({batch, rows}, 1, index));
  }

  LogicalResult rotate() {
    if (n.getInt("do_rotary", 0) == 0)
      return success();
    if (!n.has(Cos) || !n.has(Sin))
      return n.invalid("do_rotary needs cos_cache and sin_cache");
    Value at = n.has(Positions) ? g.convert(n[Positions], index) : places();
    Value cos = g.gather(n[Cos], at, 0), sin = g.gather(n[Sin], at, 0);
    if (g.failed())
      return failure();
    bool interleaved = n.getInt("rotary_interleaved", 0) != 0;
    q = g.create<RopeOp>(q, cos, sin, interleaved);
    k = g.create<RopeOp>(k, cos, sin, interleaved);
    return failure(g.failed());
  }

  /// The cache with the new rows behind its valid ones: [B,K,length,D].
  Value joined(Value fresh, unsigned operand) {
    if (cached == 0 || g.failed())
      return fresh;
    Value both = g.concat({n[operand], fresh}, 2);
    int64_t stored = cached + rows;
    Dims shape{batch, groups, length};
    Value t = g.iota(shape, 2, index), start = g.broadcastDims(past, shape, {0});
    Value isNew =
        g.binary(BinaryKind::And, g.compare(CompareKind::Ge, t, start),
                 g.compare(CompareKind::Lt, g.sub(t, start), g.splatLike(t, double(rows))));
    Value from = g.select(isNew, g.binary(BinaryKind::Add, g.sub(t, start), double(cached)), t);
    Value head = g.add(g.binary(BinaryKind::Mul, g.iota(shape, 0, index), double(groups)),
                       g.iota(shape, 1, index));
    Value row = g.add(g.binary(BinaryKind::Mul, head, double(stored)), from);
    if (g.failed())
      return fresh;
    return g.gather(g.reshape(both, {batch * groups * stored, depth}), row, 0);
  }

  /// 0 where row s sees column t, -inf elsewhere: [B,1,S,length].
  Value mask() {
    Dims shape{batch, 1, rows, length};
    Value place = g.reshape(places(), {batch, 1, rows, 1}), t = g.iota(shape, 3, index);
    Value seen = g.compare(CompareKind::Le, t, place);
    if (int64_t window = n.getInt("local_window_size", -1); window > 0) {
      Value first = g.binary(BinaryKind::Sub, place, double(window));
      seen = g.binary(BinaryKind::And, seen, g.compare(CompareKind::Gt, t, first));
    }
    Type type = elementOf(q);
    Value bias =
        g.select(seen, g.scalar(type, 0), g.scalar(type, -std::numeric_limits<double>::infinity()));
    return n.has(Bias) ? g.add(bias, n[Bias]) : bias;
  }

  Node &n;
  GraphBuilder &g;
  Type index;
  int64_t heads = 0, groups = 0, batch = 0, rows = 0, depth = 0, cached = 0, length = 0;
  Value q, k, v, past; ///< past: valid positions in the cache, [B]
};
} // namespace

static LogicalResult groupQueryAttention(Node &n) { return GroupQuery(n).run(); }

ArrayRef<Entry> gpucc::frontend_to_graph::groupQueryRules() {
  static const Entry rules[] = {
      {"com.microsoft.GroupQueryAttention", 1, latest, 1, groupQueryAttention},
  };
  return rules;
}
