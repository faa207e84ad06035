// The cost of a step: laws that must hold whatever the constants are, and published memory.
#include "gpucc/Simulate/StepCost.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace gpucc;
using namespace gpucc::simulate;
using namespace gpucc::workload;

namespace {

Layout layoutOf(const std::string &pins) {
  Layout l;
  std::vector<std::string> keys;
  EXPECT_EQ(applyPins(pins, l, keys), "");
  return l;
}
cost::Machine machineOf(const std::string &name, int gpus) {
  return std::get<cost::Machine>(cost::loadMachine(name, gpus));
}
Workload builtin(const std::string &name) { return std::get<Workload>(loadWorkload(name)); }

// Korthikanti et al. 2022, Fig. 1: activations of the models of Table 3 with tensor and sequence
// parallelism and selective recomputation, first pipeline rank. 175B: 12 layers x (1 + (p-1)/(pv))
// micro-batches of 34 s b h / t: 12.35 GB in their units (GiB), measured by Calculon's authors too.
TEST(StepCost, ActivationsOfPublishedRuns) {
  struct Row {
    const char *name, *pins;
    int gpus;
    double gib;
  };
  const char *recipe = ",recipe.precision=f16,recipe.flash-attention=off,recompute=selective";
  for (Row row :
       {Row{"gpt-22b", "tp=8,micro-batch=4,global-batch=4", 8, 9.56},
        Row{"gpt-3-175b", "tp=8,pp=8,schedule=interleaved,virtual-stages=3,global-batch=64", 64,
            12.35},
        Row{"gpt-529.6b", "tp=8,pp=35,schedule=interleaved,virtual-stages=3,global-batch=280", 280,
            23.08},
        Row{"gpt-1008b", "tp=8,pp=64,global-batch=512", 512, 26.56}}) {
    StepCost s = stepCost(machineOf("a100-80gb", row.gpus), builtin(row.name),
                          layoutOf(std::string(row.pins) + recipe));
    const cost::RankMemory &first = s.memory.front();
    EXPECT_NEAR(first.activations / 1073741824 / row.gib, 1, 0.03) << row.name;
  }
}

TEST(StepCost, LaterRanksOfOneFOneBKeepLess) {
  StepCost s = stepCost(machineOf("a100-80gb", 64), builtin("gpt-3-175b"),
                        layoutOf("tp=8,pp=8,global-batch=64,recompute=full"));
  for (size_t r = 1; r < 8; ++r)
    EXPECT_LT(s.memory[r].activations, s.memory[r - 1].activations);
}

TEST(StepCost, ChunksHoldAllLayersOnce) {
  Workload w = builtin("llama-3-405b");
  for (const char *pins :
       {"pp=16,tp=8,global-batch=64",
        "pp=16,tp=8,global-batch=64,schedule=interleaved,virtual-stages=4",
        "pp=16,tp=8,global-batch=64,schedule=zb-v", "pp=7,tp=8,global-batch=64"}) {
    Layout l = layoutOf(pins);
    std::vector<int64_t> layers = layersOfChunks(w, l);
    EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), int64_t(0)), 126) << pins;
  }
  Layout l = layoutOf("pp=2,tp=8,global-batch=64,schedule=interleaved,virtual-stages=3");
  l.stageLayers = {60, 66};
  std::vector<int64_t> layers = layersOfChunks(w, l);
  EXPECT_EQ(layers[0] + layers[2] + layers[4], 60);
}

TEST(StepCost, LongPipelinesContinueInALine) {
  Workload w = builtin("gpt-3-175b");
  BlockCache cache(w, cost::Calibration::builtin());
  cost::Machine machine = machineOf("a100-80gb", 64);
  for (const char *schedule : {"1f1b", "gpipe", "zb-h1", "zb-v", "interleaved,virtual-stages=3"}) {
    Layout l = layoutOf(std::string("tp=8,pp=8,global-batch=256,schedule=") + schedule);
    StepCost all = stepCost(cache, machine, l), some = stepCost(cache, machine, l, {32, false});
    EXPECT_NEAR(some.seconds / all.seconds, 1, 2e-3) << schedule;
  }
}

// Laws: more micro-batches amortise the bubble; ZeRO never needs more memory; recomputation trades
// memory for time; a faster network is never slower.
TEST(StepCost, Laws) {
  Workload w = builtin("gpt-3-175b");
  BlockCache cache(w, cost::Calibration::builtin());
  cost::Machine machine = machineOf("a100-80gb", 256);
  auto run = [&](const std::string &pins) { return stepCost(cache, machine, layoutOf(pins)); };
  const std::string base = "tp=8,pp=8,dp=4,global-batch=";
  EXPECT_LT(run(base + "512").seconds / 512, run(base + "64").seconds / 64);
  double before = 1e30;
  for (const char *zero : {"0", "1", "2", "3"}) {
    double bytes = run(base + "512,zero=" + zero).fullestMemory().total();
    EXPECT_LE(bytes, before * (1 + 1e-9)) << zero;
    before = bytes;
  }
  StepCost none = run(base + "512"), full = run(base + "512,recompute=full");
  EXPECT_LT(none.seconds, full.seconds);
  EXPECT_GT(none.fullestMemory().activations, full.fullestMemory().activations);
  EXPECT_GT(full.hfu, full.mfu * 1.25);
  cost::Machine faster = machine;
  faster.inter.bandwidth *= 2;
  BlockCache other(w, cost::Calibration::builtin());
  EXPECT_LE(stepCost(other, faster, layoutOf(base + "512")).seconds, none.seconds);
}

// More layers take longer and more memory, also where the ranks' shares are uneven.
TEST(StepCost, MoreLayersAreNeverFaster) {
  cost::Machine machine = machineOf("h100", 64);
  for (const char *model : {"llama-3-8b", "mixtral-8x7b"})
    for (const char *pins :
         {"tp=2,pp=4,dp=8,global-batch=64", "tp=2,pp=1,dp=32,global-batch=64,zero=3",
          "tp=2,pp=8,dp=4,global-batch=64,recompute=full"}) {
      double seconds = 0, bytes = 0;
      for (int64_t layers = 8; layers <= 40; ++layers) {
        Workload w = builtin(model);
        w.layers = layers;
        BlockCache cache(w, cost::Calibration::builtin());
        StepCost now = stepCost(cache, machine, layoutOf(pins));
        EXPECT_GE(now.seconds, seconds * (1 - 1e-9)) << model << ' ' << pins << ' ' << layers;
        EXPECT_GE(now.fullestMemory().total(), bytes * (1 - 1e-9)) << model << ' ' << layers;
        seconds = now.seconds;
        bytes = now.fullestMemory().total();
      }
    }
}

TEST(StepCost, TheBoundIsNeverAbove) {
  Workload w = builtin("mixtral-8x7b");
  BlockCache cache(w, cost::Calibration::builtin());
  cost::Machine machine = machineOf("h100", 64);
  for (const char *schedule : {"gpipe", "1f1b", "interleaved,virtual-stages=2", "zb-h1", "zb-h2",
                               "zb-v", "dualpipe", "dualpipe-v"})
    for (const char *zero : {"0", "1", "2", "3"})
      for (const char *recompute : {"none", "full", "full,recompute-layers=3"}) {
        Layout l = layoutOf(std::string("tp=2,ep=4,pp=4,dp=8,global-batch=256,schedule=") +
                            schedule + ",zero=" + zero + ",recompute=" + recompute);
        EXPECT_LE(stepBound(cache, machine, l), stepCost(cache, machine, l).seconds * (1 + 1e-9))
            << l.line();
      }
}

// The same for any layout and recipe: some thousand drawn ones, of those that the rules allow.
TEST(StepCost, TheBoundIsNeverAboveForDrawnLayouts) {
  std::mt19937 engine(5);
  auto one = [&engine](const std::vector<std::string> &of) {
    return of[std::uniform_int_distribution<size_t>(0, of.size() - 1)(engine)];
  };
  cost::Machine machine = machineOf("h100", 64);
  machine.inter.bandwidth /= 4; // traffic counts
  int allowed = 0;
  for (const char *model : {"mixtral-8x7b", "llama-2-7b"}) {
    Workload w = builtin(model);
    BlockCache cache(w, cost::Calibration::builtin());
    for (int draw = 0; draw < 1500; ++draw) {
      std::string pins = "global-batch=" + one({"64", "96", "256"}) +
                         ",micro-batch=1,tp=" + one({"1", "2", "4"}) + ",cp=" + one({"1", "2"}) +
                         ",pp=" + one({"1", "2", "4", "8"}) + ",zero=" + one({"0", "1", "2", "3"}) +
                         ",schedule=" +
                         one({"gpipe", "1f1b", "interleaved,virtual-stages=2", "zb-h1", "zb-h2",
                              "interleaved,virtual-stages=4", "zb-v", "dualpipe", "dualpipe-v"}) +
                         ",recompute=" + one({"none", "selective", "full", "ops"});
      if (w.hasExperts())
        pins += ",ep=" + one({"1", "2", "8"});
      pins += ",recipe.sends=" + one({"beside", "beside-interleaved", "waited"});
      for (const char *flag :
           {"waited-launches", "stops-recomputing", "separate-products", "contiguous-buckets",
            "overlap-experts", "experts-once", "overlap-gradients", "overlap-parameters",
            "overlap-tensor", "async-tensor", "gather-context", "cuda-graphs", "scatter-sends"})
        pins += std::string(",recipe.") + flag + "=" + one({"on", "off"});
      Layout l = layoutOf(pins);
      l.dp = 64 / (l.tp * l.cp * l.pp);
      if (l.dp < 1 || !checkLayout(w, l, 64).empty())
        continue;
      ++allowed;
      ASSERT_LE(stepBound(cache, machine, l), stepCost(cache, machine, l).seconds * (1 + 1e-9))
          << l.line() << '\n'
          << pins;
    }
  }
  EXPECT_GT(allowed, 500);
}

// A cache tells apart recipes that differ by less than a tenth of a byte.
TEST(StepCost, CachedBlocksAreThoseOfTheirRecipe) {
  Workload w = builtin("llama-2-7b");
  cost::Machine machine = machineOf("h100", 8);
  Layout l = layoutOf("tp=8,recipe.precision=f8"), more = l;
  more.recipe.quantizeBytes += 0.01;
  BlockCache cache(w, cost::Calibration::builtin());
  auto pointwise = [&](const Layout &layout) {
    return cache.get(machine, layout, {BlockPart::Layer}).forward.pointwise;
  };
  EXPECT_GT(pointwise(more), pointwise(l));
}

// ... and nodes whose devices differ in nothing but their links: H100 and H800.
TEST(StepCost, CachedBlocksAreThoseOfTheirNode) {
  Workload w = builtin("llama-2-7b");
  cost::Machine fast = machineOf("h100", 8), slow = machineOf("h800", 8);
  slow.device = fast.device;
  BlockCache cache(w, cost::Calibration::builtin()), fresh(w, cost::Calibration::builtin());
  Layout l = layoutOf("tp=8");
  double first = cache.get(fast, l, {BlockPart::Layer}).forward.tensor;
  double second = cache.get(slow, l, {BlockPart::Layer}).forward.tensor;
  EXPECT_GT(second, 1.2 * first);
  EXPECT_EQ(second, fresh.get(slow, l, {BlockPart::Layer}).forward.tensor);
}

// The host issues collectives too: per layer of tp without sp two forward and two backward ones.
// Beside a device that takes no time only the host's calls are left.
TEST(StepCost, CollectivesAreIssuedByTheHost) {
  cost::Machine machine = machineOf("a100-80gb", 8);
  cost::Calibration calibration = cost::Calibration::builtin();
  calibration.constants["host-seconds"].value = 1; // nothing else counts
  Workload w = builtin("gpt-3-175b");
  auto host = [&](const char *pins) {
    BlockCost b = blockCost(machine, w, layoutOf(pins), {BlockPart::Layer}, calibration);
    return b.forward.total() + b.backwardInput.total();
  };
  EXPECT_NEAR(host("tp=8,sp=off") - host("tp=1,sp=off"), 4, 0.1);
}

// Beside an idle device: 2 * 2 products forward and backward, of 16 experts each, and half of it
// for weights; graphs of parts of the layer hold operators, not the calls for single experts.
TEST(StepCost, CallsForExpertsAreHostTime) {
  cost::Machine machine = machineOf("b200", 8);
  cost::Calibration calibration = cost::Calibration::builtin();
  calibration.constants["host-seconds"].value = 0;
  calibration.constants["call-seconds"].value = 1; // nothing else counts
  Workload w = builtin("qwen3-30b-a3b");
  auto host = [&](const char *pins) {
    BlockCost b = blockCost(machine, w, layoutOf(pins), {BlockPart::Layer, true}, calibration);
    return b.forward.host + b.backwardInput.host + b.backwardWeight.host;
  };
  EXPECT_NEAR(host("ep=8,dp=8"), 6 * 15, 0.1);
  EXPECT_NEAR(host("ep=8,dp=8,recipe.host-share=0.3"), 6 * 15, 0.1);
  EXPECT_EQ(host("ep=8,dp=8,recipe.cuda-graphs=on"), 0);
}

// One forward pass more is in flight where expert traffic runs beside another pass: a second
// micro-batch without a pipeline, a chunk more under an interleaved one, nothing under DualPipe.
TEST(StepCost, ExpertTrafficBesideComputeKeepsOneMoreChunk) {
  cost::Machine machine = machineOf("b300", 64);
  Workload w = builtin("qwen3-30b-a3b");
  auto activations = [&](const std::string &pins) {
    StepCost s = stepCost(machine, w, layoutOf(pins + ",global-batch=512,zero=1"));
    return s.memory[0].activations;
  };
  double one = activations("ep=8,dp=64");
  EXPECT_NEAR(activations("ep=8,dp=64,recipe.overlap-experts=on") / one, 2, 0.01); // logits apart
  std::string chunks = "ep=8,dp=16,pp=4,schedule=interleaved,virtual-stages=2";
  StepCost s = stepCost(machine, w, layoutOf(chunks + ",global-batch=512,zero=1"));
  EXPECT_NEAR(activations(chunks + ",recipe.overlap-experts=on") - s.memory[0].activations,
              std::max(s.chunks[0].keptBytes, s.chunks[4].keptBytes), 1);
  std::string pairs = "ep=8,dp=16,pp=4,schedule=dualpipe";
  EXPECT_EQ(activations(pairs + ",recipe.overlap-experts=on"), activations(pairs));
}

// Keys and values that are gathered first are waited for in full; a ring hides behind the core.
TEST(StepCost, GatheredContextIsExposed) {
  cost::Machine machine = machineOf("h100", 16);
  Workload w = builtin("llama-3-8b");
  auto context = [&](const char *pins) {
    return blockCost(machine, w, layoutOf(pins), {BlockPart::Layer}).forward.context;
  };
  double bytes = 4096.0 * 2 * 2 * 1024 / 8 * 2; // of one rank's 4096 tokens, two ranks, 16 bits
  double all = cost::collectiveSeconds(machine, cost::Collective::AllGather, bytes, {2, 8});
  EXPECT_NEAR(context("tp=8,cp=2,recipe.gather-context=on"), all, 1e-9);
  EXPECT_LT(context("tp=8,cp=2"), 0.5 * all);
}

// Megatron-Bridge's DeepSeek-V3 on 4 ranks of 4 chunks: sixteen of four layers, of which the last
// has one and the prediction layer.
TEST(StepCost, ChunksOfUnevenStages) {
  Layout l = layoutOf("pp=4,schedule=interleaved,virtual-stages=4,global-batch=64");
  l.stageLayers = {16, 16, 16, 14};
  std::vector<int64_t> expected(15, 4);
  expected.push_back(2);
  EXPECT_EQ(layersOfChunks(builtin("deepseek-v3"), l), expected);
}

// Two of the four all-reduces of a layer can run beside the products of its weight gradients, which
// take longer: a tenth of them is left. Where products take no time, all of it is.
TEST(StepCost, SumsBesideWholeProducts) {
  cost::Machine machine = machineOf("a100-80gb", 8);
  cost::Calibration calibration = cost::Calibration::builtin();
  Workload w = builtin("gpt-3-175b");
  auto tensor = [&](const char *pins) {
    BlockCost b = blockCost(machine, w, layoutOf(pins), {BlockPart::Layer}, calibration);
    return b.forward.tensor + b.backwardInput.tensor + b.backwardWeight.tensor;
  };
  double four = tensor("tp=8,sp=off,recipe.cuda-graphs=on");
  EXPECT_NEAR(tensor("tp=8,sp=off,recipe.cuda-graphs=on,recipe.async-tensor=on") / four, 0.55,
              1e-9);
  machine.device.peak[DType::BF16] *= 1e6;
  machine.device.memoryBandwidth *= 1e6;
  machine.device.launchSeconds = 0;
  EXPECT_NEAR(tensor("tp=8,sp=off,recipe.cuda-graphs=on,recipe.async-tensor=on") / four, 1, 1e-3);
}

// While a pipeline is full, one more micro-batch takes the slowest rank its F + B: the last one
// here, which makes the logits. Where ranks wait for their sends, it also waits for the one it
// makes, up.
TEST(StepCost, WaitedSendsLengthenTheFullPipeline) {
  cost::Machine machine = machineOf("a100-80gb", 64);
  Workload w = builtin("gpt-3-175b");
  auto run = [&](const std::string &pins) { return stepCost(machine, w, layoutOf(pins)); };
  auto another = [&](const std::string &pins) {
    return run("tp=8,pp=8,global-batch=65," + pins).seconds -
           run("tp=8,pp=8,global-batch=64," + pins).seconds;
  };
  double send = run("tp=8,pp=8,global-batch=64").sendSeconds;
  ASSERT_GT(send, 1e-4);
  EXPECT_NEAR(another("recipe.sends=waited") - another("recipe.sends=beside"), send, 1e-6);
  EXPECT_NEAR(another("recipe.sends=beside-interleaved"), another("recipe.sends=waited"), 1e-9);
  std::string chunks = "tp=8,pp=8,global-batch=64,schedule=interleaved,virtual-stages=4,";
  EXPECT_DOUBLE_EQ(run(chunks + "recipe.sends=beside-interleaved").seconds,
                   run(chunks + "recipe.sends=beside").seconds);
  EXPECT_GT(run(chunks + "recipe.sends=waited").seconds,
            run(chunks + "recipe.sends=beside").seconds + 64 * 2 * 3 * send);
}

// Llama 3 8B: of 2 h (qkv + out + 3 f) products of a layer the last has 2 h f; with its sum over
// the tensor group it is not run again.
TEST(StepCost, RecomputationMayStopEarly) {
  cost::Machine machine = machineOf("h100", 8);
  machine.device.memoryBandwidth *= 1e6;
  machine.device.launchSeconds = 0;
  cost::Calibration calibration = cost::Calibration::builtin();
  Workload w = builtin("llama-3-8b");
  auto layer = [&](const char *pins) {
    return blockCost(machine, w, layoutOf(pins), {BlockPart::Layer}, calibration);
  };
  auto full = [](const BlockCost &b) { return b.again[static_cast<int>(Recompute::Full)]; };
  BlockCost whole = layer("micro-batch=4,recipe.cuda-graphs=on");
  BlockCost early = layer("micro-batch=4,recipe.cuda-graphs=on,recipe.stops-recomputing=on");
  EXPECT_DOUBLE_EQ(full(whole), whole.forward.total());
  double h = 4096, f = 14336, products = 2 * h + 2 * 1024 + 3 * f;
  EXPECT_NEAR((full(whole) - full(early)) / whole.forward.matmul, f / products, 0.03);
  double oneSum = layer("tp=8,recipe.cuda-graphs=on").forward.tensor / 4;
  BlockCost wide = layer("tp=8,recipe.cuda-graphs=on,recipe.stops-recomputing=on");
  EXPECT_GT(wide.forward.total() - full(wide), oneSum);
}

// Of one rank's gradients `overlap` of their time is hidden, or `overlap-contiguous` where they lie
// in buffers that are reduced in place; ZeRO-3 has no such buffers.
TEST(StepCost, ContiguousBucketsHideMore) {
  cost::Machine machine = machineOf("h100", 64);
  cost::Calibration calibration = cost::Calibration::builtin();
  calibration.constants["overlap"].value = 0.2;
  calibration.constants["overlap-contiguous"].value = 0.6;
  Workload w = builtin("llama-3-8b");
  BlockCache cache(w, calibration);
  auto tail = [&](const char *pins) {
    StepCost s = stepCost(cache, machine, layoutOf(pins));
    return std::pair(s.tails[0].gradientSeconds,
                     s.tails[0].hiddenGradients + s.tails[0].hiddenParameters);
  };
  const char *plain = "tp=2,dp=32,global-batch=64,micro-batch=2,zero=1";
  auto [all, hidden] = tail(plain);
  auto [same, more] = tail((std::string(plain) + ",recipe.contiguous-buckets=on").c_str());
  EXPECT_DOUBLE_EQ(all, same);
  EXPECT_NEAR(hidden / all, 0.2, 1e-9);
  EXPECT_NEAR(more / all, 0.6, 1e-9);
}

// MFU by hand: 72 B s l h^2 (1 + s/6h + V/12lh) over seconds, ranks and 312 TFLOP/s.
TEST(StepCost, ModelFlopUtilisation) {
  Workload w = builtin("gpt-3-175b");
  StepCost s = stepCost(machineOf("a100-80gb", 64), w, layoutOf("tp=8,pp=8,global-batch=64"));
  double h = 12288, l = 96, q = 2048, V = 51200;
  double flops = 64 * 72 * q * l * h * h * (1 + q / (6 * h) + V / (12 * l * h));
  EXPECT_NEAR(s.mfu, flops / (s.seconds * 64 * 312e12), 1e-9);
}

TEST(StepCost, PartsSumToTheStep) {
  StepCost s = stepCost(machineOf("h100", 64), builtin("mixtral-8x7b"),
                        layoutOf("tp=2,ep=4,pp=4,dp=8,global-batch=256,zero=1"));
  EXPECT_NEAR(s.offloadSeconds, 0, 1e-9 * s.seconds); // nothing is left over
  double sum =
      s.parts.total() + s.bubbleSeconds + s.gatherSeconds + s.gradientExposed + s.updateSeconds;
  EXPECT_NEAR(sum / s.seconds, 1, 1e-9);
  // What passes of DualPipe save beside each other is the only part below nothing.
  s = stepCost(machineOf("h100", 64), builtin("mixtral-8x7b"),
               layoutOf("tp=2,ep=4,pp=4,dp=8,global-batch=256,zero=1,schedule=dualpipe"));
  EXPECT_LT(s.offloadSeconds, -0.001 * s.seconds);
  sum = s.parts.total() + s.bubbleSeconds + s.gatherSeconds + s.gradientExposed + s.updateSeconds;
  EXPECT_NEAR((sum + s.offloadSeconds) / s.seconds, 1, 1e-9);
}

/// Work of a pipeline rank by hand: its chunks' seconds of all micro-batches and its tail.
double workOf(const StepCost &s, const Layout &l, int rank) {
  const RankTail &tail = s.tails[static_cast<size_t>(rank)];
  double work = tail.exposed() + tail.updateSeconds;
  for (const ChunkCost &c : s.chunks)
    if (c.rank == rank)
      work += static_cast<double>(l.microBatches()) *
              (c.seconds.forward + c.seconds.backwardInput + c.seconds.backwardWeight);
  return work;
}

// Gemma 2 has 256,000 words: the last stage of eight, with as many layers as the others, works most
// and stage 0 ends last. While the last stage never waits, 1F1B takes
// sum of the others' F + m (F + I + W) of the last + sum of the others' (I + W) + 2 (p - 1) sends.
TEST(StepCost, TheBusiestRankIsTheOneWithTheMostWork) {
  Layout l = layoutOf("pp=8,global-batch=512");
  StepCost s = stepCost(machineOf("h100", 8), builtin("gemma-2-9b"), l);
  double mean = 0, span = 14 * s.sendSeconds;
  for (int r = 0; r < 8; ++r) {
    EXPECT_NEAR(s.workSeconds[static_cast<size_t>(r)] / workOf(s, l, r), 1, 1e-9) << r;
    EXPECT_LE(workOf(s, l, r), workOf(s, l, 7));
    mean += workOf(s, l, r) / 8;
    const solvers::StageSeconds &c = s.chunks[static_cast<size_t>(r)].seconds;
    span += (r < 7 ? 1 : 512) * (c.forward + c.backwardInput + c.backwardWeight);
  }
  const RankTail &first = s.tails.front();
  span += first.exposed() + first.updateSeconds; // stage 0 ends last
  EXPECT_EQ(s.busiest, 7);
  EXPECT_NEAR(s.seconds / span, 1, 1e-9);
  double waited =
      512 * s.sendSeconds / 9; // a tenth of a send beside compute, of each backward pass
  EXPECT_NEAR(s.bubbleSeconds / (span - workOf(s, l, 7) + waited), 1, 1e-6);
  EXPECT_NEAR(s.bubbleShare, 1 - mean / span, 1e-9);
}

// DeepSeek-V3's first stage is dense: what experts cost shows on a rank that has some.
TEST(StepCost, TheBusiestRankOfAMixtureHasExperts) {
  StepCost s = stepCost(machineOf("h800", 2048), builtin("deepseek-v3"),
                        layoutOf("pp=16,ep=64,dp=128,global-batch=15360"));
  EXPECT_GT(s.parts.expert, 0);
}

} // namespace
