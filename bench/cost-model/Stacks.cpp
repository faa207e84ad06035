//===- Stacks.cpp - the table ---------------------------------------------===//
//
// Kernel libraries against FlashAttention 2 (published figures of the libraries): cuDNN and
// FlashAttention 3 on Hopper 1.3 and more, FlashAttention 1 in Triton 0.8 on A100.
// Networks: Selene 200 Gb/s per GPU; Jean Zay 4 x 100 Gb/s Omni-Path per 8 GPUs; vTrain 4 x 200 Gb/s
// per 8; p3.16xlarge 25 Gb/s per 8; g4dn.12xlarge 50 Gb/s per 4; InternEvo 4 x 100 Gb/s per 8.
//
//===----------------------------------------------------------------------===//
#include "Stacks.h"
#include <string>

namespace gpucc::bench {

using workload::Recompute;

static const Stack stacks[] = {
    // source, family, software, flash, rate, sp, overlap, tensor, grad, zero, net, recompute,
    // stated, whole, greedy, fused, allocated
    {"SC'21", "Megatron 2021-22", "Megatron-LM 2021", false, 1, false, false, false, 2, 0, 0,
     Recompute::Full, true, false, false, true, false},
    {"selective", "Megatron 2021-22", "Megatron-LM 2022", false, 1, false, false, false, 4, 0, 0,
     Recompute::None, true, false, false, true, true},
    {"BLOOM", "BLOOM", "Megatron-DeepSpeed 2022", false, 1, false, false, false, 2, 1, 6.25,
     Recompute::Full, true, true, true, true, false},
    {"vTrain single", "vTrain single", "Megatron-DeepSpeed", false, 1, false, false, false, 2, 0,
     12.5, Recompute::None, true, false, false, true, false},
    {"vTrain multi", "vTrain multi", "Megatron-DeepSpeed", false, 1, false, false, false, 2, 0,
     12.5, Recompute::Full, true, false, false, true, false},
    {"Megatron-Core", "Megatron-Core", "Megatron-Core 0.7", true, 1, true, true, true, 4, 1, 0,
     Recompute::None, false, false, false, true, false},
    {"Herd", "Megatron-Core", "Meta training stack", true, 1.3, true, true, true, 4, 1, 0,
     Recompute::None, false, false, false, true, false},
    {"Bridge", "Bridge", "Megatron-Bridge", true, 1.3, true, true, true, 2, 1, 0, Recompute::None,
     false, false, false, true, false},
    {"ModelZoo", "ModelZoo", "Megatron-Core MoE", true, 1.3, true, true, true, 2, 1, 0,
     Recompute::None, false, false, false, true, false},
    {"DeepSeek-V3", "ModelZoo", "HAI-LLM", true, 1.3, true, true, false, 4, 1, 0, Recompute::None,
     true, false, false, true, false},
    {"NeMo-Framework", "NeMo", "NeMo 2024", true, 1, true, true, true, 4, 1, 0, Recompute::None,
     false, false, false, true, false},
    {"long-sequence", "NeMo", "NeMo 2024", true, 1, true, true, true, 4, 1, 0, Recompute::None,
     false, false, false, true, false},
    {"AutoModel", "AutoModel", "NeMo AutoModel", true, 1, true, true, false, 2, 3, 0,
     Recompute::None, false, false, false, false, false},
    {"async-TP", "torchtitan", "torchtitan", true, 1, true, true, true, 4, 3, 0, Recompute::Full,
     true, false, false, true, false},
    {"torchtitan", "torchtitan", "torchtitan", true, 1, true, true, false, 4, 3, 0,
     Recompute::Selective, true, false, false, true, false},
    {"Mosaic", "Mosaic", "llm-foundry", true, 0.8, false, true, false, 2, 3, 0, Recompute::None,
     true, false, false, true, false},
    {"InternEvo", "InternEvo", "InternEvo", true, 1, false, true, false, 2, 1, 12.5,
     Recompute::None, true, false, false, true, false},
    {"Alpa", "Alpa", "Alpa", false, 1, false, false, false, 2, 0, 0, Recompute::Full, true, false,
     false, false, false},
    {"DeepSpeed auto", "Alpa", "DeepSpeed 2021", false, 1, false, true, false, 2, 0, 1.5625,
     Recompute::None, true, false, false, false, false},
    {"AMP", "AMP", "DeepSpeed 2022", false, 1, false, false, false, 4, 0, 0, Recompute::None, true,
     false, false, false, false},
    {"SimuMax", "SimuMax", "Megatron-Core", true, 1.3, true, true, false, 4, 1, 0, Recompute::None,
     true, false, false, true, true},
    {"Mist", "Mist", "Mist", false, 1, false, false, false, 2, 0, 0, Recompute::Full, true, false,
     false, true, false},
    {"Zero", "Zero-Bubble", "Megatron-LM 2023", false, 1, false, false, false, 4, 0, 0,
     Recompute::None, true, false, false, true, false},
    {"Sailor", "Sailor", "Megatron-DeepSpeed", false, 1, false, false, false, 4, 0, 0,
     Recompute::None, true, false, false, true, false},
    {"nanotron", "nanotron", "nanotron", true, 1, true, false, false, 4, 1, 0, Recompute::None,
     true, false, false, true, false},
};

const Stack *stackOf(const std::string &source) {
  for (const Stack &stack : stacks)
    if (source.find(stack.source) != std::string::npos)
      return &stack;
  return nullptr;
}

} // namespace gpucc::bench
