// Recomputation by operator and products of one input run one by one, against counts by hand.
#include "Layouts.h"
#include "gpucc/Workload/Expand.h"
#include <gtest/gtest.h>

using namespace gpucc;
using namespace gpucc::workload;

namespace {

// torchtitan's selective activation checkpointing by operator. Llama 3 8B, bytes per token in 16
// bits: the input 2 * 4096, of seven products the first, third and fifth (query 2 * 4096, value
// 2 * 1024, gate 2 * 14336), attention 2 * 4096 and 4 per head; the seventh is read by nobody. Key
// (4096 x 1024), out (4096 x 4096) and up (4096 x 14336) run again.
TEST(RecomputeByOp, KeepsEverySecondProduct) {
  Workload w = builtin("llama-3-8b");
  double s = static_cast<double>(w.sequence), h = 4096, f = 14336, kv = 1024;
  for (bool separate : {false, true}) {
    Layout l = layoutOf(1, false, true);
    l.recipe.separateProducts = separate;
    BlockWork one = expandBlock(w, l, {BlockPart::Layer});
    EXPECT_DOUBLE_EQ(one.savedBytes(Recompute::Ops), s * (2 * (3 * h + kv + f) + 4 * 32));
    double again = 0, attention = 0;
    for (const BlockOp &op : one.ops) {
      bool core = op.forward.kind == cost::OpKind::Attention;
      (core ? attention : again) += op.againByOp * op.forward.facts.matrixFlops;
    }
    EXPECT_DOUBLE_EQ(again, 2 * s * h * (kv + h + f));
    EXPECT_EQ(attention, 0);
    // Two ranks with sequence parallelism: the sum of out's results over the ranks is kept, a half
    // of the rows on each, and out does not run again.
    l.tp = 2;
    l.sequenceParallel = true;
    BlockWork two = expandBlock(w, l, {BlockPart::Layer});
    EXPECT_DOUBLE_EQ(two.savedBytes(Recompute::Ops), s * (2 * (4 * h + kv + f) + 4 * 32) / 2);
    for (const BlockOp &op : two.ops)
      if (op.name == "attention.out")
        EXPECT_EQ(op.againByOp, 0);
  }
}

// Of a mixture the grouped products run again, not what other ranks sent. Mixtral 8x7B over eight
// ranks of experts, bytes per token in 16 bits: the input, query, value, attention; two
// copies of each token that arrived. The router runs again.
TEST(RecomputeByOp, KeepsWhatArrived) {
  Workload w = builtin("mixtral-8x7b");
  Layout l = layoutOf(1, false, true);
  l.dp = l.ep = 8;
  BlockWork block = expandBlock(w, l, {BlockPart::Layer, true});
  double s = static_cast<double>(w.sequence), h = 4096, kv = 1024;
  EXPECT_DOUBLE_EQ(block.savedBytes(Recompute::Ops), s * (2 * (3 * h + kv + 2 * h) + 4 * 32));
  double again = 0;
  for (const BlockOp &op : block.ops)
    if (op.forward.kind == cost::OpKind::Matmul)
      again += op.againByOp * op.forward.facts.matrixFlops;
  EXPECT_DOUBLE_EQ(again,
                   2 * s * h * (kv + h + 8 + 2 * 2 * 14336)); // key, out, router; experts' gate, up
}

// In fp8 the key's product runs again and with it the cast of the input, which the kept query's
// product made for all three.
TEST(RecomputeByOp, CastsAgain) {
  Layout l = layoutOf(1, false, true);
  l.recipe.precision = Precision::F8;
  for (bool separate : {false, true}) {
    l.recipe.separateProducts = separate;
    double cast = 0;
    for (const BlockOp &op : expandBlock(builtin("llama-3-8b"), l, {BlockPart::Layer}).ops)
      if (op.name.ends_with(".quantize"))
        cast += op.againByOp * op.forward.facts.bytesWritten;
    EXPECT_DOUBLE_EQ(cast, 3 * 2.0 * 8192 * 4096) << separate; // inputs of qkv, out and up
  }
}

// Query, key and value one by one: the same FLOP and parameters, the input read three times, three
// gradients of it written and summed (three reads, one write) where one was written and the
// gradients of the results were joined (a read and a write of their columns).
TEST(RecomputeByOp, SeparateProductsReadTheirInputAgain) {
  Workload w = builtin("llama-3-8b");
  double s = static_cast<double>(w.sequence), h = 4096, n = 4096 + 2 * 1024;
  auto bytes = [&](bool separate, bool backward) {
    Layout l = layoutOf(1, false, true);
    l.recipe.separateProducts = separate;
    BlockWork block = expandBlock(w, l, {BlockPart::Layer});
    double sum = 0;
    for (const BlockOp &op : block.ops) {
      if (op.name.rfind("attention.", 0) != 0)
        continue;
      for (const cost::OpWork &work : op.backwardInput)
        sum += backward ? work.facts.bytesRead + work.facts.bytesWritten : 0;
      sum += backward ? 0 : op.forward.facts.bytesRead + op.forward.facts.bytesWritten;
    }
    return sum;
  };
  EXPECT_DOUBLE_EQ(bytes(true, false) - bytes(false, false), 2 * 2 * s * h);
  EXPECT_DOUBLE_EQ(bytes(true, true) - bytes(false, true), 2 * s * (2 * h + 4 * h - 2 * n));
  Layout l = layoutOf(1, false, true);
  BlockWork joined = expandBlock(w, l, {BlockPart::Layer});
  l.recipe.separateProducts = true;
  BlockWork apart = expandBlock(w, l, {BlockPart::Layer});
  EXPECT_DOUBLE_EQ(apart.matrixFlops(), joined.matrixFlops());
  EXPECT_DOUBLE_EQ(apart.parameters, joined.parameters);
  EXPECT_DOUBLE_EQ(apart.savedBytes(Recompute::None), joined.savedBytes(Recompute::None));
}

} // namespace
