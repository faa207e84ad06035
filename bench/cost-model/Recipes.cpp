//===- Recipes.cpp - settings of software that depend on precision or release ===//
#include "Recipes.h"
#include "Names.h"

namespace gpucc::bench {

using namespace workload;

Sends sendsOf(const std::string &software) {
  if (has(software, "Megatron-Core") || has(software, "Megatron-Bridge") || software == "NeMo 2024")
    return Sends::BesideInterleaved;
  return has(software, "Megatron") || has(software, "DeepSpeed") ? Sends::Waited : Sends::Beside;
}

void setPrecision(Run &run, const std::string &p) {
  const std::string &source = run.source;
  Recipe &r = run.layout.recipe;
  bool single = p == "fp32" || p == "float32" || p == "f32", bfloat = has(p, "bf");
  r.precision = has(p, "fp4")    ? Precision::F4
                : has(p, "8")    ? Precision::F8
                : has(p, "tf32") ? Precision::Tf32
                : single         ? Precision::F32
                : bfloat         ? Precision::BF16
                                 : Precision::F16;
  // torchao scales dynamically; NVIDIA's "current scaling" (CS) reads a tensor once more.
  // torchao keeps the 16-bit input and casts it again for the weight gradient. Per row: maximum
  // and cast along either dimension, weights too, and a pass over the results of backward
  // products, which cuBLAS leaves unscaled (pytorch/ao 1325, 2184); 3.9 GB and 4.0 ms of products
  // against 5.7 ms measured for 16384 x 8192 x 7168 (pytorch/ao 2185). Per tensor: gathers move
  // fp8.
  bool torchao = has(source, "titan") || has(source, "async-TP");
  if (has(p, "row"))
    r.quantizeBytes = 10, r.quantizeWeightBytes = 10, r.rescaleBytes = 4;
  else if (torchao)
    r.quantizeBytes = 9, r.gatherQuantized = true;
  else if (has(p, "cs") || has(p, "current"))
    r.quantizeBytes = 6;
  if (has(source, "BLOOM") && r.precision == Precision::BF16)
    r.gradientBytes = 4, r.secondGradientBytes = 2; // its bf16 optimizer accumulates in f32
  if (has(source, "BLOOM")) // DeepSpeed's buckets are 5e8 elements, whatever their type
    r.bucketBytes = 5e8 * r.gradientBytes;
  if (has(source, "BLOOM"))
    r.optimizerBytes = 16; // DeepSpeed's ZeRO-1 also keeps an f32 gradient of its partition
}

/// The same recipes for Llama (perf_recipes/llama): nothing is recomputed, but some layers of 8B in
/// fp8 on H100 (where memory is short they move activations to the host); whole steps of 8B are
/// graphs on Blackwell; NVFP4 does not overlap its tensor traffic.
static void setBridgeLlama(Run &run, const std::string &name) {
  Recipe &r = run.layout.recipe;
  bool small = has(name, "8b"), blackwell = run.machine.device.architecture == "blackwell";
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
void setBridge(Run &run, const std::string &name, const std::string &precision) {
  const std::string &source = run.source;
  Recipe &r = run.layout.recipe;
  bool rack = has(run.machine.name, "nvl72"), latent = run.workload.isLatent();
  bool oss = run.workload.moe.biases;
  r.inPlaceLoss = true;
  if (has(name, "llama"))
    setBridgeLlama(run, name);
  // NCCL's all-to-all sends every copy; the others use HybridEP or DeepEP.
  bool plain =
      (oss && run.machine.name != "b300") ||
      (has(name, "qwen3_235b") && (run.machine.name == "h100" || run.machine.name == "b200"));
  r.expertsOnce = run.mixture && !plain;
  if (oss && run.machine.name != "b300" && run.machine.name != "gb300-nvl72") {
    run.layout.recompute = Recompute::Cheap; // layernorm and moe_act
    run.unstated.recompute = false;
  }
  r.overlapExperts = (latent && !rack) || (run.machine.name == "h100" && has(name, "qwen3_235b"));
  if (run.mixture && rack)
    r.hostShare = 1.0 / 3;
  if (run.mixture && rack && (has(source, "26.06") || has(source, "26.08")) &&
      has(precision, "mx")) {
    r.cudaGraphs = r.overlapExperts = true;
    r.fusedExperts = !run.workload.moe.biases;
    r.quantizedAttention = !latent || has(run.machine.name, "gb300");
  }
}

} // namespace gpucc::bench
