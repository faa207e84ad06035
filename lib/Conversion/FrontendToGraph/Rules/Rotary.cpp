//===- Rotary.cpp - RotaryEmbedding ---------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// x [B,H,S,D] or [B,S,H*D]; caches [P, R/2] with positions [B,S], or [B,S,R/2] without.
static LogicalResult rotate(Node &n, Value positions, Value cos, Value sin) {
  GraphBuilder &g = n.g;
  Value x = n[0];
  bool flat = rankOf(x) == 3;
  Dims shape = shapeOf(x);
  if (flat) {
    int64_t heads = n.getInt("num_heads", 0);
    if (heads < 1 || shape[2] % heads != 0)
      return n.invalid("a rank-3 operand needs num_heads, a divisor of its last dimension");
    x = g.transpose(g.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
  }
  if (rankOf(x) != 4)
    return n.invalid("its operand must have rank 3 or 4");
  if (positions) {
    if (rankOf(cos) != 2 || rankOf(sin) != 2)
      return n.invalid("with position_ids the caches must be matrices");
    cos = g.gather(cos, positions, 0);
    sin = g.gather(sin, positions, 0);
  }
  int64_t rotated = n.getInt("rotary_embedding_dim", 0);
  if (g.failed() || rankOf(cos) < 1)
    return failure();
  int64_t have = shapeOf(cos).back() * 2;
  if (rotated == 0)
    rotated = shapeOf(x)[3];
  if (have != rotated)
    return n.invalid("the caches have " + llvm::Twine(have / 2) + " angles per position; " +
                     llvm::Twine(rotated / 2) + " are needed");
  bool interleaved = n.getInt("interleaved", 0) != 0;
  Value y = g.create<RopeOp>(x, cos, sin, interleaved);
  if (flat && !g.failed())
    y = g.reshape(g.transpose(y, {0, 2, 1, 3}), shape);
  return n.yield(y);
}

static LogicalResult rotary(Node &n) { return rotate(n, n[3], n[1], n[2]); }

/// Positions come second, and may be one start for all rows.
static LogicalResult microsoftRotary(Node &n) {
  if (n.rank(1) != 2)
    return n.unsupported("position_ids that are only a start");
  if (n.getFloat("scale", 1) != 1 || n.getInt("is_packed_batching", 0) != 0)
    return n.unsupported("scale or is_packed_batching");
  return rotate(n, n[1], n[2], n[3]);
}

ArrayRef<Entry> gpucc::frontend_to_graph::rotaryRules() {
  static const Entry rules[] = {
      {"RotaryEmbedding", 23, latest, 3, rotary},
      {"com.microsoft.RotaryEmbedding", 1, latest, 4, microsoftRotary},
  };
  return rules;
}
