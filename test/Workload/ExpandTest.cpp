// The ops of a rank against closed forms of the literature: FLOP, parameters, kept activations.
#include "gpucc/Workload/Expand.h"
#include "Layouts.h"
#include <gtest/gtest.h>
#include <map>

using namespace gpucc;
using namespace gpucc::workload;

namespace {

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

/// Bytes that the ops of a name move forward and backward (of inputs).
std::pair<double, double> bytesOf(const BlockWork &block, const std::string &name) {
  std::pair<double, double> sum;
  for (const BlockOp &op : block.ops)
    if (op.name == name) {
      sum.first += op.forward.facts.bytesRead + op.forward.facts.bytesWritten;
      for (const cost::OpWork &work : op.backwardInput)
        sum.second += work.facts.bytesRead + work.facts.bytesWritten;
    }
  return sum;
}

// The maximum and sum read 16-bit logits, the gradient reads and overwrites them, backward scales
// it.
TEST(Expand, AnInPlaceLossMovesTenBytesPerLogit) {
  Workload w = builtin("llama-3-8b");
  Layout l = layoutOf(1, false, true);
  l.recipe.inPlaceLoss = true;
  auto [forward, backward] = bytesOf(expandBlock(w, l, {BlockPart::Head}), "head.loss");
  EXPECT_DOUBLE_EQ(forward, 6.0 * w.sequence * w.vocab);
  EXPECT_DOUBLE_EQ(backward, 4.0 * w.sequence * w.vocab);
}

// gpt-oss, 16-bit, per row and column: clamping reads and writes two halves (8 bytes) and joins
// them (8); its backward reads gradient and input and writes twice (12), and splits (8). Bias: bias
// times probability (2), sum (6), concatenation (4); backward two products (8) and two sums (4).
TEST(Expand, ExpertBiasesAndClampsByHand) {
  Workload w = builtin("gpt-oss-20b");
  Layout l = layoutOf(1, true, true);
  BlockWork block = expandBlock(w, l, {BlockPart::Layer, true});
  double rows = static_cast<double>(w.sequence * w.moe.topK);
  auto clamp = bytesOf(block, "experts.clamp"), bias = bytesOf(block, "experts.bias");
  EXPECT_DOUBLE_EQ(clamp.first, 16 * rows * static_cast<double>(w.moe.hidden));
  EXPECT_DOUBLE_EQ(clamp.second, 20 * rows * static_cast<double>(w.moe.hidden));
  EXPECT_DOUBLE_EQ(bias.first, 12 * rows * static_cast<double>(w.hidden));
  EXPECT_DOUBLE_EQ(bias.second, 12 * rows * static_cast<double>(w.hidden));
  // Both keep their input; clamping again makes the second one. Norms and the router's input apart.
  double kept = 2 * rows * 2 * static_cast<double>(w.moe.hidden);
  BlockWork plain = expandBlock(
      [&] {
        Workload p = w;
        p.moe.clamped = false;
        return p;
      }(),
      l, {BlockPart::Layer, true});
  EXPECT_DOUBLE_EQ(block.savedBytes(Recompute::None) - plain.savedBytes(Recompute::None), kept);
  EXPECT_DOUBLE_EQ(block.savedBytes(Recompute::Cheap), plain.savedBytes(Recompute::Cheap));
  BlockWork none = expandBlock(builtin("qwen3-30b-a3b"), l, {BlockPart::Layer, true});
  EXPECT_EQ(bytesOf(none, "experts.clamp").first + bytesOf(none, "experts.bias").first, 0);
}

// Fused: no pass of its own for the activation, for the second product's input or for the gradient
// of the first one's result; the products and what is kept stay.
TEST(Expand, FusedExpertsHaveNoPassesBetweenTheirProducts) {
  Workload w = builtin("qwen3-30b-a3b");
  Layout l = layoutOf(1, true, true);
  l.recipe.precision = Precision::F8;
  BlockWork apart = expandBlock(w, l, {BlockPart::Layer, true});
  l.recipe.fusedExperts = true;
  BlockWork fused = expandBlock(w, l, {BlockPart::Layer, true});
  EXPECT_GT(bytesOf(apart, "experts.activation").first, 0);
  EXPECT_EQ(bytesOf(fused, "experts.activation").first, 0);
  EXPECT_EQ(bytesOf(fused, "experts.activation").second, 0);
  EXPECT_EQ(bytesOf(fused, "experts.down.quantize").first, 0);
  EXPECT_EQ(bytesOf(fused, "experts.up.quantize").second, 0);
  EXPECT_EQ(bytesOf(fused, "experts.up.quantize").first,
            bytesOf(apart, "experts.up.quantize").first);
  EXPECT_DOUBLE_EQ(fused.matrixFlops(), apart.matrixFlops());
  EXPECT_DOUBLE_EQ(fused.savedBytes(Recompute::None), apart.savedBytes(Recompute::None));
}

// 16-bit queries, keys and values of 32 + 8 + 8 heads of 128 are read and written once more.
TEST(Expand, QuantizedAttentionCastsItsOperands) {
  Workload w = builtin("llama-3-8b");
  Layout l = layoutOf(1, true, true);
  l.recipe.quantizedAttention = true;
  BlockWork block = expandBlock(w, l, {BlockPart::Layer});
  EXPECT_DOUBLE_EQ(bytesOf(block, "attention.quantize").first, 4.0 * w.sequence * 48 * 128);
  for (const BlockOp &op : block.ops)
    if (op.name == "attention.core") {
      EXPECT_EQ(op.forward.facts.matrixType, DType::F8E4M3);
      EXPECT_EQ(op.forward.facts.specialFlops, 32.0 * w.sequence * w.sequence / 2);
    }
}

// torchao per row: 5 bytes for each cast of an element (maximum 2, read 2, write 1), activations
// and gradients along two dimensions, weights along one per pass; 4 for a rescaled result.
TEST(Expand, RowWiseScalesByHand) {
  Workload w = builtin("llama-3-8b");
  Layout l = layoutOf(1, false, true);
  l.recipe.precision = Precision::F8;
  l.recipe.quantizeBytes = 10, l.recipe.quantizeWeightBytes = 10, l.recipe.rescaleBytes = 4;
  double s = w.sequence, h = w.hidden, f = w.ffn;
  auto [forward, backward] = bytesOf(expandBlock(w, l, {BlockPart::Layer}), "mlp.down.quantize");
  EXPECT_DOUBLE_EQ(forward, 10 * s * f + 5 * f * h);
  EXPECT_DOUBLE_EQ(backward, 10 * s * h + 5 * f * h + 4 * (s * f + f * h));
}

// A second kernel reads the product's 16-bit result again before it adds it.
TEST(Expand, UnfusedAccumulationWritesTheWeightGradientTwice) {
  Workload w = builtin("gpt-3-175b");
  Layout l = layoutOf(8, false, false);
  auto gradientBytes = [&] {
    double sum = 0;
    for (const BlockOp &op : expandBlock(w, l, {BlockPart::Layer}).ops)
      for (const cost::OpWork &work : op.backwardWeight)
        sum += work.facts.bytesWritten;
    return sum;
  };
  double fused = gradientBytes();
  l.recipe.fusedAccumulation = false;
  double h = w.hidden;
  EXPECT_DOUBLE_EQ(gradientBytes() - fused, 4 * 12 * h * h / 8);
}

// PyTorch's autograd, GPT with biases and dropout, 16 bits, tokens T, width h: two sums where the
// residual stream forks (2 reads, 1 write each), the join of query, key and value gradients (3h
// read and written), and the sums of the biases' gradients (3h + h + 4h + h read).
TEST(Expand, AutogradsOwnPassesByHand) {
  Workload w = builtin("gpt-3-175b");
  Layout l = layoutOf(1, false, false);
  auto bytes = [&](const std::string &part) {
    double sum = 0;
    for (const BlockOp &op : expandBlock(w, l, {BlockPart::Layer}).ops)
      if (op.name.find(part) != std::string::npos)
        for (const cost::OpWork &work : op.backwardInput)
          sum += work.facts.bytesRead + work.facts.bytesWritten;
    return sum;
  };
  double row = 2048.0 * 12288 * 2;
  EXPECT_DOUBLE_EQ(bytes("qkv.join"), 6 * row);
  // Dropout: gradient and a mask of one byte in, gradient out.
  EXPECT_DOUBLE_EQ(bytes("residual"), 2 * (2.5 + 3) * row);
  EXPECT_DOUBLE_EQ(bytes("bias-gradient"), 0);
  l.recipe.fusedBiasGradient = false;
  EXPECT_DOUBLE_EQ(bytes("bias-gradient"), 9 * row);
}

// The result of a block's last product is read by no backward pass; a mask of dropout after it is.
TEST(Expand, WhatARecomputedPassNeedNotReach) {
  Layout l = layoutOf(1, true, true);
  Workload w = builtin("llama-3-8b");
  BlockWork layer = expandBlock(w, l, {BlockPart::Layer});
  ASSERT_LT(layer.lastRead(), layer.ops.size());
  EXPECT_EQ(layer.ops[layer.lastRead()].name, "mlp.down");
  layer = expandBlock(builtin("gpt-3-175b"), l, {BlockPart::Layer}); // drops out after it
  EXPECT_EQ(layer.lastRead(), layer.ops.size());
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

// Backward, the saved input is gathered beside the input gradient's products; its gradient is
// summed beside the weight gradient's only where the software does that.
TEST(Expand, WhichCollectivesRunBesideWholeProducts) {
  Workload w = builtin("gpt-3-175b");
  auto whole = [&](bool sp, bool async) {
    Layout l = layoutOf(8, sp, true);
    l.recipe.asyncTensor = async;
    std::map<cost::Collective, int> n;
    for (const BlockCollective &c : expandBlock(w, l, {BlockPart::Layer}).collectives)
      n[c.kind] += c.whole ? 1 : 0;
    return n;
  };
  using C = cost::Collective;
  EXPECT_EQ(whole(false, false)[C::AllReduce], 0);
  EXPECT_EQ(whole(false, true)[C::AllReduce], 2); // of four
  EXPECT_EQ(whole(true, false)[C::AllGather], 2); // of six
  EXPECT_EQ(whole(true, false)[C::ReduceScatter], 0);
  EXPECT_EQ(whole(true, true)[C::ReduceScatter], 2); // of four
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

// Transformer Engine calls cuBLAS for every local expert, forward and for both gradients of both
// products; a fused grouped kernel is one call.
TEST(Expand, EveryLocalExpertIsACall) {
  Workload w = builtin("qwen3-30b-a3b");
  Layout l = layoutOf(1, true, true);
  l.dp = l.ep = 8;
  auto calls = [&] {
    double sum = 0;
    for (const BlockOp &op : expandBlock(w, l, {BlockPart::Layer, true}).ops) {
      sum += op.forward.calls;
      for (const cost::OpWork &back : op.backwardInput)
        sum += back.calls;
      for (const cost::OpWork &back : op.backwardWeight)
        sum += back.calls;
    }
    return sum;
  };
  EXPECT_EQ(calls(), 6 * (128 / 8 - 1));
  l.dp = l.ep = 128;
  EXPECT_EQ(calls(), 0);
  l.dp = l.ep = 1;
  EXPECT_EQ(calls(), 6 * 127);
  l.recipe.fusedExperts = true;
  EXPECT_EQ(calls(), 0);
}

// DeepSeek-V3: tokens and gradients go to the experts as fp8, results come back with 16 bits, and
// SwiGLU keeps its input as fp8: 8 experts of twice 2048 columns and the shared one.
TEST(Expand, QuantizedDispatchAndActivations) {
  Workload w = builtin("deepseek-v3");
  Layout l = layoutOf(1, true, true);
  l.dp = l.ep = 64;
  l.recipe.precision = Precision::F8;
  BlockWork wide = expandBlock(w, l, {BlockPart::Layer, true});
  l.recipe.dispatchQuantized = l.recipe.keepActivationQuantized = true;
  BlockWork narrow = expandBlock(w, l, {BlockPart::Layer, true});
  double rows = 4096.0 * 8 * 7168, there = 0, back = 0;
  for (const BlockCollective &c : narrow.collectives)
    if (c.axis == Axis::Expert)
      ((c.name == "experts.dispatch") == (c.pass == Pass::Forward) ? there : back) += c.bytes;
  EXPECT_DOUBLE_EQ(there, 2 * rows);
  EXPECT_DOUBLE_EQ(back, 2 * 2 * rows);
  EXPECT_DOUBLE_EQ(wide.savedBytes(Recompute::None) - narrow.savedBytes(Recompute::None),
                   4096.0 * (8 + 1) * 2 * 2048);
}

// A merged forward and backward pass needs chunks under a pipeline and no full recomputation.
TEST(Expand, ExpertTrafficRunsBesideWhatThereIs) {
  Workload w = builtin("qwen3-30b-a3b");
  Layout l = layoutOf(1, true, true);
  l.dp = l.ep = 8;
  l.recipe.overlapExperts = true;
  auto beside = [&] {
    for (const BlockCollective &c : expandBlock(w, l, {BlockPart::Layer, true}).collectives)
      if (c.axis == Axis::Expert)
        return c.beside;
    return false;
  };
  EXPECT_TRUE(beside());
  l.recompute = Recompute::Full;
  EXPECT_FALSE(beside());
  l.recompute = Recompute::Cheap;
  l.pp = 2;
  EXPECT_FALSE(beside());
  l.schedule = solvers::ScheduleKind::Interleaved;
  l.virtualStages = 2;
  EXPECT_TRUE(beside());
  l.schedule = solvers::ScheduleKind::DualPipe;
  l.virtualStages = 1;
  EXPECT_TRUE(beside());
}

// Ring attention of four ranks: 1 + 3 * 3/4 results are added to the output, each read with it and
// written, backward the same for the gradients of queries, keys and values. Gathered keys need
// none.
TEST(Expand, RingAttentionMergesItsSteps) {
  Workload w = builtin("llama-3-8b");
  Layout l = layoutOf(1, false, true);
  l.cp = 4;
  BlockWork ring = expandBlock(w, l, {BlockPart::Layer});
  double rows = 8192 / 4, steps = 1 + 3 * 0.75;
  EXPECT_DOUBLE_EQ(bytesOf(ring, "attention.merge").first, 3 * 2 * rows * 4096 * steps);
  EXPECT_DOUBLE_EQ(bytesOf(ring, "attention.merge-gradients").second,
                   3 * 2 * rows * (4096 + 2 * 1024) * steps);
  auto core = [](const BlockWork &block) {
    for (const BlockOp &op : block.ops)
      if (op.name == "attention.core")
        return op.forward;
    return cost::OpWork();
  };
  EXPECT_EQ(core(ring).launches, 4);
  EXPECT_EQ(core(ring).sequence, 2048 * 5 / 8); // one whole piece, three of half the size
  l.recipe.gatherContext = true;
  BlockWork gathered = expandBlock(w, l, {BlockPart::Layer});
  EXPECT_EQ(bytesOf(gathered, "attention.merge").first, 0);
  EXPECT_EQ(core(gathered).launches, 1);
  EXPECT_EQ(core(gathered).sequence, 8192);
  EXPECT_DOUBLE_EQ(gathered.matrixFlops(), ring.matrixFlops());
}

// Transformer Engine in fp8, Llama 3 8B on eight ranks: each rank casts its eighth of the rows (2
// bytes read, a row-wise and a column-wise copy written) and one byte per element is gathered:
// forward the inputs of qkv and up, backward those inputs once more and the gradients of out's and
// down's results.
TEST(Expand, RowsAreQuantizedBeforeTheyAreGathered) {
  Workload w = builtin("llama-3-8b");
  double s = static_cast<double>(w.sequence), h = 4096;
  for (bool before : {false, true}) {
    Layout l = layoutOf(8, true, true);
    l.recipe.precision = Precision::F8;
    l.recipe.gatherQuantized = before;
    BlockWork block = expandBlock(w, l, {BlockPart::Layer});
    double gathered = 0, forward = 0, backward = 0;
    for (const BlockCollective &c : block.collectives)
      if (c.kind == cost::Collective::AllGather)
        gathered += c.bytes;
    for (const BlockOp &op : block.ops) {
      if (op.name == "attention.qkv.quantize" || op.name == "mlp.up.quantize")
        forward += op.forward.facts.bytesRead + op.forward.facts.bytesWritten;
      if (op.name == "attention.out.quantize" || op.name == "mlp.down.quantize")
        for (const cost::OpWork &cast : op.backwardInput)
          backward += cast.facts.bytesRead + cast.facts.bytesWritten;
    }
    EXPECT_DOUBLE_EQ(gathered, 6 * s * h * (before ? 1 : 2));
    EXPECT_DOUBLE_EQ(forward, 2 * s * h * 4 / (before ? 8 : 1));
    EXPECT_DOUBLE_EQ(backward, 2 * s * h * 4 / (before ? 8 : 1));
  }
  // GPT-3 on four ranks: the input of down is as wide as the model, but each rank's own.
  double own[2] = {0, 0};
  for (bool before : {false, true}) {
    Layout l = layoutOf(4, true, true);
    l.recipe.precision = Precision::F8;
    l.recipe.gatherQuantized = before;
    l.recipe.quantizeWeightBytes = 10;
    l.recipe.rescaleBytes = 4;
    for (const BlockOp &op : expandBlock(builtin("gpt-3-175b"), l, {BlockPart::Layer}).ops)
      if (op.name == "mlp.down.quantize" || op.name == "attention.out.quantize")
        own[before] += op.forward.facts.bytesRead + op.forward.facts.bytesWritten;
      else if (op.name == "mlp.up.quantize") // weights and scales are no rows
        own[before] += op.backwardInput.front().facts.bytesRead;
  }
  EXPECT_GT(own[0], 0);
  EXPECT_DOUBLE_EQ(own[0], own[1]);
}

} // namespace
