//===- Expand.cpp - attention, MLP, experts, embedding, head --------------===//
//
// One function per part, in the order in which the ops run. Kept bytes follow Korthikanti et al.
// 2022, section 4: what each op's backward reads, distinct tensors once.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Workload/Expand.h"
#include "Builder.h"
#include "KeepByOp.h"
#include <algorithm>
#include <string>
#include <vector>

namespace gpucc::workload {

double BlockWork::matrixFlops() const {
  double sum = 0;
  for (const BlockOp &op : ops)
    sum += op.forward.facts.matrixFlops;
  return sum;
}

double BlockWork::savedBytes(Recompute mode) const {
  if (mode == Recompute::Full)
    return inputBytes;
  double sum = mode == Recompute::Ops ? inputBytes : 0;
  for (const BlockOp &op : ops) {
    if (mode == Recompute::Ops) {
      sum += op.keptByOp;
      continue;
    }
    bool flash = op.forward.kind == cost::OpKind::Attention;
    bool dropped =
        op.core && (mode == Recompute::Selective || (mode == Recompute::Cheap && !flash));
    if (!dropped)
      sum += op.savedBytes - (mode == Recompute::Cheap ? op.rebuiltBytes : 0);
  }
  return sum;
}

size_t BlockWork::lastRead() const {
  for (size_t i = ops.size(); i-- > 0;)
    if (ops[i].savedBytes > 0)
      return ops[i].forward.kind == cost::OpKind::Matmul ? i : ops.size();
  return ops.size();
}

std::vector<BlockKind> blocksOf(const Workload &workload) {
  std::vector<BlockKind> blocks = {{BlockPart::Embedding}};
  for (int64_t i = 0; i < workload.layers + workload.predictAhead; ++i) {
    int64_t layer = std::min(i, workload.layers - 1);
    blocks.push_back(
        {BlockPart::Layer, workload.layerHasExperts(layer), workload.layerIsWindowed(layer)});
  }
  blocks.push_back({BlockPart::Head});
  return blocks;
}

double boundaryBytes(const Workload &workload, const Layout &layout) {
  BlockWork none;
  Builder b(workload, layout, none);
  double rows = layout.recipe.scatterSends ? b.T / static_cast<double>(layout.tp) : b.Tn;
  return rows * b.h * b.activation;
}

namespace {

/// Local sizes of the attention of one tp rank.
struct AttentionSizes {
  double heads, keyHeads, queryWidth, keyWidth, valueWidth, queryDim, valueDim;
  AttentionSizes(const Workload &w, const Layout &l) {
    heads = std::max<int64_t>(1, w.heads / l.tp);
    keyHeads = std::max<int64_t>(1, (w.isLatent() ? w.heads : w.kvHeads) / l.tp);
    queryDim = static_cast<double>(w.queryDim());
    valueDim = static_cast<double>(w.valueDim());
    queryWidth = heads * queryDim;
    keyWidth = keyHeads * queryDim;
    valueWidth = keyHeads * valueDim;
  }
};

/// Ring attention (Transformer Engine, AttnFuncWithCPAndKVP2P): every step's result is scaled and
/// added to the output, backward its gradients to those of queries, keys and values. Where the mask
/// is causal a step after the first has half of the keys or half of the queries: three quarters of
/// a result on average.
void mergeRing(const Layout &l, Builder &b, const AttentionSizes &a) {
  double steps = 1 + 0.75 * static_cast<double>(l.cp - 1);
  b.passes("attention.merge", b.T * a.heads * a.valueDim * steps, 2, 1, 0, 0, 0, 0, b.activation);
  double gradients = a.queryWidth + a.keyWidth + a.valueWidth;
  b.passes("attention.merge-gradients", b.T * gradients * steps, 0, 0, 2, 1, 0, 0,
           b.activation); // the core's operators issue them
}

void flashCore(const Workload &w, const Layout &l, Builder &b, const AttentionSizes &a,
               bool windowed, BlockWork &block) {
  double rows = static_cast<double>(w.sequence / l.cp), keys = w.averageKeys(windowed);
  BlockOp op;
  op.name = "attention.core";
  op.core = true;
  cost::OpWork &f = op.forward;
  f.kind = cost::OpKind::Attention;
  f.headDim = static_cast<int64_t>(a.queryDim);
  f.rateFactor = l.recipe.attentionRate;
  f.sequence = w.sequence;
  if (!l.recipe.gatherContext && l.cp > 1) { // a ring step brings the keys of one rank
    f.sequence = w.sequence / l.cp * (l.cp + 1) / (2 * l.cp);
    f.launches = static_cast<double>(l.cp);
  }
  f.facts.batch = static_cast<int64_t>(static_cast<double>(l.microBatch) * a.heads);
  f.facts.m = static_cast<int64_t>(rows);
  f.facts.n = w.sequence;
  f.facts.k = static_cast<int64_t>(a.queryDim);
  bool wide = b.activation > 2;
  f.facts.matrixType = wide                                   ? DType::F32
                       : l.recipe.precision == Precision::F16 ? DType::F16
                                                              : DType::BF16;
  if (l.recipe.quantizedAttention) { // queries, keys and values are cast, backward the gradient
    f.facts.matrixType = DType::F8E4M3;
    b.passes("attention.quantize", b.T * (a.queryWidth + a.keyWidth + a.valueWidth), 1, 1, 1, 1, 0,
             1, b.activation);
  }
  f.facts.matrixFlops =
      2 * static_cast<double>(f.facts.batch) * rows * keys * (a.queryDim + a.valueDim);
  f.facts.specialFlops = static_cast<double>(f.facts.batch) * rows * keys; // exponentials
  double in = b.T * (a.queryWidth + a.keyWidth + a.valueWidth) * b.activation;
  double out = b.T * a.heads * a.valueDim * b.activation;
  f.facts.bytesRead = in;
  f.facts.bytesWritten = out;
  cost::OpWork back = f;
  back.backward = true;
  back.facts.matrixFlops *= 2.5; // scores again, then four products
  back.facts.bytesRead = in + 2 * out;
  back.facts.bytesWritten = in;
  back.launches = 3 * f.launches;
  op.backwardInput.push_back(back);
  op.savedBytes = b.T * a.heads * 4; // the log of each row's sum; q, k, v are kept by their makers
  block.ops.push_back(op);
  if (!l.recipe.gatherContext && l.cp > 1)
    mergeRing(l, b, a);
  // The other ranks' keys and values pass by, or are gathered; gradients return the same way.
  double kv = static_cast<double>(l.cp) * b.T * (a.keyWidth + a.valueWidth) * b.activation;
  b.collective("attention.core", Pass::Forward, cost::Collective::AllGather, Axis::Context, kv,
               true);
  b.collective("attention.core", Pass::Backward, cost::Collective::AllGather, Axis::Context, kv,
               true);
  b.collective("attention.core", Pass::Backward, cost::Collective::ReduceScatter, Axis::Context, kv,
               true);
}

void unfusedCore(const Workload &w, const Layout &l, Builder &b, const AttentionSizes &a,
                 BlockWork &) {
  double rows = static_cast<double>(w.sequence / l.cp), keys = static_cast<double>(w.sequence);
  double batch = static_cast<double>(l.microBatch) * a.heads;
  double scores = batch * rows * keys;
  auto core = [](BlockOp &op) { op.core = true; };
  auto square = [&](const char *name, double n, double k) {
    BlockOp &op = b.matmul(name, rows, n, k, batch, 0, false);
    op.core = true;
    // Both operands are activations: two products backward, none for a weight.
    op.backwardInput.push_back(op.backwardWeight[0]);
    op.backwardInput[1].facts.bytesWritten = batch * n * k * b.activation;
    op.backwardWeight.clear();
  };
  square("attention.scores", keys, a.queryDim);
  // The slopes' biases are written out for every score and added by the product (baddbmm).
  if (w.positions == Positions::Alibi) {
    BlockOp &biases = b.pointwise("attention.alibi", scores, 1, 1, 0, 0, 0, 1);
    biases.backwardInput.clear();
    core(biases);
  }
  BlockOp &softmax = b.pointwise("attention.softmax", scores, 1, 1, 2, 1, 0, 3);
  softmax.savedBytes = scores * b.activation; // its result, whether scale and mask are fused or not
  core(softmax);
  if (w.dropout) {
    BlockOp &op =
        b.pointwise("attention.dropout", scores, 1, 1.5, 1.5, 1, scores * (1 + b.activation), 1);
    core(op);
  }
  square("attention.values", a.valueDim, keys);
  // Heads come out of the batched product side by side and are copied into the rows.
  BlockOp &rowsOf = b.pointwise("attention.rows", b.T * a.heads * a.valueDim, 1, 1, 0, 0, 0, 1);
  rowsOf.backwardInput.clear();
  core(rowsOf);
}

/// Cheap recompute repeats the op; what it reads is kept or repeated too.
void again(BlockOp &op) {
  op.cheap = true;
  op.rebuiltBytes =
      op.name == "attention.query-up" || op.name == "attention.kv-up" ? op.savedBytes : 0;
}

struct Product {
  const char *name;
  double width;
};

/// Products of one input: joined by the software into one, or one by one. Then each reads the input
/// and writes a gradient of it, which are summed; the input is cast once.
void products(const Layout &l, Builder &b, const std::string &prefix,
              const std::vector<Product> &joined, const std::vector<Product> &separate, double rows,
              double keptInput, bool rebuilt) {
  const std::vector<Product> &run = l.recipe.separateProducts ? separate : joined;
  for (size_t i = 0; i < run.size(); ++i) {
    BlockOp &op =
        b.matmul(prefix + "." + run[i].name, rows, run[i].width, b.h, 1, i == 0 ? keptInput : 0);
    if (i == 0 && rebuilt)
      op.rebuiltBytes = op.savedBytes;
    if (i > 0)
      b.castBefore();
  }
  if (run.size() > 1)
    b.backwardPass(prefix + "." + run[0].name + ".join", rows * b.h,
                   static_cast<double>(run.size()), 1);
}

void attention(const Workload &w, const Layout &l, Builder &b, BlockWork &block) {
  AttentionSizes a(w, l);
  double h = b.h, T = b.T, e = b.activation;
  b.norm("attention.norm", b.Tn, h);
  b.enterTensor("attention.qkv");
  if (w.isLatent()) {
    double q = static_cast<double>(w.latent.queryRank), kv = static_cast<double>(w.latent.kvRank);
    double rope = static_cast<double>(w.latent.ropeDim),
           nope = static_cast<double>(w.latent.nopeDim);
    double kept = b.Tn * h * e;
    if (q > 0) {
      b.matmul("attention.query-down", T, q, h, 1, kept);
      block.ops.back().rebuiltBytes = block.ops.back().savedBytes;
      b.norm("attention.query-norm", T, q);
      again(b.matmul("attention.query-up", T, a.queryWidth, q));
      b.parameters(h * q + q * a.queryWidth);
    } else {
      b.matmul("attention.query", T, a.queryWidth, h, 1, kept);
      block.ops.back().rebuiltBytes = block.ops.back().savedBytes;
      b.parameters(h * a.queryWidth);
    }
    b.matmul("attention.kv-down", T, kv + rope, h, 1, 0);
    b.norm("attention.kv-norm", T, kv);
    again(b.matmul("attention.kv-up", T, a.heads * (nope + a.valueDim), kv));
    b.parameters(h * (kv + rope) + kv * a.heads * (nope + a.valueDim));
    // The shared rotary part is copied to every head and joined to the rest.
    again(b.pointwise("attention.rope", T * (a.queryWidth + a.keyWidth), 1, 1, 1, 1, 0, 4));
  } else {
    double n = a.queryWidth + a.keyWidth + a.valueWidth;
    std::vector<Product> three = {
        {"query", a.queryWidth}, {"key", a.keyWidth}, {"value", a.valueWidth}};
    products(l, b, "attention", {{"qkv", n}}, three, T, b.Tn * h * e, true);
    b.parameters(h * n + (w.qkvBiases ? n : 0));
    if (w.qkvBiases)
      b.biasGradient("attention.qkv", T, n);
    if (!l.recipe.separateProducts)
      b.backwardPass("attention.qkv.join", T * n, 1, 1); // three gradients into one
    if (w.qkNorm) {
      b.norm("attention.query-key-norm", T * (a.heads + a.keyHeads), a.queryDim);
      b.parameters(a.queryDim); // one for queries, one for keys
    }
    if (w.positions == Positions::Rope)
      b.pointwise("attention.rope", T * (a.queryWidth + a.keyWidth), 1, 1, 1, 1, 0, 4);
  }
  b.readGathered();
  // Queries, keys and values are kept whatever happens to the core.
  double qkv = T * (a.queryWidth + a.keyWidth + a.valueWidth) * e;
  block.ops.back().savedBytes += qkv;
  if (w.isLatent()) // the up-projections make them again
    block.ops.back().rebuiltBytes += qkv;
  if (l.recipe.flashAttention)
    flashCore(w, l, b, a, block.kind.windowed, block);
  else
    unfusedCore(w, l, b, a, block);
  double out = a.heads * a.valueDim;
  if (w.outBias)
    b.biasGradient("attention.out", b.Tn, h);
  b.matmul("attention.out", T, h, out);
  b.parameters(out * h + (w.outBias ? h : 0));
  b.leaveTensor("attention.out");
  if (w.normsPerLayer > 2)
    b.norm("attention.post-norm", b.Tn, h);
  b.residual("attention.residual", 1);
}

/// Up, activation, down of `m` rows, `batch` experts of width `f`. Returns local weight elements.
double gatedOrPlain(const Workload &w, const Layout &l, Builder &b, const std::string &prefix,
                    double m, double f, double batch, double keptInput) {
  double up = w.gated ? 2 * f : f, rows = m * batch;
  if (prefix == "experts") // their input came from other ranks; grouped products stay joined
    b.matmul("experts.up", m, up, b.h, batch, keptInput);
  else // the router keeps the input of shared experts
    products(l, b, prefix, {{"up", up}},
             w.gated ? std::vector<Product>{{"gate", f}, {"up", f}}
                     : std::vector<Product>{{"up", f}},
             m, keptInput, prefix == "mlp");
  b.readGathered();
  again(b.pointwise(prefix + ".activation", rows * f, w.gated ? 2 : 1, 1, w.gated ? 3 : 2,
                    w.gated ? 2 : 1, rows * up * b.keptActivation(), 2));
  BlockOp &last = b.matmul(prefix + ".down", m, b.h, f, batch);
  last.rebuiltBytes = last.savedBytes;
  return batch * (up * b.h + f * b.h);
}

void denseMlp(const Workload &w, const Layout &l, Builder &b) {
  double f = static_cast<double>(w.ffn) / static_cast<double>(l.tp);
  b.norm("mlp.norm", b.Tn, b.h);
  b.enterTensor("mlp.up");
  b.parameters(gatedOrPlain(w, l, b, "mlp", b.T, f, 1, b.Tn * b.h * b.activation));
  if (w.biases) {
    b.parameters(f * (w.gated ? 2 : 1) + b.h);
    b.biasGradient("mlp.up", b.T, f * (w.gated ? 2 : 1));
    b.biasGradient("mlp.down", b.Tn, b.h);
  }
  b.leaveTensor("mlp.down");
  if (w.normsPerLayer > 2)
    b.norm("mlp.post-norm", b.Tn, b.h);
  b.residual("mlp.residual", 1);
}

/// Operators that a framework issues for an op, forward and backward each.
void launchesOf(BlockOp &op, double count) {
  op.forward.launches = count;
  op.backwardInput[0].launches = count;
}

/// Megatron-Core adds the second bias of an expert to its slice of the rows outside the product:
/// bias times the row's probability, sum, concatenation of the slices; backward the gradients of
/// the bias and of the probability are a product and a sum each (core/transformer/moe/experts.py,
/// _apply_bias). Clamping is three passes before the fused activation (fused_bias_geglu.py).
void expertBiases(const Workload &w, Builder &b, BlockWork &block, double rows, double f) {
  if (w.moe.clamped) { // each half is read and written, both are joined
    double kept = rows * 2 * f * b.activation;
    again(b.passes("experts.clamp", rows * f, 4, 4, 6, 4, kept, 3, b.activation));
    for (BlockOp &op : block.ops) // clamping again makes the activation's input
      if (op.name == "experts.activation")
        op.rebuiltBytes = op.savedBytes;
  }
  if (w.moe.biases)
    b.passes("experts.bias", rows * b.h, 3, 3, 4, 2, 0, 3, b.activation);
}

/// Transformer Engine's grouped product is a loop of cuBLASLt calls, one per local expert, over
/// four streams (multi_stream_cublas_gemm): on the device the experts fill it together, but the
/// host prepares and issues every one of them, forward and for both gradients. A fused grouped
/// kernel is one call.
void callPerExpert(BlockWork &block, double local) {
  for (BlockOp &op : block.ops)
    if (op.name == "experts.up" || op.name == "experts.down") {
      op.forward.calls = local - 1;
      op.backwardInput[0].calls = local - 1;
      op.backwardWeight[0].calls = local - 1;
    }
}

/// Fused experts: the first product's epilogue activates and quantizes, the second one's gradient
/// passes the activation's backward before it is written.
void fuseExperts(BlockWork &block) {
  for (BlockOp &op : block.ops) {
    bool all = op.name == "experts.activation";
    if (all || op.name == "experts.down.quantize")
      op.forward = {};
    if (all || op.name == "experts.up.quantize")
      op.backwardInput[0] = {};
  }
}

void expertMlp(const Workload &w, const Layout &l, Builder &b, BlockWork &block) {
  double e = b.activation, h = b.h, rows = b.Tn * static_cast<double>(w.moe.topK);
  double E = static_cast<double>(w.moe.count), local = std::max(1.0, E / static_cast<double>(l.ep));
  b.norm("mlp.norm", b.Tn, h);
  b.matmul("experts.router", b.Tn, E, h, 1, b.Tn * h * e, false).rebuiltBytes = b.Tn * h * e;
  b.parameters(h * E + (w.moe.correctionBias ? E : 0));
  // Softmax, top-k, scatter, load balance, casts; no stack has one kernel for them.
  launchesOf(b.pointwise("experts.choose", b.Tn * E, 2, 1, 2, 1, b.Tn * E * 4, 8, 4), 8);
  launchesOf(b.pointwise("experts.permute", rows * h, 1, 1, 1, 1, 0, 4), 4);
  // Every rank sends its rows to the ranks of their experts and gets as many back.
  bool beside = l.recipe.overlapExperts && canOverlapExperts(l);
  double there = l.recipe.dispatchQuantized ? 1 : e; // gradients go the same way to the experts
  b.collective("experts.dispatch", Pass::Forward, cost::Collective::AllToAll, Axis::Expert,
               rows * h * there, beside);
  b.collective("experts.dispatch", Pass::Backward, cost::Collective::AllToAll, Axis::Expert,
               rows * h * e, beside);
  double etp = static_cast<double>(l.expertTp);
  double f = static_cast<double>(w.moe.hidden) / etp;
  double perExpert = std::max(1.0, rows * etp / local);
  b.collective("experts.up", Pass::Forward, cost::Collective::AllGather, Axis::ExpertTensor,
               rows * etp * h * e);
  b.collective("experts.up", Pass::Backward, cost::Collective::ReduceScatter, Axis::ExpertTensor,
               rows * etp * h * e);
  block.expertParameters +=
      gatedOrPlain(w, l, b, "experts", perExpert, f, local, rows * etp * h * e);
  if (l.recipe.fusedExperts)
    fuseExperts(block);
  else
    callPerExpert(block, local);
  expertBiases(w, b, block, perExpert * local, f);
  if (w.moe.biases)
    block.expertParameters += local * ((w.gated ? 2 : 1) * f + h);
  b.collective("experts.down", Pass::Forward, cost::Collective::ReduceScatter, Axis::ExpertTensor,
               rows * etp * h * e);
  b.collective("experts.down", Pass::Backward, cost::Collective::AllGather, Axis::ExpertTensor,
               rows * etp * h * e);
  b.collective("experts.combine", Pass::Forward, cost::Collective::AllToAll, Axis::Expert,
               rows * h * e, beside);
  b.collective("experts.combine", Pass::Backward, cost::Collective::AllToAll, Axis::Expert,
               rows * h * there, beside);
  for (BlockCollective &c : block.collectives)
    if (c.axis == Axis::Expert)
      c.routing = {w.moe.topK, w.moe.groups, w.moe.topGroups, w.moe.count};
  // Keeps nothing: the activation has multiplied its result with the router's probabilities
  // (Megatron-Core 0.12, core/transformer/moe/experts.py, weighted_bias_swiglu_impl).
  launchesOf(b.pointwise("experts.combine", rows * h, 1, 0.5, 1, 1, 0, 4), 4);
  if (w.moe.shared > 0) {
    double width = static_cast<double>(w.moe.shared * w.moe.hidden) / static_cast<double>(l.tp);
    b.enterTensor("shared.up");
    b.parameters(gatedOrPlain(w, l, b, "shared", b.T, width, 1, 0));
    if (w.moe.sharedGate)
      b.parameters(h);
    b.leaveTensor("shared.down");
  }
  b.residual("mlp.residual", w.moe.shared > 0 ? 2 : 1);
}

void embedding(const Workload &w, const Layout &l, Builder &b, BlockWork &block) {
  double rows = static_cast<double>(w.vocab) / static_cast<double>(l.tp);
  b.parameters(rows * b.h);
  // Gather; backward adds into the rows that occurred.
  b.pointwise("embedding.gather", b.T * b.h, 1, 1, 2, 1, b.T * 8, 4);
  if (w.positions == Positions::Learned) {
    b.parameters(static_cast<double>(w.maxPositions > 0 ? w.maxPositions : w.sequence) * b.h);
    b.pointwise("embedding.positions", b.T * b.h, 2, 1, 1, 1, 0, 1);
  }
  double bytes = b.T * b.h * b.activation;
  b.collective("embedding.gather", Pass::Forward,
               l.sequenceParallel ? cost::Collective::ReduceScatter : cost::Collective::AllReduce,
               Axis::Tensor, bytes);
  if (l.sequenceParallel)
    b.collective("embedding.gather", Pass::Backward, cost::Collective::AllGather, Axis::Tensor,
                 bytes);
  if (w.embeddingNorm)
    b.norm("embedding.norm", b.Tn, b.h);
  if (w.dropout)
    b.pointwise("embedding.dropout", b.Tn * b.h, 1, 1.5, 1.5, 1, b.Tn * b.h, 1);
  block.inputBytes = b.T * 8;
}

void head(const Workload &w, const Layout &l, Builder &b) {
  double columns = static_cast<double>(w.vocab) / static_cast<double>(l.tp);
  b.norm("head.norm", b.Tn, b.h);
  double bytes = b.T * b.h * b.activation;
  if (l.sequenceParallel) {
    b.collective("head.logits", Pass::Forward, cost::Collective::AllGather, Axis::Tensor, bytes);
    b.collective("head.logits", Pass::Backward, cost::Collective::ReduceScatter, Axis::Tensor,
                 bytes);
  } else {
    b.collective("head.logits", Pass::Backward, cost::Collective::AllReduce, Axis::Tensor, bytes);
  }
  b.matmul("head.logits", b.T, columns, b.h, 1, b.Tn * b.h * b.activation, false);
  if (!w.tied)
    b.parameters(columns * b.h);
  double logits = b.T * columns;
  if (l.recipe.inPlaceLoss) // maximum and sum; gradient over the logits; backward scales it
    b.passes("head.loss", logits, 2, 1, 1, 1, logits * 2, 2, 2);
  else if (l.recipe
               .fusedLoss) // cast, maximum, exponentials and sum, loss; softmax minus one-hot, cast
    b.pointwise("head.loss", logits, 2.5, 1.5, 1, 1.5, logits * 4, 5, 4);
  else // cast; maximum; subtract; exponentials; sum; divide, all in f32; gradient; cast
    b.passes("head.loss", logits, 5.5, 4, 2, 1.5, logits * 4, 7, 4);
  b.collective("head.loss", Pass::Forward, cost::Collective::AllReduce, Axis::Tensor, b.T * 4 * 3);
}

} // namespace

BlockWork expandBlock(const Workload &workload, const Layout &layout, BlockKind kind) {
  BlockWork block;
  block.kind = kind;
  Builder b(workload, layout, block);
  block.inputBytes = b.Tn * b.h * b.activation;
  switch (kind.part) {
  case BlockPart::Embedding:
    embedding(workload, layout, b, block);
    break;
  case BlockPart::Layer:
    attention(workload, layout, b, block);
    if (kind.experts)
      expertMlp(workload, layout, b, block);
    else
      denseMlp(workload, layout, b);
    keepByOp(workload, layout, block);
    break;
  case BlockPart::Head:
    head(workload, layout, b);
    break;
  }
  return block;
}

} // namespace gpucc::workload
