// Layouts: groups of ranks, stages, files, pins, and the rule that an impossible one breaks.
#include "gpucc/Workload/Layout.h"
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace gpucc;
using namespace gpucc::workload;

namespace {

Workload builtin(const std::string &name) { return std::get<Workload>(loadWorkload(name)); }

TEST(Layout, GroupsFollowTheOrderOfRanks) {
  Layout l;
  l.tp = 4;
  l.cp = 2;
  l.dp = 8;
  l.pp = 3;
  l.ep = 16;
  EXPECT_EQ(l.ranks(), 192);
  EXPECT_EQ(groupOf(l, Axis::Tensor), (cost::RankGroup{4, 1}));
  EXPECT_EQ(groupOf(l, Axis::Context), (cost::RankGroup{2, 4}));
  EXPECT_EQ(groupOf(l, Axis::Data), (cost::RankGroup{8, 8}));
  EXPECT_EQ(groupOf(l, Axis::Gradient), (cost::RankGroup{16, 4}));
  EXPECT_EQ(groupOf(l, Axis::Pipeline), (cost::RankGroup{3, 64}));
  EXPECT_EQ(groupOf(l, Axis::Expert), (cost::RankGroup{16, 1}));
  EXPECT_EQ(groupOf(l, Axis::ExpertData), (cost::RankGroup{4, 16}));
}

TEST(Layout, UnevenStagesSpareTheFirst) {
  Workload w = builtin("llama-3-405b"); // 126 layers
  Layout l;
  l.pp = 16;
  std::vector<int64_t> stages = layersOfStages(w, l);
  EXPECT_EQ(std::accumulate(stages.begin(), stages.end(), int64_t(0)), 126);
  EXPECT_EQ(stages.front(), 7);
  EXPECT_EQ(stages[1], 8);
}

TEST(Layout, FilesRoundTrip) {
  Layout l;
  l.tp = 8;
  l.pp = 4;
  l.schedule = solvers::ScheduleKind::Interleaved;
  l.virtualStages = 3;
  l.recompute = Recompute::Full;
  l.recomputeLayers = 2;
  l.stageLayers = {7, 8, 8, 9};
  l.offloadOptimizer = 0.5;
  l.sequenceParallel = false;
  l.recipe.precision = Precision::F8;
  LayoutOrError again = parseLayout(l.dump(), "dump");
  ASSERT_TRUE(std::holds_alternative<Layout>(again)) << std::get<std::string>(again);
  EXPECT_EQ(std::get<Layout>(again), l);
  EXPECT_EQ(std::get<Layout>(parseLayout(Layout().dump(), "d")), Layout());
}

TEST(Layout, AKeyIsPinnedOnce) {
  Layout l;
  std::vector<std::string> keys;
  EXPECT_NE(applyPins("tp=4,pp=2,tp=2", l, keys).find("tp: found the key twice"),
            std::string::npos);
  keys.clear();
  EXPECT_EQ(applyPins("tp=4", l, keys), "");
  EXPECT_NE(applyPins("tp=2", l, keys), ""); // a second --pin
  EXPECT_NE(applyPins("micro-batches=4", l, keys).find("gpucc compile"), std::string::npos);
}

// What a refusal names as the nearest that works must be accepted when it is applied.
TEST(Layout, SuggestionsAreAccepted) {
  int refused = 0;
  for (const char *name : {"llama-3-8b", "gpt-3-175b", "mixtral-8x7b", "deepseek-v3"}) {
    Workload w = builtin(name);
    for (int64_t ranks : {8, 24, 64, 256})
      for (const char *pins :
           {"tp=16", "tp=3", "tp=7,pp=2", "pp=34", "pp=500", "cp=3", "dp=1000000", "ep=3,dp=8",
            "tp=8,ep=5", "micro-batch=7,global-batch=5",
            "pp=4,schedule=interleaved,virtual-stages=9", "pp=4,schedule=dualpipe,global-batch=4",
            "tp=4,sp=off,ep=2", "zero=1,zero-group=5", "tp=1048576,cp=1048576"}) {
        Layout l;
        std::vector<std::string> keys;
        ASSERT_EQ(applyPins(pins, l, keys), "") << pins;
        std::string problem = explainLayout(w, l, ranks);
        if (problem.empty())
          continue;
        ++refused;
        size_t at = problem.find("nearest that works is ");
        ASSERT_NE(at, std::string::npos) << problem;
        std::vector<std::string> again;
        ASSERT_EQ(applyPins(problem.substr(at + 22), l, again), "") << problem;
        EXPECT_EQ(again.size(), std::set<std::string>(again.begin(), again.end()).size());
        EXPECT_EQ(checkLayout(w, l, ranks), "") << name << " " << ranks << ": " << problem;
      }
  }
  EXPECT_GT(refused, 150);
}

// Too many virtual stages: as many as there are layers for, and nothing else changes.
TEST(Layout, SuggestionsKeepWhatTheyCan) {
  Layout l;
  std::vector<std::string> keys;
  ASSERT_EQ(applyPins("pp=16,virtual-stages=4,schedule=interleaved,global-batch=16", l, keys), "");
  std::string problem = explainLayout(builtin("llama-3-8b"), l, 16);
  EXPECT_EQ(problem.substr(problem.find("nearest")), "nearest that works is virtual-stages=2");
  l.pp = 12; // 34 chunks are two for each of 12 ranks, but 16 micro-batches are no multiple of 12
  problem = explainLayout(builtin("llama-3-8b"), l, 12);
  EXPECT_EQ(problem.substr(problem.find("nearest")),
            "nearest that works is virtual-stages=2,global-batch=24");
}

TEST(Layout, PinsSetKeys) {
  Layout l;
  std::vector<std::string> keys;
  EXPECT_EQ(applyPins("tp=8,schedule=zb-v,sp=off", l, keys), "");
  EXPECT_EQ(l.tp, 8);
  EXPECT_EQ(l.schedule, solvers::ScheduleKind::ZbV);
  EXPECT_FALSE(l.sequenceParallel);
  EXPECT_EQ(keys, (std::vector<std::string>{"tp", "schedule", "sp"}));
  EXPECT_NE(applyPins("tq=8", l, keys).find("did you mean tp?"), std::string::npos);
  EXPECT_NE(applyPins("tp", l, keys).find("key=value"), std::string::npos);
  EXPECT_NE(applyPins("zero=4", l, keys).find("from 0 to 3"), std::string::npos);
}

TEST(Layout, ImpossibleLayoutsNameTheRuleAndTheNearest) {
  Workload w = builtin("llama-3-8b");
  auto problem = [&](auto change) {
    Layout l;
    l.globalBatch = 64;
    change(l);
    return checkLayout(w, l);
  };
  EXPECT_EQ(problem([](Layout &) {}), "");
  EXPECT_EQ(problem([](Layout &l) { l.tp = 5; }),
            "tp: found 5, allowed a divisor of attention.heads = 32: a head is never split; the "
            "nearest that works is tp=4");
  EXPECT_NE(problem([](Layout &l) { l.dp = 3; }).find("global-batch=63"), std::string::npos);
  EXPECT_NE(problem([](Layout &l) { l.ep = 2; }).find("no experts"), std::string::npos);
  EXPECT_NE(problem([](Layout &l) {
              l.pp = 4;
              l.schedule = solvers::ScheduleKind::Interleaved;
            }).find("virtual-stages=2"),
            std::string::npos);
  EXPECT_NE(problem([](Layout &l) {
              l.pp = 4;
              l.globalBatch = 6;
              l.schedule = solvers::ScheduleKind::Interleaved;
              l.virtualStages = 2;
            }).find("micro-batches=8"),
            std::string::npos);
  EXPECT_NE(problem([](Layout &l) { l.pp = 64; }).find("nearest that works is pp=34"),
            std::string::npos);
  EXPECT_NE(problem([](Layout &l) { l.stageLayers = {31}; }).find("stage-layers"),
            std::string::npos);
  Workload moe = builtin("mixtral-8x7b");
  Layout l;
  l.globalBatch = 64;
  l.ep = 3;
  EXPECT_NE(checkLayout(moe, l).find("allowed a divisor of moe.experts = 8"), std::string::npos);
  l.ep = 1;
  l.tp = 2;
  l.sequenceParallel = false;
  EXPECT_NE(checkLayout(moe, l).find("sp=on"), std::string::npos);
  EXPECT_NE(checkLayout(moe, Layout(), 64).find("--gpus"), std::string::npos);
}

} // namespace
