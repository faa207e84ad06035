//===- StackLayouts.cpp - what published software can run -----------------===//
//
// A plan that nobody can run helps nobody: `gpucc plan --stack megatron` searches among the layouts
// that Megatron-LM runs without a fork. The rules are those of the exporters (ExportMegatron.cpp):
// what they would only write as a note is left out here.
//
// Example: zb-v is offered to torchtitan (ScheduleZBVZeroBubble) and not to Megatron-LM.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/LayoutSearch.h"
#include <algorithm>

namespace gpucc::planner {

using namespace workload;
using solvers::ScheduleKind;

namespace {

bool isOneOf(const Layout &l, std::initializer_list<ScheduleKind> kinds) {
  return l.pp == 1 || std::find(kinds.begin(), kinds.end(), l.schedule) != kinds.end();
}

/// Megatron-LM of 2021-22: no sharded optimizer, nothing offloaded, whole layers or attention cores
/// recomputed.
bool megatron2022(const Workload &, const Layout &l) {
  return isOneOf(l, {ScheduleKind::OneFOneB, ScheduleKind::Interleaved}) && l.zeroStage == 0 &&
         l.offloadOptimizer == 0 && l.offloadActivations == 0 && l.recompute != Recompute::Cheap &&
         l.recompute != Recompute::Ops && l.cp == 1 && l.stageLayers.empty();
}

/// Stages between the first and the last are equal (`--decoder-first-pipeline-num-layers` and
/// `--decoder-last-pipeline-num-layers`; other lists came in June 2025).
bool isEvenInside(const Layout &l) {
  const std::vector<int64_t> &s = l.stageLayers;
  return s.empty() ||
         (s.front() > 0 && s.back() > 0 &&
          std::all_of(s.begin() + 1, s.end() - 1, [&](int64_t layers) { return layers == s[1]; }));
}

/// Megatron-Core of 2024 (0.7 to 0.11) and NeMo on it: the distributed optimizer, attention cores
/// or whole layers recomputed (`--recompute-modules` came in April 2025, Megatron-FSDP as well in
/// 2025).
bool megatron2024(const Workload &, const Layout &l) {
  return isOneOf(l, {ScheduleKind::OneFOneB, ScheduleKind::Interleaved}) && l.zeroStage <= 1 &&
         l.offloadOptimizer == 0 && l.offloadActivations == 0 && l.recompute != Recompute::Cheap &&
         l.recompute != Recompute::Ops && isEvenInside(l);
}

/// Megatron-Core with its distributed optimizer, or Megatron-FSDP where there is no pipeline;
/// `--recompute-modules` names cheap modules.
bool megatron(const Workload &, const Layout &l) {
  return isOneOf(l, {ScheduleKind::OneFOneB, ScheduleKind::Interleaved}) &&
         l.zeroStage <= (l.pp == 1 ? 3 : 1) && l.offloadOptimizer == 0 &&
         l.offloadActivations == 0 && l.recompute != Recompute::Ops;
}

/// Whole layers are repeated all or every n-th of a stage.
bool isEveryNth(const Workload &w, const Layout &l) {
  if (l.recompute != Recompute::Full || l.recomputeLayers <= 0)
    return true;
  std::vector<int64_t> stages = layersOfStages(w, l);
  return *std::max_element(stages.begin(), stages.end()) % l.recomputeLayers == 0;
}

/// torchtitan: FSDP2 (parameters kept or sharded again), the schedules of torch.distributed; its
/// selective recomputation chooses by operator or takes every n-th layer.
bool torchtitan(const Workload &w, const Layout &l) {
  return isOneOf(l, {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
                     ScheduleKind::ZbV, ScheduleKind::DualPipeV}) &&
         l.zeroStage != 1 && l.offloadOptimizer == 0 && l.offloadActivations == 0 &&
         l.recompute != Recompute::Selective && l.recompute != Recompute::Cheap &&
         l.expertTp == 1 && isEveryNth(w, l);
}

/// DeepSeek's own software (DeepSeek-V3 report, sections 3.1 and 3.2; its Table 2 compares these
/// schedules): ZeRO-1, norms, up-projections and activations recomputed, no whole layers.
bool haiLlm(const Workload &, const Layout &l) {
  return isOneOf(l, {ScheduleKind::OneFOneB, ScheduleKind::ZbH1, ScheduleKind::DualPipe}) &&
         l.zeroStage <= 1 && l.offloadOptimizer == 0 && l.offloadActivations == 0 &&
         l.recompute != Recompute::Full && l.recompute != Recompute::Ops;
}

/// Meta's software for Llama 3 (The Llama 3 Herd of Models, section 3.3): interleaved 1F1B, FSDP
/// that shards optimizer states and gradients and keeps parameters.
bool meta2024(const Workload &, const Layout &l) {
  return isOneOf(l, {ScheduleKind::OneFOneB, ScheduleKind::Interleaved}) && l.zeroStage <= 2 &&
         l.offloadOptimizer == 0 && l.offloadActivations == 0 && l.recompute != Recompute::Ops;
}

/// What public libraries do for experts whatever the stack (DeepEP, DualPipe, Megatron-Core's
/// merged passes): a token goes once to a node, beside another micro-batch's compute where there is
/// some.
void anyRecipe(Recipe &r, const cost::Machine &) { r.expertsOnce = r.overlapExperts = true; }

/// cuDNN and FlashAttention 3 against FlashAttention 2: on Hopper 1.5 to 2.0 times forward, 1.5 to
/// 1.75 backward (arXiv 2407.08608).
double newestAttention(const cost::Machine &machine) {
  return machine.device.architecture == "hopper" ? 1.6 : 1.3;
}

/// Separate kernels for biases' gradients and the loss, scores in memory; backward sums of a tensor
/// group run beside products, stage boundaries are sent in pieces and waited for.
void megatron2022Recipe(Recipe &r, const cost::Machine &) {
  r.flashAttention = r.fusedLoss = r.fusedBiasGradient = false;
  r.asyncTensor = r.scatterSends = true;
  r.sends = Sends::Waited;
}

/// --tp-comm-overlap; Transformer Engine's FlashAttention 2 and gathers of quantized rows.
void megatron2024Recipe(Recipe &r, const cost::Machine &) {
  r.overlapTensor = r.contiguousBuckets = r.gatherQuantized = true;
  r.sends = Sends::BesideInterleaved;
}

/// --tp-comm-overlap, --cross-entropy-fusion-impl te, cuDNN's attention, HybridEP's dispatcher,
/// Transformer Engine's gathers of quantized rows.
void megatronRecipe(Recipe &r, const cost::Machine &machine) {
  r.overlapTensor = r.inPlaceLoss = r.expertsOnce = r.contiguousBuckets = r.gatherQuantized = true;
  r.attentionRate = newestAttention(machine);
  r.sends = Sends::BesideInterleaved;
}

/// torchtitan/models: wq, wk, wv, w1, w3 are products of their own; compiled, the loss's gradient
/// is a 16-bit tensor (pull request 859).
void torchtitanRecipe(Recipe &r, const cost::Machine &) {
  r.separateProducts = r.inPlaceLoss = true;
  // torchao, scaled per tensor: maximum, cast and a cast again for the weight gradient.
  r.keepQuantized = false;
  r.gatherQuantized = true;
  r.quantizeBytes = 9;
}

/// DeepSeek-V3 report, sections 3.2 and 3.3: expert traffic behind the other micro-batch, tokens
/// sent once to a node and in fp8, inputs of activation functions kept in fp8, 16-bit moments.
void haiLlmRecipe(Recipe &r, const cost::Machine &machine) {
  r.overlapExperts = r.expertsOnce = r.dispatchQuantized = r.keepActivationQuantized = true;
  r.optimizerBytes = 8;
  r.attentionRate = newestAttention(machine);
}

/// The Llama 3 Herd of Models, section 3.3.2: keys and values are gathered before attention, which
/// is waited for; asynchronous point-to-point communication.
void meta2024Recipe(Recipe &r, const cost::Machine &) {
  r.gatherContext = true;
  r.sends = Sends::BesideInterleaved;
}

const Stack all[] = {
    {"any", "whatever the model covers", nullptr, anyRecipe},
    {"megatron", "Megatron-Core, NeMo, Megatron-Bridge: 1f1b and interleaved, ZeRO-1, FSDP",
     megatron, megatronRecipe},
    {"megatron-2022", "Megatron-LM of 2021-22: the same without ZeRO, cp and cheap recomputation",
     megatron2022, megatron2022Recipe},
    {"megatron-2024",
     "Megatron-Core 0.7 to 0.11, NeMo of 2024: the same without FSDP and cheap recomputation",
     megatron2024, megatron2024Recipe},
    {"torchtitan", "torchtitan: FSDP2, schedules of torch.distributed", torchtitan,
     torchtitanRecipe},
    {"hai-llm", "DeepSeek's: 1f1b, zb-h1, DualPipe, ZeRO-1, no whole layers recomputed", haiLlm,
     haiLlmRecipe},
    {"meta-2024", "Meta's of Llama 3: 1f1b and interleaved, FSDP that keeps parameters", meta2024,
     meta2024Recipe},
};

} // namespace

const Stack *findStack(const std::string &name) {
  for (const Stack &stack : all)
    if (name == stack.name)
      return &stack;
  return nullptr;
}

std::string stackNames() {
  std::string names;
  for (const Stack &stack : all)
    names += std::string(names.empty() ? "" : ", ") + stack.name;
  return names;
}

} // namespace gpucc::planner
