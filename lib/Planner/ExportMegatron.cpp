//===- ExportMegatron.cpp - model and layout as Megatron-LM spells them ---===//
//
// Arguments of pretrain_gpt.py (core 0.15). What Megatron-LM has no word for is written as a
// comment, never left out in silence: its defaults would train another model.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/LayoutSearch.h"
#include <algorithm>

namespace gpucc::planner {

using namespace workload;
using solvers::ScheduleKind;

namespace {

class Lines {
public:
  template <typename T> void arg(const char *key, T value) {
    out += std::string("--") + key + " " + std::to_string(value) + "\n";
  }
  void flag(const char *key) { out += std::string("--") + key + "\n"; }
  void arg(const char *key, const char *value) {
    out += std::string("--") + key + " " + value + "\n";
  }
  void note(const std::string &text) { out += "# " + text + "\n"; }
  std::string out;
};

/// Attention: heads, biases, norms, window.
void megatronAttention(const Workload &w, Lines &to) {
  to.arg("num-attention-heads", w.heads);
  if (w.isLatent()) {
    to.flag("multi-latent-attention");
    if (w.latent.queryRank > 0)
      to.arg("q-lora-rank", w.latent.queryRank);
    to.arg("kv-lora-rank", w.latent.kvRank);
    to.arg("qk-head-dim", w.latent.nopeDim);
    to.arg("qk-pos-emb-head-dim", w.latent.ropeDim);
    to.arg("v-head-dim", w.latent.valueDim);
  } else {
    if (w.kvHeads < w.heads) {
      to.flag("group-query-attention");
      to.arg("num-query-groups", w.kvHeads);
    }
    to.arg("kv-channels", w.headDim);
  }
  if (w.qkNorm || w.isLatent()) // latent attention: norms of the low-rank projections
    to.flag("qk-layernorm");
  // One switch for all linear layers, and one that gives a model without biases those of the query.
  if (!w.biases && w.outBias)
    to.note("biases: of attention only; Megatron-LM has no argument for these alone and gives all "
            "linear layers biases here");
  else if (!w.biases)
    to.flag("disable-bias-linear");
  else if (!w.qkvBiases || !w.outBias)
    to.note("biases: not of all attention projections; Megatron-LM gives them to all here");
  if (!w.biases && w.qkvBiases && !w.outBias)
    to.flag("add-qkv-bias");
  if (w.window > 0) { // tokens to the left of one's own
    to.arg("window-size", (std::to_string(w.window - 1) + ",0").c_str());
    if (w.windowPeriod > 1)
      to.arg("window-attn-skip-freq", w.windowPeriod);
  }
  if (w.family == "gpt-oss")
    to.arg("softmax-type", "learnable");
  if (!w.causal)
    to.note("attention is not causal: pretrain_gpt.py trains causal models only");
}

/// Norms, positions, activation, dropout: what the family fixes.
void megatronFamily(const Workload &w, Lines &to) {
  if (w.norm == NormKind::Rms)
    to.arg("normalization", "RMSNorm");
  if (w.normsPerLayer > 2)
    to.note("norms: " + std::to_string(w.normsPerLayer) +
            " per layer; Megatron-LM has no argument for those behind attention and MLP");
  if (w.embeddingNorm)
    to.note("a norm follows the embedding: Megatron-LM has no argument for it");
  if (w.positions == Positions::Rope)
    to.arg("position-embedding-type", "rope");
  if (w.positions == Positions::Alibi) {
    to.arg("position-embedding-type", "none");
    to.note("positions are ALiBi: Megatron-LM has no argument for them");
  }
  if (w.gated && w.family == "gpt-oss") {
    to.flag("quick-geglu");
    to.arg("glu-linear-offset", "1.0");
    to.arg("activation-func-clamp-value", "7.0");
  } else if (w.gated && w.family == "gemma2") {
    to.flag("quick-geglu");
    to.note("activation: gated GELU; quick-geglu is the nearest argument, x sigmoid(1.702 x) in the "
            "place of GELU");
    to.note("logits and attention scores are soft-capped: Megatron-LM has no argument for it");
  } else if (w.gated) {
    to.flag("swiglu");
  }
  if (!w.dropout) { // its default is 0.1
    to.arg("attention-dropout", "0.0");
    to.arg("hidden-dropout", "0.0");
  }
  if (!w.tied)
    to.flag("untie-embeddings-and-output-weights");
  to.note("vocabulary: " + std::to_string(w.vocab) + " words; the tokenizer's argument decides it");
}

/// 1: a layer with experts. "([0]*3+[1]*58)"; empty: all of them.
std::string expertPattern(const Workload &w) {
  std::string pattern;
  int64_t run = 0;
  bool dense = false;
  for (int64_t k = 0; k < w.layers; ++k) {
    bool last = k + 1 == w.layers;
    ++run;
    dense |= !w.layerHasExperts(k);
    if (!last && w.layerHasExperts(k + 1) == w.layerHasExperts(k))
      continue;
    pattern += (pattern.empty() ? "(" : "+") + std::string(w.layerHasExperts(k) ? "[1]*" : "[0]*") +
               std::to_string(run);
    run = 0;
  }
  return dense ? pattern + ")" : "";
}

void megatronExperts(const Workload &w, Lines &to) {
  to.arg("num-experts", w.moe.count);
  if (std::string pattern = expertPattern(w); !pattern.empty())
    to.arg("moe-layer-freq", pattern.c_str());
  to.arg("moe-router-topk", w.moe.topK);
  if (w.moe.correctionBias) { // allowed with sigmoid scores only
    to.arg("moe-router-score-function", "sigmoid");
    to.flag("moe-router-enable-expert-bias");
  }
  if (w.moe.topGroups < w.moe.groups) {
    to.arg("moe-router-num-groups", w.moe.groups);
    to.arg("moe-router-group-topk", w.moe.topGroups);
  }
  to.arg("moe-ffn-hidden-size", w.moe.hidden);
  if (w.moe.shared > 0)
    to.arg("moe-shared-expert-intermediate-size", w.moe.shared * w.moe.hidden);
  if (w.moe.sharedGate)
    to.flag("moe-shared-expert-gate");
  to.flag("moe-grouped-gemm");
}

void megatronModel(const Workload &w, Lines &to) {
  to.arg("num-layers", w.layers);
  to.arg("hidden-size", w.hidden);
  to.arg("ffn-hidden-size", w.ffn > 0 ? w.ffn : w.moe.hidden);
  to.arg("seq-length", w.sequence);
  to.arg("max-position-embeddings", std::max(w.sequence, w.maxPositions));
  megatronAttention(w, to);
  megatronFamily(w, to);
  if (w.hasExperts())
    megatronExperts(w, to);
  if (w.predictAhead > 0)
    to.arg("mtp-num-layers", w.predictAhead);
}

/// Selective recomputation is a list of modules.
void megatronModules(const Workload &w, const Layout &l, Lines &to) {
  std::string modules = "layernorm";
  bool mlp = !w.hasExperts() || !expertPattern(w).empty();
  if (w.hasExperts())
    modules += " moe_act";
  if (w.isLatent())
    modules += " mla_up_proj";
  if (mlp)
    modules += " mlp";
  if (!l.recipe.flashAttention)
    modules += " core_attn";
  to.arg("recompute-granularity", "selective");
  to.arg("recompute-modules", modules.c_str());
  if (mlp)
    to.note("recomputation: the activation function of dense layers is meant; the module mlp "
            "repeats its products too");
}

void megatronPrecision(const Layout &l, Lines &to) {
  switch (l.recipe.precision) {
  case Precision::F32:
    break; // without an argument
  case Precision::Tf32:
    to.note("precision: tf32 products are PyTorch's setting torch.backends.cuda.matmul.allow_tf32");
    break;
  case Precision::F16:
    to.flag("fp16");
    break;
  default:
    to.flag("bf16");
  }
  if (l.recipe.precision == Precision::F8)
    to.arg("fp8-format", "hybrid");
  if (l.recipe.precision == Precision::F4)
    to.arg("fp4-format", "e2m1");
}

/// Chunks in the order of the model: E embedding, t layer, m one that predicts further tokens, L
/// loss: "Et*4|t*4|t*4|t*2mL".
std::string pipelineLayout(const Workload &w, const Layout &l) {
  std::vector<int64_t> chunks = simulate::layersOfChunks(w, l);
  std::string out = "E";
  int64_t left = w.layers;
  for (size_t c = 0; c < chunks.size(); ++c) {
    out += c ? "|" : "";
    int64_t decoder = std::min(chunks[c], left), ahead = chunks[c] - decoder;
    if (decoder > 0)
      out += decoder == 1 ? "t" : "t*" + std::to_string(decoder);
    out += std::string(static_cast<size_t>(ahead), 'm');
    left -= decoder;
  }
  return out + "L";
}

void megatronPipeline(const Workload &w, const Layout &l, Lines &to) {
  to.arg("pipeline-model-parallel-size", l.pp);
  if (l.pp == 1)
    return;
  if (l.schedule == ScheduleKind::Interleaved && l.recipe.sends == Sends::Waited)
    to.flag("no-overlap-p2p-communication");
  bool plain = l.schedule == ScheduleKind::Interleaved || l.schedule == ScheduleKind::OneFOneB;
  if (plain && !l.stageLayers.empty()) { // says the chunks as well
    to.arg("pipeline-model-parallel-layout", pipelineLayout(w, l).c_str());
    return;
  }
  if (l.schedule == ScheduleKind::Interleaved) {
    int64_t chunks = l.pp * l.virtualStages, all = w.layers + w.predictAhead;
    if (all % chunks != 0) { // embedding and head count as layers then
      to.flag("account-for-embedding-in-pipeline-split");
      to.flag("account-for-loss-in-pipeline-split");
    }
    to.arg("num-layers-per-virtual-pipeline-stage",
           std::max<int64_t>(1, (all + chunks - 1) / chunks));
  } else if (l.schedule != ScheduleKind::OneFOneB) {
    to.note(std::string("schedule ") + solvers::name(l.schedule) +
            ": Megatron-LM runs 1F1B and interleaved 1F1B; it needs a fork (zero-bubble) or falls "
            "back to 1F1B");
  }
  // Layers that predict further tokens are on the last stage and not counted as the decoder's.
  std::vector<int64_t> stages = layersOfStages(w, l);
  stages.back() = std::max<int64_t>(0, stages.back() - w.predictAhead);
  bool inner =
      std::adjacent_find(stages.begin() + 1, stages.end() - (stages.size() > 2 ? 1 : 0),
                         std::not_equal_to<>()) != stages.end() - (stages.size() > 2 ? 1 : 0);
  if (stages.front() != stages.back() || stages.front() != stages[stages.size() / 2]) {
    to.arg("decoder-first-pipeline-num-layers", stages.front());
    to.arg("decoder-last-pipeline-num-layers", stages.back());
    if (inner)
      to.note("the stages between are not all equal here; Megatron-LM splits them evenly");
  }
}

} // namespace

std::string megatronArguments(const Workload &w, const Layout &l) {
  Lines to;
  megatronModel(w, to);
  to.arg("tensor-model-parallel-size", l.tp);
  if (l.tp > 1 && l.sequenceParallel)
    to.flag("sequence-parallel");
  if (l.recipe.overlapTensor && l.tp > 1)
    to.flag("tp-comm-overlap");
  if (l.cp > 1)
    to.arg("context-parallel-size", l.cp);
  megatronPipeline(w, l, to);
  if (w.hasExperts()) {
    to.arg("expert-model-parallel-size", l.ep);
    to.arg("expert-tensor-parallel-size", l.expertTp);
    if (l.ep > 1 && l.recipe.expertsOnce) {
      to.arg("moe-token-dispatcher-type", "flex");
      to.flag("moe-enable-deepep");
    }
    if (l.ep > 1 && l.recipe.overlapExperts && canOverlapExperts(l))
      to.flag("overlap-moe-expert-parallel-comm");
  }
  to.arg("micro-batch-size", l.microBatch);
  to.arg("global-batch-size", l.globalBatch);
  if (l.zeroStage == 1)
    to.flag("use-distributed-optimizer");
  if (l.zeroStage >= 2) {
    to.flag("use-megatron-fsdp");
    to.arg("data-parallel-sharding-strategy",
           l.zeroStage == 2 ? "optim_grads" : "optim_grads_params");
  }
  if (l.zeroGroup > 0 && l.zeroStage > 0)
    to.arg("num-distributed-optimizer-instances", std::max<int64_t>(1, l.dp * l.cp / l.zeroGroup));
  if (l.recipe.overlapGradients && l.dp * l.cp > 1) {
    to.flag("overlap-grad-reduce");
    if (l.zeroStage > 0 && l.recipe.overlapParameters)
      to.flag("overlap-param-gather");
  }
  if (l.recompute == Recompute::Selective)
    to.arg("recompute-granularity", "selective");
  if (l.recompute == Recompute::Cheap)
    megatronModules(w, l, to);
  if (l.recompute == Recompute::Ops)
    to.note("recompute: Megatron-LM does not choose by operator; none is written here");
  if (l.recompute == Recompute::Full) {
    to.arg("recompute-granularity", "full");
    to.arg("recompute-method", l.recomputeLayers >= 0 ? "block" : "uniform");
    // Of every chunk of a rank; `recomputeLayers` are those of the rank.
    int64_t chunks =
        l.pp == 1 ? 1 : solvers::chunksPerRank(l.schedule, static_cast<int>(l.virtualStages));
    to.arg("recompute-num-layers",
           l.recomputeLayers >= 0 ? (l.recomputeLayers + chunks - 1) / chunks : 1);
  }
  if (l.offloadOptimizer > 0) {
    to.flag("optimizer-cpu-offload");
    to.arg("optimizer-offload-fraction", l.offloadOptimizer);
  }
  if (l.offloadActivations > 0)
    to.note("activations are offloaded by " + std::to_string(l.offloadActivations) +
            ": see --cpu-offloading-num-layers");
  megatronPrecision(l, to);
  if (l.recipe.flashAttention)
    to.flag("use-flash-attn");
  return to.out;
}

} // namespace gpucc::planner
