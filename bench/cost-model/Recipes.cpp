//===- Recipes.cpp - by stack, by precision, by source --------------------===//
#include "Recipes.h"

namespace gpucc::bench {

using namespace workload;

namespace {

/// How a software passes stage boundaries on.
Sends sendsOf(const std::string &software) {
  if (has(software, "Megatron-Core") || has(software, "Megatron-Bridge") || software == "NeMo 2024")
    return Sends::BesideInterleaved;
  return has(software, "Megatron") || has(software, "DeepSpeed") ? Sends::Waited : Sends::Beside;
}

/// `p`: as the row prints it, in lower case.
void setPrecision(Recipe &r, const std::string &p) {
  bool single = p == "fp32" || p == "float32" || p == "f32", bfloat = has(p, "bf");
  r.precision = has(p, "fp4")    ? Precision::F4
                : has(p, "8")    ? Precision::F8
                : has(p, "tf32") ? Precision::Tf32
                : single         ? Precision::F32
                : bfloat         ? Precision::BF16
                                 : Precision::F16;
  // Per row: maximum and cast along either dimension, weights too, and a pass over the results of
  // backward products, which cuBLAS leaves unscaled (pytorch/ao 1325, 2184); 3.9 GB and 4.0 ms of
  // products against 5.7 ms measured for 16384 x 8192 x 7168 (pytorch/ao 2185). NVIDIA's "current
  // scaling" (CS) reads a tensor once more.
  if (has(p, "row"))
    r.quantizeBytes = 10, r.quantizeWeightBytes = 10, r.rescaleBytes = 4;
  else if (has(p, "cs") || has(p, "current"))
    r.quantizeBytes = 6;
}

/// torchtitan. torchao scales dynamically; it keeps the 16-bit input and casts it again for the
/// weight gradient; scaled per tensor, gathers move fp8.
void setTorchtitan(Run &run, const Row &row) {
  Layout &l = run.layout;
  Recipe &r = l.recipe;
  bool perRow = has(lower(row.text("precision")), "row");
  if (!perRow)
    r.quantizeBytes = 9, r.gatherQuantized = true;
  r.keepQuantized = false;
  r.separateProducts = true; // models/llama3/model.py: wq, wk, wv, w1, w3
  run.reserved = true;       // components/metrics.py prints reserved_bytes.all.peak
  // Compiled since 2025-02 (pull request 859): logits and their gradient are 16-bit tensors.
  r.inPlaceLoss = row.from("2025");
  if (has(row.notes, "async TP"))
    r.overlapTensor = true;
  // llama3_8b.toml, which both ran, recomputes by operator; asyncTP_llama3_h100_2025-06 says so,
  // and full of its 70B rows.
  bool unstated = row.text("recompute").empty();
  if (l.recompute == Recompute::Selective || row.from("H200") || (unstated && has(row.name, "8b")))
    l.recompute = Recompute::Ops;
  if (l.zeroStage == 3 && l.pp > 1)
    l.zeroStage = 2; // FSDP2 keeps parameters gathered between micro-batches under a pipeline
}

/// NeMo AutoModel: FSDP2 as torchtitan's; its rows name DeepEP where a token is sent once.
void setAutoModel(Run &run, const Row &row) {
  Layout &l = run.layout;
  if (l.zeroStage == 3 && l.pp > 1)
    l.zeroStage = 2;
  l.recipe.expertsOnce = run.mixture && has(row.notes, "DeepEP");
}

void setBloom(Run &run, const Row &) {
  Recipe &r = run.layout.recipe;
  // 384 GPUs hung without CUDA_LAUNCH_BLOCKING=1 (BLOOM's chronicles, "dealing with JZ hanging").
  r.waitedLaunches = true;
  if (r.precision == Precision::BF16)
    r.gradientBytes = 4, r.secondGradientBytes = 2; // its bf16 optimizer accumulates in f32
  r.bucketBytes =
      5e8 * r.gradientBytes; // DeepSpeed's buckets are 5e8 elements, whatever their type
  r.optimizerBytes = 16;     // its ZeRO-1 also keeps an f32 gradient of its partition
}

void setMegatron2021(Run &run, const Row &) {
  if (run.layout.zeroStage == 3)
    run.layout.recipe.bucketBytes = 100e6; // DeepSpeed fetches 5e7 elements ahead
}

/// Megatron-LM of April 2022, the one with sequence parallelism, fuses the accumulation and sums
/// input gradients beside weight gradients (core/tensor_parallel/layers.py), not DeepSpeed's.
void setMegatron2022(Run &run, const Row &row) {
  Layout &l = run.layout;
  l.recipe.fusedAccumulation = l.recipe.asyncTensor = true;
  // Table 5 compares the two together with neither of them, Table 4 names what each row has.
  l.sequenceParallel = (row.from("Table 5") && l.recompute == Recompute::Selective) ||
                       has(row.notes, "seqpar") || has(row.notes, "sequence parallel") ||
                       has(row.notes, "sequence_parallel=True");
}

/// XLA's fusion takes in reductions and casts.
void setAlpa(Run &run, const Row &) {
  run.layout.recipe.fusedBiasGradient = run.layout.recipe.fusedLoss = true;
}

/// overlap_sync_param is off in its configurations.
void setInternEvo(Run &run, const Row &) { run.layout.recipe.overlapParameters = false; }

void setMosaic(Run &run, const Row &row) {
  Recipe &r = run.layout.recipe;
  // Kernels written for Ampere use Hopper's mma.sync, 0.63 of its wgmma rate (Luo et al. 2024).
  if (run.machine.device.architecture == "hopper")
    r.attentionRate *= 0.63;
  // torch.utils.checkpoint without reentrance ends early since PyTorch 2.1 (pull request 90105):
  // llm-foundry forbids reentrance and measured its amp_bf16 rows again in October 2023, those in
  // pure bf16 are older.
  r.stopsRecomputing = has(lower(row.text("precision")), "amp");
}

/// The Llama 3 Herd of Models: parameters stay after the forward pass; keys and values are
/// gathered, exposed (section 3.3.2).
void setHerd(Run &run, const Row &) {
  run.layout.zeroStage = 1;
  run.layout.recipe.gatherContext = true;
}

/// DeepSeek-V3 report, section 3.2.3: norms, up-projections, SwiGLU run again; section 3.3.
void setDeepSeek(Run &run, const Row &) {
  Recipe &r = run.layout.recipe;
  run.layout.recompute = Recompute::Cheap;
  r.overlapExperts = r.dispatchQuantized = r.keepActivationQuantized = true;
  r.optimizerBytes = 8; // f32 master, moments of 16 bits
}

/// The same recipes for Llama (perf_recipes/llama): nothing is recomputed, but some layers of 8B in
/// fp8 on H100 (where memory is short they move activations to the host); whole steps of 8B are
/// graphs on Blackwell; NVFP4 does not overlap its tensor traffic.
void setBridgeLlama(Run &run, const Row &row) {
  Recipe &r = run.layout.recipe;
  bool small = has(row.name, "8b"), blackwell = run.machine.device.architecture == "blackwell";
  run.layout.recompute = Recompute::None;
  run.unstated.recompute = small && run.machine.name == "h100";
  r.cudaGraphs = small && blackwell && r.precision != Precision::F4;
  r.overlapTensor = r.precision != Precision::F4;
}

/// What Megatron-Bridge's recipes (src/megatron/bridge/perf_recipes) set: Transformer Engine's
/// loss; expert traffic beside compute for latent attention outside racks and Qwen3 235B on H100;
/// CUDA Graphs of attention and router on racks. Those of 26.06 for MXFP8 mixtures on racks:
/// graphs of the whole step, the fused grouped MLP (without biases), expert traffic beside
/// compute, fp8 attention (DeepSeek-V3 on GB300 only).
void setBridge(Run &run, const Row &row) {
  Recipe &r = run.layout.recipe;
  bool rack = has(run.machine.name, "nvl72"), latent = run.workload.isLatent();
  bool oss = run.workload.moe.biases;
  r.inPlaceLoss = true;
  if (has(row.name, "llama"))
    setBridgeLlama(run, row);
  // NCCL's all-to-all sends every copy; the others use HybridEP or DeepEP.
  bool plain =
      (oss && run.machine.name != "b300") ||
      (has(row.name, "qwen3_235b") && (run.machine.name == "h100" || run.machine.name == "b200"));
  r.expertsOnce = run.mixture && !plain;
  if (oss && run.machine.name != "b300" && run.machine.name != "gb300-nvl72") {
    run.layout.recompute = Recompute::Cheap; // layernorm and moe_act
    run.unstated.recompute = false;
  }
  r.overlapExperts =
      (latent && !rack) || (run.machine.name == "h100" && has(row.name, "qwen3_235b"));
  if (run.mixture && rack)
    r.hostShare = 1.0 / 3;
  if (run.mixture && rack && (row.from("26.06") || row.from("26.08")) &&
      has(lower(row.text("precision")), "mx")) {
    r.cudaGraphs = r.overlapExperts = true;
    r.fusedExperts = !run.workload.moe.biases;
    r.quantizedAttention = !latent || has(run.machine.name, "gb300");
  }
}

/// By a part of the source's name; every one that occurs counts, in this order.
const struct {
  const char *source;
  void (*set)(Run &, const Row &);
} sources[] = {{"SC'21", setMegatron2021},
               {"selective", setMegatron2022},
               {"BLOOM", setBloom},
               {"Alpa", setAlpa},
               {"InternEvo", setInternEvo},
               {"Mosaic", setMosaic},
               {"torchtitan", setTorchtitan},
               {"AutoModel", setAutoModel},
               {"Herd", setHerd},
               {"DeepSeek-V3", setDeepSeek},
               {"Bridge", setBridge}};

} // namespace

void setStack(Run &run, const Row &row, const Stack &stack) {
  Layout &l = run.layout;
  Recipe &r = l.recipe;
  r.flashAttention = stack.flash;
  // FlashAttention 3 and cuDNN on Hopper: 1.5 to 2.0 times FlashAttention 2 forward, 1.5 to 1.75
  // backward (arXiv 2407.08608).
  bool newest = stack.attentionRate > 1, hopper = run.machine.device.architecture == "hopper";
  r.attentionRate = newest && hopper ? 1.6 : stack.attentionRate;
  r.fusedPointwise = stack.fused;
  r.fusedAccumulation = stack.flash;
  r.fusedBiasGradient = stack.flash; // Transformer Engine does, autograd of PyTorch not
  r.fusedLoss = stack.flash;         // Megatron of 2021-22: cross entropy step by step
  r.overlapGradients = stack.overlapGradients;
  r.overlapTensor = stack.overlapTensor;
  r.gradientBytes = stack.gradientBytes;
  r.reduceWhole = stack.reduceWhole;
  r.bucketBytes = stack.bucketMegabytes * 1e6;
  r.scatterSends = !stack.flash; // Megatron's scatter-gather between stages
  r.sends = sendsOf(stack.software);
  r.contiguousBuckets = r.sends == Sends::BesideInterleaved; // Megatron-Core
  // DeepEP and HybridEP send a token once to a node.
  r.expertsOnce = run.mixture;
  // Transformer Engine quantizes before it gathers, forward and backward (distributed.py,
  // gather_along_first_dim with a quantizer).
  r.gatherQuantized = has(stack.software, "Megatron") || has(stack.software, "NeMo");
  setPrecision(r, lower(row.text("precision")));
  l.sequenceParallel = stack.sequenceParallel;
  run.allocated = stack.allocated;
}

void setSource(Run &run, const Row &row) {
  for (const auto &[source, set] : sources)
    if (row.from(source))
      set(run, row);
}

} // namespace gpucc::bench
