// The ops of a rank against closed forms of the literature: FLOP, parameters, kept activations.
#include "gpucc/Workload/Expand.h"
#include <gtest/gtest.h>
#include <map>

using namespace gpucc;
using namespace gpucc::workload;

namespace {

Workload builtin(const std::string &name) {
  WorkloadOrError w = loadWorkload(name);
  EXPECT_TRUE(std::holds_alternative<Workload>(w));
  return std::get<Workload>(w);
}

Layout layoutOf(int64_t tp, bool sp, bool flash, int64_t microBatch = 1) {
  Layout l;
  l.tp = tp;
  l.sequenceParallel = sp;
  l.microBatch = microBatch;
  l.recipe.flashAttention = flash;
  l.recipe.precision = Precision::F16;
  return l;
}

// Korthikanti et al. 2022, Table 2: bytes per layer of a GPT layer.
TEST(Expand, KeptActivationsEqualKorthikanti) {
  for (const char *name : {"gpt-22b", "gpt-3-175b", "gpt-529.6b", "gpt-1008b"})
    for (int64_t b : {1, 4}) {
      Workload w = builtin(name);
      double s = w.sequence, h = w.hidden, a = w.heads, t = 8, sbh = s * b * h;
      auto kept = [&](int64_t tp, bool sp, Recompute mode) {
        return expandBlock(w, layoutOf(tp, sp, false, b), {BlockPart::Layer}).savedBytes(mode);
      };
      EXPECT_DOUBLE_EQ(kept(1, false, Recompute::None), sbh * (34 + 5 * a * s / h));
      EXPECT_DOUBLE_EQ(kept(8, false, Recompute::None), sbh * (10 + 24 / t + 5 * a * s / (h * t)));
      EXPECT_DOUBLE_EQ(kept(8, true, Recompute::None), sbh / t * (34 + 5 * a * s / h));
      EXPECT_DOUBLE_EQ(kept(8, false, Recompute::Selective), sbh * (10 + 24 / t));
      EXPECT_DOUBLE_EQ(kept(8, true, Recompute::Selective), sbh * 34 / t);
      EXPECT_DOUBLE_EQ(kept(8, false, Recompute::Full), sbh * 2);
    }
}

// The head of the same paper, section 4.3: layer norm and projection inputs and f32 logits,
// 4 s b h / t (1 + V / h).
TEST(Expand, KeptActivationsOfTheHead) {
  Workload w = builtin("gpt-3-175b");
  double s = w.sequence, h = w.hidden, V = w.vocab, t = 8;
  BlockWork head = expandBlock(w, layoutOf(8, true, false), {BlockPart::Head});
  EXPECT_DOUBLE_EQ(head.savedBytes(Recompute::None), 4 * s * h / t * (1 + V / h));
}

// fp8 products of Transformer Engine read their input back as one byte per element: of Llama's four
// kept inputs (hidden of two norms, the core's output, the activation's output) half is kept.
TEST(Expand, QuantizedInputsAreKeptInsteadOfWideOnes) {
  Workload w = builtin("llama-3-8b");
  Layout l = layoutOf(1, false, true);
  l.recipe.precision = Precision::F8;
  double quantized = expandBlock(w, l, {BlockPart::Layer}).savedBytes(Recompute::None);
  l.recipe.keepQuantized = false;
  double wide = expandBlock(w, l, {BlockPart::Layer}).savedBytes(Recompute::None);
  double s = w.sequence, h = w.hidden, f = w.ffn;
  EXPECT_DOUBLE_EQ(wide - quantized, s * (h + h + h + f));
}

// Megatron-LM 2022, mpu/cross_entropy.py, per f32 logit: cast 2 + 4 bytes; maximum 4; subtract 8;
// exponentials 8; sum 4; divide 8; backward: gradient 8, cast 4 + 2.
TEST(Expand, AnUnfusedLossPassesOverF32Logits) {
  Workload w = builtin("gpt-3-175b");
  Layout l = layoutOf(8, false, false);
  l.recipe.fusedLoss = false;
  double bytes = 0;
  for (const BlockOp &op : expandBlock(w, l, {BlockPart::Head}).ops)
    if (op.name == "head.loss")
      for (const cost::OpWork *work : {&op.forward, &op.backwardInput[0]})
        bytes += work->facts.bytesRead + work->facts.bytesWritten;
  EXPECT_DOUBLE_EQ(bytes, (6 + 4 + 8 + 8 + 4 + 8 + 8 + 6) * (w.sequence * w.vocab / 8.0));
}

// All blocks of all ranks together hold the model's parameters and run its FLOP.
TEST(Expand, RanksSumToTheModel) {
  for (const char *name : {"gpt-3-175b", "llama-3-8b", "bloom-176b", "qwen2.5-7b", "gemma-2-9b",
                           "mixtral-8x7b", "deepseek-v2", "qwen3-30b-a3b", "gpt-oss-20b"})
    for (int64_t tp : {1, 2}) {
      Workload w = builtin(name);
      if (w.isLatent() && tp > 1)
        continue; // every tp rank runs the low-rank projections: more FLOP than the model's
      Layout l = layoutOf(tp, true, true);
      l.ep = w.hasExperts() ? tp : 1;
      double parameters = 0, flops = 0;
      for (BlockKind kind : blocksOf(w)) {
        BlockWork block = expandBlock(w, l, kind);
        parameters += block.parameters * static_cast<double>(tp) +
                      block.expertParameters * static_cast<double>(tp);
        flops += block.matrixFlops() * static_cast<double>(tp);
      }
      ParameterCount count = countParameters(w);
      // Norms, out biases, positions and routers are copied to every tp rank.
      double copied = parameters - count.total();
      EXPECT_GE(copied, tp == 1 ? -1 : 0) << name;
      EXPECT_LE(copied, tp == 1 ? 1 : 0.01 * count.total()) << name;
      FlopCount f = countFlops(w);
      EXPECT_NEAR(flops / (f.linear + f.attentionCausal + f.logits), 1, 1e-3) << name << tp;
    }
}

TEST(Expand, BackwardIsTwoProductsPerProduct) {
  Workload w = builtin("llama-3-8b");
  BlockWork layer = expandBlock(w, layoutOf(1, true, true), {BlockPart::Layer});
  for (const BlockOp &op : layer.ops) {
    if (op.forward.kind != cost::OpKind::Matmul)
      continue;
    ASSERT_EQ(op.backwardInput.size(), 1u) << op.name;
    ASSERT_EQ(op.backwardWeight.size(), 1u) << op.name;
    EXPECT_DOUBLE_EQ(op.backwardInput[0].facts.matrixFlops, op.forward.facts.matrixFlops);
    EXPECT_DOUBLE_EQ(op.backwardWeight[0].facts.matrixFlops, op.forward.facts.matrixFlops);
  }
}

// Megatron: two all-reduces forward and two backward per layer; sequence parallelism replaces each
// by an all-gather and a reduce-scatter and gathers twice more for weight gradients.
TEST(Expand, TensorParallelCollectivesOfALayer) {
  Workload w = builtin("gpt-3-175b");
  auto counts = [&](bool sp) {
    std::map<std::pair<Pass, cost::Collective>, int> n;
    for (const BlockCollective &c :
         expandBlock(w, layoutOf(8, sp, true), {BlockPart::Layer}).collectives) {
      EXPECT_EQ(c.axis, Axis::Tensor);
      EXPECT_DOUBLE_EQ(c.bytes, 2048.0 * 12288 * 2);
      ++n[{c.pass, c.kind}];
    }
    return n;
  };
  auto plain = counts(false), split = counts(true);
  using C = cost::Collective;
  EXPECT_EQ((plain[{Pass::Forward, C::AllReduce}]), 2);
  EXPECT_EQ((plain[{Pass::Backward, C::AllReduce}]), 2);
  EXPECT_EQ((split[{Pass::Forward, C::AllGather}]), 2);
  EXPECT_EQ((split[{Pass::Forward, C::ReduceScatter}]), 2);
  EXPECT_EQ((split[{Pass::Backward, C::AllGather}]), 4);
  EXPECT_EQ((split[{Pass::Backward, C::ReduceScatter}]), 2);
}

TEST(Expand, ExpertsSendEveryRoutedTokenOnce) {
  Workload w = builtin("mixtral-8x7b");
  Layout l = layoutOf(2, true, true);
  l.dp = 4;
  l.ep = 8;
  double sent = 0;
  for (const BlockCollective &c : expandBlock(w, l, {BlockPart::Layer, true}).collectives)
    if (c.kind == cost::Collective::AllToAll && c.pass == Pass::Forward)
      sent += c.bytes;
  // There and back: tokens of the rank (4096 / 2) times top-2 times 4096 elements of two bytes.
  EXPECT_DOUBLE_EQ(sent, 2 * 2048.0 * 2 * 4096 * 2);
}

} // namespace
