// The layout search against brute force, pins, explanations, exports; published layouts.
#include "gpucc/Planner/LayoutSearch.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <tuple>

using namespace gpucc;
using namespace gpucc::planner;
using namespace gpucc::workload;

namespace {

SearchProblem problemOf(const std::string &workload, const std::string &machine, int gpus,
                        int64_t batch, const std::string &pins = "") {
  SearchProblem p;
  p.workload = std::get<Workload>(loadWorkload(workload));
  p.machine = std::get<cost::Machine>(cost::loadMachine(machine, gpus));
  p.ranks = gpus;
  p.base.globalBatch = batch;
  std::vector<std::string> keys;
  EXPECT_EQ(applyPins(pins, p.base, keys), "");
  p.pinned.insert(keys.begin(), keys.end());
  return p;
}

struct BestOfAll {
  double seconds = 1e300;
  Layout layout;
  int64_t fits = 0, all = 0;
};

BestOfAll bruteForce(const SearchProblem &p) {
  BestOfAll best;
  simulate::BlockCache cache(p.workload, cost::Calibration::builtin());
  for (const Layout &l : allLayouts(p)) {
    ++best.all;
    simulate::StepOptions memory;
    memory.memoryOnly = true;
    simulate::StepCost cost = simulate::stepCost(cache, p.machine, l, memory);
    if (cost.fullestMemory().total() > p.memoryShare * cost.memoryLimit)
      continue;
    ++best.fits;
    double seconds = simulate::stepCost(cache, p.machine, l).seconds;
    if (seconds < best.seconds) {
      best.seconds = seconds;
      best.layout = l;
    }
  }
  return best;
}

// Sixteen GPUs, three workloads, two machines: every layout of the space against the search.
TEST(LayoutSearch, EqualsBruteForceOnSixteenGpus) {
  for (const char *machine : {"a100-80gb", "h100"})
    for (auto [workload, batch] : {std::pair<const char *, int64_t>{"gpt-2-xl", 32},
                                   {"llama-2-7b", 16},
                                   {"mixtral-8x7b", 16}}) {
      SearchProblem p = problemOf(workload, machine, 16, batch);
      p.workload.layers = std::min<int64_t>(p.workload.layers, 8); // so that all can be tried
      SearchOptions options;
      options.explain = false;
      SearchResult found = searchLayouts(p, options);
      BestOfAll all = bruteForce(p);
      ASSERT_EQ(found.error, "") << workload << machine;
      EXPECT_TRUE(found.proved);
      EXPECT_GT(all.all, 1000);
      EXPECT_NEAR(found.best.cost.seconds, all.seconds, 1e-12 * all.seconds)
          << workload << ' ' << machine << "\nsearch " << found.best.layout.line() << "\nall    "
          << all.layout.line() << "\n"
          << all.fits << " of " << all.all << " fit";
    }
}

// More small spaces: what the stacks do and pinned schedules, which also meshes without a pipeline
// pass (DualPipe of one rank).
TEST(LayoutSearch, EqualsBruteForceWithRecipesAndPins) {
  struct Row {
    const char *workload, *machine, *pins;
    int gpus;
    int64_t batch;
  };
  for (Row row :
       {Row{"mixtral-8x7b", "h100", "schedule=interleaved,micro-batch=1,recipe.overlap-experts=on",
            8, 32},
        Row{"mixtral-8x7b", "h100", "schedule=dualpipe,micro-batch=1,recipe.overlap-experts=on", 8,
            48},
        Row{"llama-2-7b", "a100-40gb", "recipe.sends=waited,recipe.flash-attention=off,sp=on", 8,
            24},
        Row{"gpt-2-xl", "v100", "recipe.precision=f16,recipe.waited-launches=on,pp=2", 8, 24}}) {
    SearchProblem p = problemOf(row.workload, row.machine, row.gpus, row.batch, row.pins);
    p.workload.layers = 4;
    SearchOptions options;
    options.explain = false;
    options.keep = 1; // bounds decide what is opened
    SearchResult found = searchLayouts(p, options);
    BestOfAll all = bruteForce(p);
    ASSERT_EQ(found.error, "") << row.workload << ' ' << row.pins;
    EXPECT_TRUE(found.proved) << row.pins;
    EXPECT_GT(all.fits, 10) << row.pins;
    EXPECT_NEAR(found.best.cost.seconds, all.seconds, 1e-12 * all.seconds)
        << row.workload << ' ' << row.pins << "\nsearch " << found.best.layout.line() << "\nall    "
        << all.layout.line();
    // The bound of the search is one: with a bound above the optimum there is nothing to close.
    EXPECT_LE(found.lowerBound, all.seconds * (1 + 1e-9)) << row.pins;
  }
}

TEST(LayoutSearch, TheSameAnswerEveryTime) {
  SearchProblem p = problemOf("llama-3-8b", "h100", 32, 64);
  SearchResult a = searchLayouts(p), b = searchLayouts(p);
  EXPECT_EQ(explainJson(p, a), explainJson(p, b));
}

TEST(LayoutSearch, AMixedMachineGivesTheFastGroupMoreLayers) {
  cost::Machine mixed = std::get<cost::Machine>(cost::loadMachine("a100-80gb", 32));
  cost::Machine v100 = std::get<cost::Machine>(cost::loadMachine("v100", 32));
  mixed.moreNodes.push_back(v100.groups().front());
  ASSERT_TRUE(mixed.mixed());
  SearchProblem p = problemOf("gpt-7.5b", "a100-80gb", 32, 256, "recipe.precision=f16");
  p.machine = mixed;
  p.ranks = 64;
  SearchResult r = searchLayouts(p);
  ASSERT_EQ(r.error, "");
  const Layout &best = r.best.layout;
  ASSERT_GT(best.pp, 1) << best.line();
  ASSERT_EQ(best.stageLayers.size(), static_cast<size_t>(best.pp));
  EXPECT_GT(best.stageLayers.front(), best.stageLayers.back()) << best.dump();
  EXPECT_EQ(checkLayout(p.workload, best, 64), "");
}

// Nodes that would slow the others are left out; the answer is never slower than that of a part.
TEST(LayoutSearch, SlowNodesAreLeftOutWhereTheyCostMoreThanTheyBring) {
  SearchOptions options;
  options.explain = false;
  bool left = false, used = false;
  for (const char *slow : {"t4", "v100", "a100-80gb"})
    for (const char *workload : {"llama-2-7b", "gpt-22b"}) {
      SearchProblem p = problemOf(workload, "h100", 32, 256, "recipe.precision=f16");
      SearchProblem fast = p;
      p.machine.moreNodes.push_back(
          std::get<cost::Machine>(cost::loadMachine(slow, 16)).groups().front());
      p.ranks = 0;
      int64_t all = p.numRanks();
      SearchResult alone = searchLayouts(fast, options), both = searchLayouts(p, options);
      SearchResult r = searchNodeKinds(p, options);
      ASSERT_EQ(r.error, "") << slow << ' ' << workload;
      ASSERT_EQ(r.nodes.size(), 3u);
      EXPECT_DOUBLE_EQ(r.best.cost.seconds,
                       std::min(alone.best.cost.seconds, both.best.cost.seconds))
          << slow << ' ' << workload;
      EXPECT_EQ(p.numRanks(), r.best.layout.ranks());
      EXPECT_EQ(p.machine.numDevices(), p.numRanks());
      left |= p.numRanks() == 32;
      used |= p.numRanks() == all;
    }
  EXPECT_TRUE(left && used);
}

// Of five kinds not every choice is tried: the answer is not called proved.
TEST(LayoutSearch, WhatWasNotTriedIsNotProved) {
  SearchProblem p = problemOf("llama-2-7b", "h100", 8, 240, "tp=1,pp=1,recipe.precision=f16");
  for (const char *other : {"a100-80gb", "v100", "l4", "b200"})
    p.machine.moreNodes.push_back(
        std::get<cost::Machine>(cost::loadMachine(other, 8)).groups().front());
  p.ranks = 0;
  SearchOptions options;
  options.explain = false;
  SearchResult r = searchNodeKinds(p, options);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.nodes.size(), 5u);
  EXPECT_FALSE(r.proved);
  EXPECT_FALSE(r.exhausted);
  EXPECT_GT(r.gap, 0);
  EXPECT_LT(r.lowerBound, r.best.cost.seconds);
}

// Context instead of data parallelism with as much larger micro-batches is the same work with more
// traffic: no alternative beside the layout that it comes from.
TEST(LayoutSearch, AlternativesAreNotTheSameWorkWithMoreTraffic) {
  SearchProblem p = problemOf("llama-3-70b", "h100", 64, 256);
  SearchOptions options;
  options.explain = false;
  SearchResult r = searchLayouts(p, options);
  ASSERT_EQ(r.error, "");
  ASSERT_GE(r.next.size(), 5u);
  std::vector<const Choice *> all = {&r.best};
  for (const Choice &c : r.next)
    all.push_back(&c);
  for (const Choice *a : all)
    for (const Choice *b : all) {
      const Layout &x = a->layout, &y = b->layout;
      bool twin = x.tp == y.tp && x.pp == y.pp && y.cp == 2 * x.cp && x.dp == 2 * y.dp &&
                  y.microBatch == 2 * x.microBatch;
      EXPECT_FALSE(twin && a->cost.seconds <= b->cost.seconds &&
                   a->cost.fullestMemory().total() <= b->cost.fullestMemory().total())
          << x.line() << " and " << y.line();
    }
}

TEST(LayoutSearch, PinsAreKept) {
  SearchProblem p = problemOf("llama-3-8b", "h100", 64, 128, "tp=4,pp=2,zero=1,micro-batch=2");
  SearchResult r = searchLayouts(p);
  ASSERT_EQ(r.error, "");
  for (const Choice &c : {r.best}) {
    EXPECT_EQ(c.layout.tp, 4);
    EXPECT_EQ(c.layout.pp, 2);
    EXPECT_EQ(c.layout.zeroStage, 1);
    EXPECT_EQ(c.layout.microBatch, 2);
    EXPECT_EQ(c.layout.dp, 8);
  }
}

// A stack's answer is one that the stack runs, never faster than the free one; the price of a step
// is that of its GPUs.
TEST(LayoutSearch, StacksLimitTheSpace) {
  SearchProblem p = problemOf("llama-3-70b", "h100", 64, 128);
  p.machine.pricePerHour = 3;
  SearchOptions options;
  options.explain = false;
  SearchResult free = searchLayouts(p, options);
  for (const char *name :
       {"megatron", "megatron-2024", "megatron-2022", "torchtitan", "hai-llm", "meta-2024"}) {
    const Stack *stack = findStack(name);
    ASSERT_NE(stack, nullptr);
    p.accept = stack->accept;
    SearchResult limited = searchLayouts(p, options);
    ASSERT_EQ(limited.error, "") << name;
    EXPECT_TRUE(stack->accept(p.workload, limited.best.layout)) << limited.best.layout.line();
    for (const Choice &c : limited.next)
      EXPECT_TRUE(stack->accept(p.workload, c.layout)) << c.layout.line();
    EXPECT_GE(limited.best.cost.seconds, free.best.cost.seconds * (1 - 1e-9));
  }
  EXPECT_EQ(findStack("caffe"), nullptr);
  Price price = priceOf(p, free.best);
  EXPECT_NEAR(price.step, 64 * 3 * free.best.cost.seconds / 3600, 1e-9);
  EXPECT_NEAR(price.millionTokens, price.step / (128 * 8192) * 1e6, 1e-9);
}

// Alternatives come in groups within a per cent of their fastest; inside a group with rising
// numbers of parallelisms, then of micro-batches.
TEST(LayoutSearch, NearTiesAreOrderedBySimplicity) {
  SearchOptions options;
  options.explain = false;
  options.keep = 30;
  SearchResult r = searchLayouts(problemOf("mixtral-8x7b", "h100", 64, 256), options);
  ASSERT_GT(r.next.size(), 20u);
  auto rank = [](const Choice &c) {
    const Layout &l = c.layout;
    return std::tuple((l.tp > 1) + (l.cp > 1) + (l.ep > 1) + (l.pp > 1), l.microBatch);
  };
  std::vector<double> times;
  for (const Choice &c : r.next)
    times.push_back(c.cost.seconds);
  std::sort(times.begin(), times.end());
  size_t ties = 0, at = 0;
  while (at < times.size()) {
    size_t end = at;
    while (end < times.size() && times[end] <= 1.01 * times[at])
      ++end;
    for (size_t k = at; k < end; ++k) {
      EXPECT_GE(r.next[k].cost.seconds, times[at]);
      EXPECT_LE(r.next[k].cost.seconds, times[end - 1]);
      if (k > at)
        EXPECT_LE(rank(r.next[k - 1]), rank(r.next[k])) << r.next[k].layout.line();
    }
    ties += end - at - 1;
    at = end;
  }
  EXPECT_GT(ties, 5u);
}

// Gemma 2 has 256,000 words: on eight stages the last one gets fewer layers; small models with
// small vocabularies keep equal stages; a stack that runs equal stages only gets those.
TEST(LayoutSearch, LayersMoveAwayFromHeavyLogits) {
  SearchOptions options;
  options.explain = false;
  SearchProblem p = problemOf("gemma-2-9b", "h100", 8, 512, "pp=8,schedule=1f1b,micro-batch=1");
  SearchResult r = searchLayouts(p, options);
  ASSERT_EQ(r.error, "");
  const std::vector<int64_t> &stages = r.best.layout.stageLayers;
  ASSERT_EQ(stages.size(), 8u);
  EXPECT_EQ(std::accumulate(stages.begin(), stages.end(), int64_t(0)), 42);
  EXPECT_LT(stages.back(), stages[1]);
  Layout equal = r.best.layout;
  equal.stageLayers.clear();
  EXPECT_LT(r.best.cost.seconds, 0.95 * simulate::stepCost(p.machine, p.workload, equal).seconds);
  p.accept = findStack("megatron-2022")->accept;
  EXPECT_TRUE(searchLayouts(p, options).best.layout.stageLayers.empty());
  SearchProblem small =
      problemOf("llama-2-70b", "h100", 8, 512, "pp=8,schedule=1f1b,micro-batch=1");
  EXPECT_TRUE(searchLayouts(small, options).best.layout.stageLayers.empty());
}

TEST(LayoutSearch, WhatCannotBeIsExplained) {
  SearchProblem p = problemOf("llama-3-8b", "h100", 64, 128, "tp=5");
  EXPECT_NE(searchLayouts(p).error.find("tp: found 5"), std::string::npos)
      << searchLayouts(p).error;
  SearchProblem big = problemOf("llama-3-405b", "v100", 8, 8, "recipe.precision=f16");
  EXPECT_NE(searchLayouts(big).error.find("nothing fits: the leanest layout"), std::string::npos);
}

TEST(LayoutSearch, PopularLayoutsHaveAVerdictAndAChange) {
  SearchProblem p = problemOf("llama-3-8b", "h100", 64, 128);
  SearchResult r = searchLayouts(p);
  ASSERT_GE(r.popular.size(), 6u);
  bool crosses = false;
  for (const Popular &popular : r.popular) {
    EXPECT_FALSE(popular.verdict.empty()) << popular.name;
    EXPECT_FALSE(popular.change.empty()) << popular.name;
    if (popular.possible)
      EXPECT_GE(popular.choice.cost.seconds, r.best.cost.seconds * (1 - 1e-9)) << popular.name;
    crosses |= popular.verdict.find("tp 16 crosses nodes") != std::string::npos;
  }
  EXPECT_TRUE(crosses);
  EXPECT_NE(explainText(p, r).find("why not"), std::string::npos);
}

// Laws of the cost model under search (anchors): more memory never gives a slower best plan, a
// faster network neither.
TEST(LayoutSearch, MoreMemoryAndNetworkNeverHurt) {
  SearchProblem p = problemOf("llama-2-13b", "a100-40gb", 32, 64);
  SearchOptions options;
  options.explain = false;
  double before = searchLayouts(p, options).best.cost.seconds;
  SearchProblem roomy = p;
  roomy.machine.device.memoryBytes *= 2;
  EXPECT_LE(searchLayouts(roomy, options).best.cost.seconds, before * (1 + 1e-9));
  SearchProblem wired = p;
  wired.machine.inter.bandwidth *= 4;
  EXPECT_LE(searchLayouts(wired, options).best.cost.seconds, before * (1 + 1e-9));
}

/// What fits in less memory fits in more: a short search may not answer worse for it.
TEST(LayoutSearch, MoreMemoryDoesNotHideLeanLayouts) {
  SearchProblem p = problemOf("llama-3-70b", "h100", 64, 128);
  SearchOptions quick;
  quick.budget /= 20;
  quick.explain = false;
  double before = 1e300;
  for (double gib : {80, 96, 120, 141, 160, 200, 240, 288}) {
    p.machine.device.memoryBytes = gib * 1073741824;
    double now = searchLayouts(p, quick).best.cost.seconds;
    EXPECT_LE(now, before * (1 + 1e-9)) << gib;
    before = now;
  }
}

TEST(LayoutSearch, ExportsSpellTheLayout) {
  Workload w = std::get<Workload>(loadWorkload("gpt-3-175b"));
  Layout l;
  std::vector<std::string> keys;
  ASSERT_EQ(
      applyPins("tp=8,pp=8,dp=2,schedule=interleaved,virtual-stages=3,global-batch=128,zero=1,"
                "recompute=full,recompute-layers=4",
                l, keys),
      "");
  std::string megatron = megatronArguments(w, l);
  for (const char *argument :
       {"--tensor-model-parallel-size 8\n", "--pipeline-model-parallel-size 8\n",
        "--num-layers-per-virtual-pipeline-stage 4\n", "--micro-batch-size 1\n",
        "--global-batch-size 128\n", "--use-distributed-optimizer\n", "--sequence-parallel\n",
        "--recompute-granularity full\n", "--recompute-method block\n",
        "--recompute-num-layers 2\n", "--num-layers 96\n"})
    EXPECT_NE(megatron.find(argument), std::string::npos) << argument << megatron;
  std::string titan = torchtitanSettings(w, l);
  for (const char *line : {"tensor_parallel_degree = 8\n", "pipeline_parallel_degree = 8\n",
                           "pipeline_parallel_schedule = \"Interleaved1F1B\"\n"})
    EXPECT_NE(titan.find(line), std::string::npos) << line << titan;
}

// Megatron-Core's block method counts layers of a chunk (TransformerBlock), gpucc those of a rank;
// its parameters overlap if the recipe's do; context ranks share gradients like data ranks.
TEST(LayoutSearch, ExportsSpellChunksAndOverlap) {
  Workload w = std::get<Workload>(loadWorkload("gpt-3-175b"));
  auto megatron = [&](const std::string &more) {
    Layout l;
    std::vector<std::string> keys;
    EXPECT_EQ(applyPins("tp=8,pp=8,zero=1,global-batch=128," + more, l, keys), "");
    return megatronArguments(w, l);
  };
  auto has = [](const std::string &all, const char *flag) {
    return all.find(flag) != std::string::npos;
  };
  std::string chunks = "schedule=interleaved,virtual-stages=3,recompute=full,recompute-layers=";
  EXPECT_TRUE(has(megatron(chunks + "4"), "--recompute-num-layers 2\n"));
  EXPECT_TRUE(has(megatron(chunks + "3"), "--recompute-num-layers 1\n"));
  EXPECT_TRUE(has(megatron("dp=2"), "--overlap-param-gather"));
  EXPECT_FALSE(has(megatron("dp=2,recipe.overlap-parameters=off"), "--overlap-param-gather"));
  EXPECT_TRUE(has(megatron("cp=2"), "--overlap-grad-reduce"));
  std::string sends = "dp=2,schedule=interleaved,virtual-stages=3,recipe.sends=";
  EXPECT_TRUE(has(megatron(sends + "waited"), "--no-overlap-p2p-communication"));
  EXPECT_FALSE(has(megatron(sends + "beside-interleaved"), "--no-overlap-p2p-communication"));
}

// Arguments by hand, from the models' published configurations and Megatron-LM's arguments.py.
TEST(LayoutSearch, ExportsSpellTheModel) {
  struct Row {
    const char *name;
    std::vector<const char *> has, lacks;
  };
  const char *noBias = "--disable-bias-linear\n", *swiglu = "--swiglu\n",
             *window = "--window-size", *quick = "--quick-geglu\n";
  for (const Row &row :
       {Row{"gpt-3-175b", {}, {noBias, swiglu, window, "--add-qkv-bias", "dropout"}},
        Row{"llama-3-8b",
            {noBias, swiglu, "--attention-dropout 0.0\n", "--hidden-dropout 0.0\n"},
            {window, "--add-qkv-bias", "--qk-layernorm", "biases:"}},
        Row{"qwen2.5-7b", {noBias, swiglu, "--add-qkv-bias\n"}, {"--qk-layernorm"}},
        Row{"qwen3-30b-a3b", {noBias, swiglu, "--qk-layernorm\n"}, {"--moe-layer-freq"}},
        Row{"mistral-7b", {swiglu, "--window-size 4095,0\n"}, {"--window-attn-skip-freq"}},
        Row{"gemma-2-9b",
            {quick, "# activation: gated GELU", "# norms: 4 per layer", "--window-size 4095,0\n",
             "--window-attn-skip-freq 2\n"},
            {swiglu}},
        Row{"gpt-oss-20b",
            {quick, "--glu-linear-offset 1.0\n", "--softmax-type learnable\n",
             "--window-size 127,0\n", "--window-attn-skip-freq 2\n", "# biases: of attention only"},
            {noBias, swiglu, "--add-qkv-bias"}},
        Row{"deepseek-v3",
            {noBias, swiglu, "--moe-layer-freq ([0]*3+[1]*58)\n", "--mtp-num-layers 1\n",
             "--qk-layernorm\n", "--moe-router-enable-expert-bias\n",
             "--moe-router-num-groups 8\n--moe-router-group-topk 4\n"},
            {window}},
        Row{"bloom-176b", {"# positions are ALiBi", "# a norm follows the embedding"}, {noBias}}}) {
    Workload w = std::get<Workload>(loadWorkload(row.name));
    std::string text = megatronArguments(w, {});
    for (const char *argument : row.has)
      EXPECT_NE(text.find(argument), std::string::npos) << row.name << " " << argument << text;
    for (const char *argument : row.lacks)
      EXPECT_EQ(text.find(argument), std::string::npos) << row.name << " " << argument << text;
  }
}

// A comment about modules names those of the argument; further tokens are not the decoder's layers.
TEST(LayoutSearch, ExportsOfRecomputationAndPrediction) {
  Layout l;
  l.recompute = Recompute::Cheap;
  for (auto [name, modules] : {std::pair{"llama-3-8b", "layernorm mlp"},
                               {"mixtral-8x7b", "layernorm moe_act"},
                               {"deepseek-v3", "layernorm moe_act mla_up_proj mlp"}}) {
    std::string text = megatronArguments(std::get<Workload>(loadWorkload(name)), l);
    EXPECT_NE(text.find("--recompute-modules " + std::string(modules) + "\n"), std::string::npos)
        << text;
    bool mlp = std::string(modules).find("mlp") != std::string::npos;
    EXPECT_EQ(text.find("the module mlp") != std::string::npos, mlp) << text;
  }
  // Uneven chunks as one argument.
  Layout uneven = l;
  uneven.pp = 2;
  uneven.schedule = solvers::ScheduleKind::Interleaved;
  uneven.virtualStages = 2;
  uneven.stageLayers = {32, 30};
  std::string chunks = megatronArguments(std::get<Workload>(loadWorkload("deepseek-v3")), uneven);
  EXPECT_NE(chunks.find("--pipeline-model-parallel-layout Et*16|t*16|t*16|t*13mL\n"),
            std::string::npos)
      << chunks;
  // 62 layers on 16 stages: 3, 14 times 4, and 3 of which one predicts: 2 of the decoder's 61.
  l.pp = 16;
  std::string text = megatronArguments(std::get<Workload>(loadWorkload("deepseek-v3")), l);
  EXPECT_NE(text.find("--decoder-first-pipeline-num-layers 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("--decoder-last-pipeline-num-layers 2\n"), std::string::npos) << text;
}

TEST(LayoutSearch, TorchtitanHasFlavorsAndComments) {
  auto settings = [](const char *name, Layout l) {
    return torchtitanSettings(std::get<Workload>(loadWorkload(name)), l);
  };
  Layout l;
  l.recipe.precision = Precision::F8;
  l.offloadOptimizer = 1;
  std::string v3 = settings("deepseek-v3", l), gemma = settings("gemma-2-9b", {});
  for (const char *line :
       {"name = \"deepseek_v3\"\nflavor = \"671B\"\n", "# layers that predict further tokens",
        "converters = [\"quantize.linear.float8\"]\n", "enable_cpu_offload = true\n"})
    EXPECT_NE(v3.find(line), std::string::npos) << line << v3;
  EXPECT_EQ(v3.find("[training]"), v3.rfind("[training]")) << v3; // a table stands once in TOML
  EXPECT_NE(gemma.find("# torchtitan has no flavor of gemma-2-9b"), std::string::npos) << gemma;
  EXPECT_NE(gemma.find("#   name: gemma-2-9b"), std::string::npos) << gemma;
  l.recipe.precision = Precision::F16;
  EXPECT_NE(settings("llama-3-8b", l).find("# precision f16"), std::string::npos);
}

TEST(LayoutSearch, DiffNamesTheKeysAndTheCost) {
  SearchProblem p = problemOf("llama-3-8b", "h100", 64, 128);
  Layout a, b;
  std::vector<std::string> keys, others;
  ASSERT_EQ(applyPins("dp=64,global-batch=128,zero=1", a, keys), "");
  ASSERT_EQ(applyPins("tp=2,dp=32,global-batch=128,zero=1", b, others), "");
  std::string text = diffLayouts(p, a, b);
  EXPECT_NE(text.find("tp "), std::string::npos);
  EXPECT_NE(text.find("step, seconds"), std::string::npos);
  EXPECT_EQ(diffLayouts(p, a, a), "the layouts are equal\n");
}

} // namespace
