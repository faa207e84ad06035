//===- Stacks.cpp - the table ---------------------------------------------===//
//
// Kernel libraries against FlashAttention 2 (published figures of the libraries): cuDNN 1.3 (on
// Hopper, with FlashAttention 3, 1.6: Recipes.cpp), FlashAttention 1 in Triton 0.8 on A100.
// Buckets: InternEvo reduces and broadcasts tensor by tensor; DeepSpeed's defaults are 5e8 elements
// for ZeRO-1 and 5e7 for what ZeRO-3 fetches ahead.
// NeMo: the H100 scripts of NeMo-Framework-Launcher (examples/training/*/h100) set
// optim.grad_sync_dtype=bf16; its configurations leave activations_checkpoint_granularity at null.
// Networks: Selene 200 Gb/s per GPU; Jean Zay 4 x 100 Gb/s Omni-Path per 8 GPUs, of which its users
// measured 135 (BigScience, experiments/README.md); vTrain 4 x 200
// Gb/s per 8; p3.16xlarge 25 Gb/s per 8; g4dn.12xlarge 50 Gb/s per 4; InternEvo 4 x 100 Gb/s per 8.
//
//===----------------------------------------------------------------------===//
#include "Stacks.h"
#include <string>

namespace gpucc::bench {

using workload::Recompute;

static const Stack stacks[] = {
    // source, family, software, flash, rate, sp, overlap, tensor, grad, zero, net, recompute,
    // stated, whole, greedy, fused, allocated, bucket
    {"SC'21", "Megatron 2021-22", "Megatron-LM 2021", false, 1, false, false, false, 2, 0, 0,
     Recompute::Full, true, false, false, true, false, 0},
    {"selective", "Megatron 2021-22", "Megatron-LM 2022", false, 1, false, false, false, 4, 0, 0,
     Recompute::None, true, false, false, true, true, 0},
    {"BLOOM", "BLOOM", "Megatron-DeepSpeed 2022", false, 1, false, false, false, 2, 1, 2.25,
     Recompute::Full, true, true, true, true, false, 1000},
    {"vTrain single", "vTrain single", "Megatron-DeepSpeed", false, 1, false, false, false, 2, 0,
     12.5, Recompute::None, true, false, false, true, false, 0},
    {"vTrain multi", "vTrain multi", "Megatron-DeepSpeed", false, 1, false, false, false, 2, 0,
     12.5, Recompute::Full, true, false, false, true, false, 0},
    {"Megatron-Core", "Megatron-Core", "Megatron-Core 0.7", true, 1, true, true, true, 4, 1, 0,
     Recompute::None, false, false, false, true, false, 0},
    {"Herd", "Megatron-Core", "Meta training stack", true, 1, true, true, false, 4, 1, 0,
     Recompute::None, true, false, false, true, false, 0},
    {"Bridge", "Bridge", "Megatron-Bridge", true, 1.3, true, true, true, 2, 1, 0, Recompute::None,
     false, false, false, true, false, 0},
    {"ModelZoo", "ModelZoo", "Megatron-Core MoE", true, 1.3, true, true, true, 2, 1, 0,
     Recompute::None, false, false, false, true, false, 0},
    {"DeepSeek-V3", "ModelZoo", "HAI-LLM", true, 1.3, true, true, false, 4, 1, 0, Recompute::None,
     true, false, false, true, false, 0},
    {"NeMo-Framework", "NeMo", "NeMo 2024", true, 1, true, true, true, 2, 1, 0, Recompute::None,
     true, false, false, true, false, 0},
    {"long-sequence", "NeMo", "NeMo 2024", true, 1, true, true, true, 4, 1, 0, Recompute::None,
     false, false, false, true, false, 0},
    {"AutoModel", "AutoModel", "NeMo AutoModel", true, 1, true, true, false, 2, 3, 0,
     Recompute::None, false, false, false, true, false, 0},
    {"async-TP", "torchtitan", "torchtitan", true, 1, true, true, false, 4, 3, 0, Recompute::Full,
     true, false, false, true, false, 0},
    {"torchtitan", "torchtitan", "torchtitan", true, 1, true, true, false, 4, 3, 0,
     Recompute::Selective, true, false, false, true, false, 0},
    {"Mosaic", "Mosaic", "llm-foundry", true, 0.8, false, true, false, 2, 3, 0, Recompute::None,
     true, false, false, true, false, 0},
    {"InternEvo", "InternEvo", "InternEvo", true, 1, false, true, false, 2, 1, 6.25,
     Recompute::None, true, false, false, true, false, 45},
    {"Alpa", "Alpa", "Alpa", false, 1, false, false, false, 2, 0, 0, Recompute::Full, true, false,
     false, true, false, 0},
    {"DeepSpeed auto", "Alpa", "DeepSpeed 2021", false, 1, false, true, false, 2, 0, 1.5625,
     Recompute::None, true, false, false, false, false, 0},
    {"AMP", "AMP", "DeepSpeed 2022", false, 1, false, false, false, 4, 0, 0, Recompute::None, true,
     false, false, false, false, 0},
    {"SimuMax", "SimuMax", "Megatron-Core", true, 1.3, true, true, false, 4, 1, 0, Recompute::None,
     true, false, false, true, true, 0},
    {"Mist", "Mist", "Mist", false, 1, false, false, false, 2, 0, 0, Recompute::Full, true, false,
     false, true, false, 0},
    {"Zero", "Zero-Bubble", "Megatron-LM 2023", false, 1, false, false, false, 4, 0, 0,
     Recompute::None, true, false, false, true, false, 0},
    {"Sailor", "Sailor", "Megatron-DeepSpeed", false, 1, false, false, false, 4, 0, 0,
     Recompute::None, true, false, false, true, false, 0},
    {"nanotron", "nanotron", "nanotron", true, 1, true, false, false, 4, 1, 0, Recompute::None,
     true, false, false, true, false, 0},
};

const Stack *stackOf(const std::string &source) {
  for (const Stack &stack : stacks)
    if (source.find(stack.source) != std::string::npos)
      return &stack;
  return nullptr;
}

/// What Megatron-Core, NeMo and torchtitan have in common since 2023. FlashAttention 2 needs Ampere
/// (its README), so that older devices run attention unfused.
static const Stack usual = {"", "", "unknown",       true,  1,     true,  true, false, 4,
                            0,  0,  Recompute::None, false, false, false, true, false, 0};
static const Stack usualBeforeAmpere = {"",    "",    "unknown", false, 1,     true,
                                        true,  false, 4,         0,     0,     Recompute::None,
                                        false, false, false,     true,  false, 0};

const Stack *stackOrUsual(const std::string &source, const std::string &machine) {
  if (const Stack *stack = stackOf(source))
    return stack;
  bool old = machine.starts_with("v100") || machine == "t4";
  return old ? &usualBeforeAmpere : &usual;
}

} // namespace gpucc::bench
