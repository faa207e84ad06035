//===- ExportTorchtitan.cpp - a layout as torchtitan spells it ------------===//
//
// The TOML of its job config. A model is a flavor in torchtitan's code; what it has no word for is
// written as a comment, never left out in silence.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/LayoutSearch.h"
#include <algorithm>

namespace gpucc::planner {

using namespace workload;
using solvers::ScheduleKind;

namespace {

struct Flavor {
  const char *workload, *name, *flavor;
};
const Flavor flavors[] = {
    {"llama-3-8b", "llama3", "8B"},           {"llama-3-70b", "llama3", "70B"},
    {"llama-3-405b", "llama3", "405B"},       {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
    {"qwen3-235b-a22b", "qwen3", "235B-A22B"}, {"deepseek-v2", "deepseek_v3", "236B"},
    {"deepseek-v3", "deepseek_v3", "671B"},   {"gpt-oss-20b", "gpt_oss", "20b"},
    {"gpt-oss-120b", "gpt_oss", "120b"},
};

/// The flavor of a built-in workload that is as it was, whatever its sequence; nullptr: none.
const Flavor *flavorOf(const Workload &w) {
  for (const Flavor &f : flavors) {
    if (w.name != f.workload)
      continue;
    WorkloadOrError builtin = loadWorkload(w.name);
    if (Workload *same = std::get_if<Workload>(&builtin)) {
      same->sequence = w.sequence;
      return *same == w ? &f : nullptr;
    }
  }
  return nullptr;
}

std::string titanModel(const Workload &w, const Layout &l) {
  std::string out = "[model]\n";
  if (const Flavor *f = flavorOf(w)) {
    out += std::string("name = \"") + f->name + "\"\nflavor = \"" + f->flavor + "\"\n";
  } else {
    out += "# torchtitan has no flavor of " + w.name +
           ": its sizes must be written in torchtitan's code. This is the workload:\n";
    std::string text = w.dump();
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find('\n', at), text.size());
      out += "#   " + text.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }
  if (w.predictAhead > 0)
    out += "# layers that predict further tokens (" + std::to_string(w.predictAhead) +
           "): torchtitan has none\n";
  if (l.recipe.precision == Precision::F8)
    out += "converters = [\"quantize.linear.float8\"]\n";
  return out + "\n";
}

std::string titanPrecision(const Layout &l) {
  switch (l.recipe.precision) {
  case Precision::F32:
    return "mixed_precision_param = \"float32\"\n";
  case Precision::Tf32:
    return "mixed_precision_param = \"float32\"\n# tf32 products are PyTorch's setting "
           "torch.backends.cuda.matmul.allow_tf32\n";
  case Precision::F16:
  case Precision::F4:
    return std::string("# precision ") + name(l.recipe.precision) +
           ": torchtitan trains in bfloat16 or float32; bfloat16 is written here\n"
           "mixed_precision_param = \"bfloat16\"\n";
  default:
    return "mixed_precision_param = \"bfloat16\"\n";
  }
}

} // namespace

std::string torchtitanSettings(const Workload &w, const Layout &l) {
  std::string out = titanModel(w, l) + "[training]\n";
  // What one forward pass takes; a pipeline splits it, without one the rest is accumulated.
  int64_t local = l.pp > 1 ? l.globalBatch / std::max<int64_t>(1, l.dp) : l.microBatch;
  out += "local_batch_size = " + std::to_string(local) + "\n";
  out += "global_batch_size = " + std::to_string(l.globalBatch) + "\n";
  out += "seq_len = " + std::to_string(w.sequence) + "\n" + titanPrecision(l);
  if (l.offloadOptimizer > 0 || l.offloadActivations > 0)
    out += "# offload: torchtitan moves parameters, gradients and optimizer state together\n"
           "enable_cpu_offload = true\n";
  out += "\n[parallelism]\n";
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
  if (l.tp > 1 && !l.sequenceParallel)
    out += "# sequence parallelism is off here; torchtitan always splits the sequence over tp\n";
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
    if (!l.stageLayers.empty())
      out += "# stages are uneven here: name their modules in module_fqns_per_model_part\n";
    out += "pipeline_parallel_layers_per_stage = " +
           std::to_string((w.layers + l.pp * l.virtualStages - 1) / (l.pp * l.virtualStages)) +
           "\n";
  }
  if (w.hasExperts())
    out += "expert_parallel_degree = " + std::to_string(l.ep) +
           "\nexpert_tensor_parallel_degree = " + std::to_string(l.expertTp) + "\n";
  out += "\n[activation_checkpoint]\nmode = \"";
  bool none =
      l.recompute == Recompute::None || (l.recompute == Recompute::Full && l.recomputeLayers == 0);
  bool whole = l.recompute == Recompute::Full && l.recomputeLayers < 0;
  out += none ? "none" : whole ? "full" : "selective";
  out += "\"\n";
  if (l.recompute == Recompute::Full && l.recomputeLayers > 0) {
    std::vector<int64_t> stages = layersOfStages(w, l);
    int64_t most = *std::max_element(stages.begin(), stages.end());
    out += "selective_ac_option = \"" +
           std::to_string(std::max<int64_t>(1, most / l.recomputeLayers)) + "\"\n";
    if (most % l.recomputeLayers != 0)
      out += "# " + std::to_string(l.recomputeLayers) + " of " + std::to_string(most) +
             " layers are meant; torchtitan repeats every n-th\n";
  }
  if (l.recompute == Recompute::Ops && l.recomputeLayers >= 0)
    out += "# " + std::to_string(l.recomputeLayers) +
           " layers of a rank are meant; torchtitan chooses by operator in all\n";
  bool selective = l.recompute == Recompute::Selective, cheap = l.recompute == Recompute::Cheap;
  if (selective || cheap || l.recompute == Recompute::Ops)
    out += "selective_ac_option = \"op\"\n";
  if (selective || cheap)
    out +=
        std::string("# ") +
        (cheap ? "norms, activation functions and up-projections are" : "the attention core is") +
        " meant; torchtitan's choice by operator (recompute=ops here) keeps attention and every "
        "second product and repeats the rest\n";
  return out;
}

} // namespace gpucc::planner
