//===- DescribeLayout.cpp - how a run was laid out ------------------------===//
#include "Describe.h"
#include "Recipes.h"
#include <algorithm>
#include <sstream>

namespace gpucc::bench {

using namespace workload;

namespace {

/// "1", "ZeRO-1", "zero3", "stage 2", "none", "2 (FSDP SHARD_GRAD_OP)", "3 (FSDP)", "HSDP".
int zeroStage(const std::string &zero, int unstated) {
  if (zero.empty())
    return unstated;
  if (zero[0] >= '0' && zero[0] <= '3')
    return zero[0] - '0';
  if (std::string digit = found(zero, "(?:zero|stage)[ _-]*([0-3])"); !digit.empty())
    return digit[0] - '0';
  if (has(zero, "grad_op") || has(zero, "grad op"))
    return 2;
  return has(zero, "fsdp") || has(zero, "hsdp") || has(zero, "full_shard") ? 3
         : zero == "none" || zero == "off" || zero == "no_shard"           ? 0
                                                                           : unstated;
}

/// "full", "Full recompute", "True", "uniform" (Megatron's method over all layers).
bool recomputesAll(const std::string &recompute) {
  for (const char *word : {"true", "yes", "on", "all", "uniform", "full recompute",
                           "full recomputation", "full checkpointing", "full"})
    if (recompute == word)
      return true;
  return recompute.starts_with("full (") || recompute.starts_with("full,");
}

/// DeepSpeed's pipeline printed where each stage begins, in modules: two come before the first
/// layer (embedding, transposition) and four behind the last.
bool printedPartition(Layout &l, const Row &row, int64_t layers) {
  std::stringstream text(found(row.notes, "layer partition \\[([^\\]]*)"));
  std::vector<int64_t> begins;
  for (int64_t module; text >> module;)
    begins.push_back(std::clamp<int64_t>(module - 2, 0, layers));
  if (begins.size() != static_cast<size_t>(l.pp) + 1 || l.pp == 1)
    return false;
  for (size_t i = 0; i + 1 < begins.size(); ++i)
    l.stageLayers.push_back(begins[i + 1] - begins[i]);
  return true;
}

/// How the software deals with layers that do not divide.
void stages(Run &run, const Row &row, const Stack &stack) {
  Layout &l = run.layout;
  int64_t layers = run.workload.layers + run.workload.predictAhead, p = l.pp;
  if (printedPartition(l, row, layers) || p == 1)
    return;
  // Megatron-Bridge's recipe: sixteen chunks of four; the last has one, the prediction layer and
  // the loss (recipes/deepseek/h100/deepseek_v3.py, layout_map).
  if (row.from("Bridge") && run.workload.isLatent() && p * l.virtualStages <= 16) {
    l.stageLayers.assign(static_cast<size_t>(p), (layers + 2) / p);
    l.stageLayers.back() = layers - (p - 1) * ((layers + 2) / p);
    return;
  }
  if (layers % p == 0)
    return;
  if ((layers + 2) % p == 0) { // embedding and head count as layers
    l.stageLayers.assign(static_cast<size_t>(p), (layers + 2) / p);
    --l.stageLayers.front();
    --l.stageLayers.back();
  } else if (stack.greedyStages) {
    int64_t each = (layers + p - 1) / p, left = layers;
    for (int64_t i = 0; i < p; ++i) {
      l.stageLayers.push_back(std::min(each, left));
      left -= l.stageLayers.back();
    }
  }
}

std::string degrees(Run &run, const Row &row, const Stack &stack) {
  Layout &l = run.layout;
  for (int64_t degree : {l.tp, l.cp, l.pp, l.ep})
    if (degree < 0 || degree > 1 << 12)
      return "implausible layout";
  if (l.dp < 0 || l.dp > 1 << 20 || l.microBatch < 0 || l.microBatch > 1 << 16)
    return "implausible layout";
  if (!l.tp || !l.pp || !l.dp) {
    if (row.from("Alpa")) {
      std::string method = found(row.notes, "method=([^; ]+)");
      if (has(method, "equal") || has(method, "deepspeed") || has(method, "zero"))
        return "layout";
      run.unstated.layout = run.unstated.microBatch = true;
      run.unstated.onlyPipeline = has(method, "inter_only");
      run.unstated.onlyTensor = has(method, "intra_only");
      l.tp = l.pp = 1;
      l.dp = run.gpus;
    } else if (l.tp && l.pp) {
      l.dp = std::max<int64_t>(1, run.gpus / (l.tp * l.pp * l.cp));
    } else if (l.tp || l.pp || l.dp) {
      return "layout";
    } else { // none stated: the best that fits, as its authors would have chosen
      run.unstated.layout = run.unstated.microBatch = run.unstated.virtualStages = true;
      l.tp = l.pp = 1;
      l.dp = std::max<int64_t>(1, run.gpus / l.cp);
    }
  }
  if (l.ranks() != run.gpus)
    return "layout is not the number of GPUs";
  if (run.mixture && !row.number("ep") && l.zeroStage == 3)
    l.ep = std::min<int64_t>(run.gpus, run.workload.moe.count);
  l.ep = std::min(l.ep, std::max<int64_t>(1, run.workload.moe.count));
  if (l.ep > 1)
    l.expertTp = 1;
  // "global batch = 8x280": so many times the batch of the source's other rows.
  std::string times = found(row.notes, "global batch = ([0-9]{1,6})x"),
              each = found(row.notes, "global batch = [0-9]{1,6}x([0-9]{1,6})");
  if (!l.globalBatch && !each.empty())
    l.globalBatch = std::stoll(times) * std::stoll(each);
  if (!l.globalBatch && !run.unstated.layout) { // nothing is accumulated but to fill a pipeline
    l.globalBatch = l.microBatch * l.dp * l.pp;
    run.unstated.batch = l.pp > 1;
  }
  if (!l.globalBatch)
    return "batch";
  if (!l.microBatch) {
    l.microBatch = 1;
    if (!row.from("Herd") && !run.unstated.microBatch)
      run.unstated.microBatch = run.unstated.virtualStages = true;
  }
  if (row.from("Launcher") && l.pp > 1 && !row.integer("vpp"))
    run.unstated.virtualStages = true;
  if (row.from("Herd"))
    l.virtualStages = 8; // its schedule keeps one layer per chunk
  l.schedule = l.pp > 1 && l.virtualStages > 1 ? solvers::ScheduleKind::Interleaved
                                               : solvers::ScheduleKind::OneFOneB;
  if (row.from("DeepSeek-V3"))
    l.schedule = solvers::ScheduleKind::DualPipe;
  stages(run, row, stack);
  return "";
}

} // namespace

std::string describeLayout(Run &run, const Row &row, const Stack &stack) {
  Layout &l = run.layout;
  setStack(run, row, stack);
  l.tp = row.integer("tp"), l.cp = std::max<int64_t>(1, row.integer("cp"));
  l.pp = row.integer("pp"), l.dp = row.integer("dp");
  l.ep = std::max<int64_t>(1, row.integer("ep"));
  l.virtualStages = std::max<int64_t>(1, row.integer("vpp"));
  l.microBatch = row.integer("micro_batch");
  l.globalBatch = row.integer("global_batch");
  std::string zero = lower(row.text("zero_stage")), rec = lower(row.text("recompute"));
  l.zeroStage = zeroStage(zero, stack.zeroStage);
  if (std::string g = found(zero, "group=([0-9]{1,6})"); !g.empty())
    l.zeroGroup = std::stoll(g);
  l.recompute = rec.empty()                                             ? stack.recompute
                : recomputesAll(rec)                                    ? Recompute::Full
                : rec == "op" || rec == "ops" || has(rec, "per-op")     ? Recompute::Ops
                : rec.starts_with("selective") || has(rec, "core_attn") ? Recompute::Selective
                                                                        : Recompute::None;
  run.unstated.recompute = rec.empty() && !stack.recomputeStated;
  setSource(run, row);
  return has(row.name, "lora") ? "LoRA" : degrees(run, row, stack);
}

} // namespace gpucc::bench
