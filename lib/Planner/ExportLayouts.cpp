//===- ExportLayouts.cpp - a layout as other stacks spell it --------------===//
//
// Megatron-LM: arguments of pretrain_gpt.py (core 0.12). torchtitan: the TOML of its job config.
// What a stack has no word for is written as a comment, never left out in silence.
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

void megatronModel(const Workload &w, Lines &to) {
  to.arg("num-layers", w.layers);
  to.arg("hidden-size", w.hidden);
  to.arg("ffn-hidden-size", w.ffn > 0 ? w.ffn : w.moe.hidden);
  to.arg("num-attention-heads", w.heads);
  to.arg("seq-length", w.sequence);
  to.arg("max-position-embeddings", std::max(w.sequence, w.maxPositions));
  if (w.isLatent()) {
    to.flag("multi-latent-attention");
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
  if (w.norm == NormKind::Rms)
    to.arg("normalization", "RMSNorm");
  if (w.positions == Positions::Rope)
    to.arg("position-embedding-type", "rope");
  if (w.gated)
    to.flag("swiglu");
  if (!w.biases)
    to.flag("disable-bias-linear");
  if (!w.tied)
    to.flag("untie-embeddings-and-output-weights");
  if (w.hasExperts()) {
    to.arg("num-experts", w.moe.count);
    to.arg("moe-router-topk", w.moe.topK);
    to.arg("moe-ffn-hidden-size", w.moe.hidden);
    if (w.moe.shared > 0)
      to.arg("moe-shared-expert-intermediate-size", w.moe.shared * w.moe.hidden);
    to.flag("moe-grouped-gemm");
  }
}

void megatronPipeline(const Workload &w, const Layout &l, Lines &to) {
  to.arg("pipeline-model-parallel-size", l.pp);
  if (l.pp == 1)
    return;
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
  std::vector<int64_t> stages = layersOfStages(w, l);
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
  if (l.recipe.overlapGradients && l.dp > 1) {
    to.flag("overlap-grad-reduce");
    if (l.zeroStage > 0)
      to.flag("overlap-param-gather");
  }
  if (l.recompute == Recompute::Selective)
    to.arg("recompute-granularity", "selective");
  if (l.recompute == Recompute::Cheap) {
    to.arg("recompute-granularity", "selective");
    to.arg("recompute-modules",
           w.hasExperts() ? w.isLatent() ? "layernorm moe_act mla_up_proj mlp" : "layernorm moe_act"
                          : "layernorm mlp");
    to.note("norms and activation functions are repeated; the module mlp repeats its products too");
  }
  if (l.recompute == Recompute::Full) {
    to.arg("recompute-granularity", "full");
    to.arg("recompute-method", l.recomputeLayers >= 0 ? "block" : "uniform");
    to.arg("recompute-num-layers", l.recomputeLayers >= 0 ? l.recomputeLayers : 1);
  }
  if (l.offloadOptimizer > 0) {
    to.flag("optimizer-cpu-offload");
    to.arg("optimizer-offload-fraction", l.offloadOptimizer);
  }
  if (l.offloadActivations > 0)
    to.note("activations are offloaded by " + std::to_string(l.offloadActivations) +
            ": see --cpu-offloading-num-layers");
  to.flag(l.recipe.precision == Precision::F16 ? "fp16" : "bf16");
  if (l.recipe.precision == Precision::F8)
    to.arg("fp8-format", "hybrid");
  if (l.recipe.flashAttention)
    to.flag("use-flash-attn");
  return to.out;
}

std::string torchtitanSettings(const Workload &w, const Layout &l) {
  std::string out = "[training]\n";
  out += "local_batch_size = " + std::to_string(l.globalBatch / std::max<int64_t>(1, l.dp)) + "\n";
  out += "global_batch_size = " + std::to_string(l.globalBatch) + "\n";
  out += "seq_len = " + std::to_string(w.sequence) + "\n\n[parallelism]\n";
  bool sharded = l.zeroStage >= 2;
  int64_t shard = !sharded ? 1 : l.zeroGroup > 0 ? l.zeroGroup / std::max<int64_t>(1, l.cp) : l.dp;
  if (l.zeroStage == 1)
    out += "# ZeRO-1: torchtitan shards parameters too (FSDP); replication alone is written here\n";
  out += "data_parallel_shard_degree = " + std::to_string(std::max<int64_t>(1, shard)) + "\n";
  out += "data_parallel_replicate_degree = " + std::to_string(l.dp / std::max<int64_t>(1, shard)) +
         "\n";
  if (sharded)
    out += std::string("fsdp_reshard_after_forward = \"") +
           (l.zeroStage == 3 ? "always" : "never") + "\"\n";
  out += "tensor_parallel_degree = " + std::to_string(l.tp) + "\n";
  out +=
      "enable_async_tensor_parallel = " + std::string(l.recipe.overlapTensor ? "true" : "false") +
      "\n";
  out += "context_parallel_degree = " + std::to_string(l.cp) + "\n";
  out += "pipeline_parallel_degree = " + std::to_string(l.pp) + "\n";
  if (l.pp > 1) {
    static const char *const names[] = {"GPipe",         "1F1B", "Interleaved1F1B", "", "",
                                        "ZBVZeroBubble", "",     "DualPipeV"};
    std::string schedule = names[static_cast<size_t>(l.schedule)];
    if (schedule.empty())
      out += std::string("# schedule ") + solvers::name(l.schedule) +
             " has no class in torch: write it with `gpucc simulate --schedule-csv` and give "
             "pipeline_parallel_schedule_csv\n";
    else
      out += "pipeline_parallel_schedule = \"" + schedule + "\"\n";
    out += "pipeline_parallel_microbatch_size = " + std::to_string(l.microBatch) + "\n";
    out += "pipeline_parallel_layers_per_stage = " +
           std::to_string((w.layers + l.pp * l.virtualStages - 1) / (l.pp * l.virtualStages)) +
           "\n";
  }
  if (w.hasExperts())
    out += "expert_parallel_degree = " + std::to_string(l.ep) +
           "\nexpert_tensor_parallel_degree = " + std::to_string(l.expertTp) + "\n";
  out += "\n[activation_checkpoint]\nmode = \"";
  out += l.recompute == Recompute::Full   ? l.recomputeLayers >= 0 ? "selective" : "full"
         : l.recompute != Recompute::None ? "selective"
                                          : "none";
  out += "\"\n";
  if (l.recompute == Recompute::Full && l.recomputeLayers > 0)
    out += "selective_ac_option = \"" +
           std::to_string(std::max<int64_t>(1, w.layers / l.pp / l.recomputeLayers)) + "\"\n";
  if (l.recompute == Recompute::Selective || l.recompute == Recompute::Cheap)
    out += "selective_ac_option = \"op\"\n";
  if (l.offloadOptimizer > 0 || l.offloadActivations > 0)
    out += "# offload: torchtitan moves parameters, gradients and optimizer state together\n"
           "[training]\nenable_cpu_offload = true\n";
  return out;
}

} // namespace gpucc::planner
