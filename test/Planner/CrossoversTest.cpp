// Which of two published layouts wins, and where the winner changes: signs, not seconds. The
// figures in comments are what the sources measured.
#include "gpucc/Planner/LayoutSearch.h"
#include <gtest/gtest.h>

using namespace gpucc;
using namespace gpucc::planner;
using namespace gpucc::workload;

namespace {

cost::Machine machineOf(const std::string &name, int gpus) {
  return std::get<cost::Machine>(cost::loadMachine(name, gpus));
}

simulate::StepCost run(const std::string &workload, const cost::Machine &machine,
                       const std::string &pins) {
  Workload w = std::get<Workload>(loadWorkload(workload));
  Layout l;
  std::vector<std::string> keys;
  EXPECT_EQ(applyPins(pins, l, keys), "");
  EXPECT_EQ(checkLayout(w, l), "") << pins;
  return simulate::stepCost(machine, w, l);
}

const std::string megatron2021 =
    ",recipe.precision=f16,recipe.flash-attention=off,recipe.gradient-bytes=2";

// SC'21, Table 2, TFLOP/s per GPU of 175B on 384, 768, 1,536 GPUs: ZeRO-3 144, 88, 44; PTD-P 153,
// 149, 141. DeepSpeed fetches 5e7 parameters at a time (stage3_prefetch_bucket_size): on a thousand
// ranks each fetch pays the latency of a long ring. On 384 GPUs the two are 6 % apart in print, and
// the model has ZeRO-3 ahead by about a tenth there: that point is not claimed.
TEST(Crossovers, TensorAndPipelineOverZeroThreeAtScale) {
  double zero[3], ptd[3];
  const int gpus[] = {384, 768, 1536}, microBatch[] = {4, 2, 1};
  for (int k = 0; k < 3; ++k) {
    cost::Machine machine = machineOf("a100-80gb", gpus[k]);
    const std::string eager = megatron2021 + ",recipe.overlap-gradients=off";
    std::string n = std::to_string(gpus[k]), mb = std::to_string(microBatch[k]);
    zero[k] = run("gpt-3-175b", machine,
                  "dp=" + n + ",zero=3,micro-batch=" + mb + ",global-batch=1536,recompute=full" +
                      eager + ",recipe.bucket-bytes=100000000")
                  .hfu;
    ptd[k] = run("gpt-3-175b", machine,
                 "tp=8,sp=off,pp=12,dp=" + std::to_string(gpus[k] / 96) +
                     ",global-batch=1536,recompute=full" + eager)
                 .hfu;
    if (gpus[k] > 384) {
      EXPECT_GT(ptd[k], zero[k]) << gpus[k];
    }
  }
  EXPECT_LT(zero[2] / zero[0], 0.5); // published 0.31
  EXPECT_GT(ptd[2] / ptd[0], 0.85);  // published 0.92
  EXPECT_GT(ptd[2] / zero[2], 2);    // published 3.2
}

// Korthikanti et al., Table 5, seconds: 22B 1.42 -> 1.10, 175B 18.13 -> 13.75, 530B 49.05 -> 37.83,
// 1T 94.42 -> 71.49: sequence parallelism with selective recomputation is 29 to 32 % faster.
TEST(Crossovers, SelectiveRecomputationOverFull) {
  struct Row {
    const char *workload, *pins;
    int gpus;
    double published;
  };
  for (Row row :
       {Row{"gpt-22b", "tp=8,micro-batch=4,global-batch=4", 8, 1.42 / 1.10},
        Row{"gpt-3-175b", "tp=8,pp=8,schedule=interleaved,virtual-stages=3,global-batch=64", 64,
            18.13 / 13.75},
        Row{"gpt-529.6b", "tp=8,pp=35,schedule=interleaved,virtual-stages=3,global-batch=280", 280,
            49.05 / 37.83},
        Row{"gpt-1008b", "tp=8,pp=64,global-batch=512", 512, 94.42 / 71.49}}) {
    cost::Machine machine = machineOf("a100-80gb", row.gpus);
    std::string pins = row.pins + megatron2021;
    double full = run(row.workload, machine, pins + ",sp=off,recompute=full").seconds;
    double selective = run(row.workload, machine, pins + ",recompute=selective").seconds;
    EXPECT_GT(full / selective, 1.15) << row.workload;
    EXPECT_NEAR(full / selective, row.published, 0.1) << row.workload;
  }
}

// torchtitan, Llama 3.1 405B on 512 H100 (FSDP 8, TP 8, PP 8, fp8, async TP, full recomputation):
// 1F1B 100, interleaved 128 tokens/s per GPU.
TEST(Crossovers, InterleavedOverOneFOneB) {
  cost::Machine machine = machineOf("h100-96gb", 512);
  const std::string pins = "tp=8,pp=8,dp=8,zero=3,global-batch=256,recompute=full,"
                           "recipe.precision=f8,recipe.overlap-tensor=on,schedule=";
  double plain = run("llama-3-405b", machine, pins + "1f1b").tokensPerSecond;
  double interleaved =
      run("llama-3-405b", machine, pins + "interleaved,virtual-stages=8").tokensPerSecond;
  EXPECT_GT(interleaved / plain, 1.1); // published 1.28
}

// NeMo's long-context table, Llama 2 7B on H100 in fp8, best with CP against best without,
// TFLOP/s: 4K and 8K no CP; 32K 610 / 595, 64K 574 / 534, 128K 555 / 424, 256K 549 / 392.
TEST(Crossovers, ContextParallelismBySequenceLength) {
  double gainBefore = 0;
  for (auto [sequence, batch, gpus] :
       {std::tuple<int64_t, int64_t, int>{8192, 512, 8}, {32768, 128, 32}, {131072, 32, 128}}) {
    SearchProblem p;
    p.workload = std::get<Workload>(loadWorkload("llama-2-7b"));
    p.workload.sequence = sequence;
    p.machine = machineOf("h100", gpus);
    p.ranks = gpus;
    p.base.globalBatch = batch;
    p.accept = [](const Workload &, const Layout &l) { // NeMo of 2024: cores or whole layers
      return l.recompute != Recompute::Cheap && l.recompute != Recompute::Ops;
    };
    p.base.recipe.precision = Precision::F8;
    SearchOptions options;
    options.explain = false;
    SearchResult free = searchLayouts(p, options);
    p.pinned.insert("cp"); // base.cp is 1
    SearchResult without = searchLayouts(p, options);
    ASSERT_EQ(free.error + without.error, "");
    double gain = without.best.cost.seconds / free.best.cost.seconds;
    if (sequence <= 8192)
      EXPECT_EQ(free.best.layout.cp, 1) << free.best.layout.line();
    else
      EXPECT_GT(free.best.layout.cp, 1) << free.best.layout.line();
    EXPECT_GE(gain, gainBefore) << sequence;
    gainBefore = gain;
  }
  EXPECT_GT(gainBefore,
            1); // the sign; published 1.31 at 128K, how much the model says is in bench/RESULTS.md
}

// InternEvo, InternLM 7B with ZeRO-1, tokens/s per GPU on 64, 512, 1,024 GPUs: shared by all 3,690,
// 2,861, 2,271; shared by the 8 of a node 3,944, -, 3,625. Its optimizer broadcasts the parameters
// owner by owner: as many messages as ranks share a copy. Four 100 Gb cards per node. (At 64 the
// model sees a tie where 7 % were measured.)
TEST(Crossovers, ZeroGroupOfANodeOverAllRanks) {
  double lossBefore = 0;
  for (int gpus : {64, 512, 1024}) {
    cost::Machine machine = machineOf("a100-80gb", gpus);
    machine.inter.bandwidth = 4 * 12.5e9 / 8;
    auto tokens = [&](int group) {
      double owned = 2 * 7.3e9 / (group == 0 ? gpus : group);
      return run("internlm-7b", machine,
                 "zero=1,micro-batch=2,recipe.gradient-bytes=2,dp=" + std::to_string(gpus) +
                     ",global-batch=" + std::to_string(8 * gpus) +
                     ",zero-group=" + std::to_string(group) +
                     ",recipe.bucket-bytes=" + std::to_string(static_cast<int64_t>(owned)))
          .tokensPerSecond;
    };
    double loss = tokens(8) / tokens(0);
    if (gpus > 64)
      EXPECT_GT(loss, 1) << gpus;
    EXPECT_GE(loss, lossBefore) << gpus; // the larger the run, the more a node's group wins
    lossBefore = loss;
  }
  EXPECT_GT(lossBefore, 1.2); // published 1.60
}

} // namespace
