// Planner: equal to enumeration of everything on a 2-layer model with 4 ranks, pins obeyed or
// refused with the rule, nothing that does not fit, known layouts found, JSON round trip.
#include "Enumerate.h"
#include "Models.h"
#include <gtest/gtest.h>

using namespace gpucc;
using namespace gpucc::planner;
using namespace gpucc::planner::test;

namespace {

/// Everything: the first case leaves mesh, stages and micro-batches free (630 thousand layouts).
TEST(Plan, EqualsEnumerationOnTwoLayersAndFourRanks) {
  struct Case {
    int64_t batch, width;
    const char *pins;
    bool exact; ///< also where not everything is looked at
  };
  // The elimination adds up costs of ops; a pipeline's step is no sum over its stages, so under one
  // it need not find the best (docs/limits.md), and few op choices are all looked at instead.
  for (Case c : {Case{4, 8192, "recompute=none,zero=0", true},
                 {8, 1024, "pp=2,tp=2,micro-batches=2,recompute=none", true},
                 {64, 4096, "pp=2,tp=2,micro-batches=4,recompute=none", false},
                 {4096, 2048, "micro-batches=4,zero=1,recompute=full", true}}) {
    PlanProblem problem = linearModel(2, c.batch, c.width);
    problem.ranks = 4;
    problem.pins = std::get<Pins>(parsePins(c.pins));
    PlanResult result = planLayout(problem);
    ASSERT_EQ(result.error, "");
    int64_t looked = 0;
    double best = enumerate(problem, looked);
    EXPECT_GT(looked, 60'000);
    EXPECT_NEAR(result.cost.seconds, best, 1e-12) << result.explain(problem);
    problem.lookAtAll = 0; // up to 2^18 op choices of a mesh are all looked at: now none are
    PlanResult pruned = planLayout(problem);
    EXPECT_LT(pruned.steps, looked / 10);
    EXPECT_GE(pruned.cost.seconds, best * (1 - 1e-9));
    if (c.exact) {
      EXPECT_NEAR(pruned.cost.seconds, best, 1e-12) << c.pins << pruned.explain(problem);
    }
  }
}

TEST(Plan, WideLayersAtASmallBatchPreferTensorParallelism) {
  PlanProblem problem = linearModel(2, 4, 16384);
  problem.ranks = 4;
  problem.pins.microBatches = 1;
  problem.pins.pp = 1;
  PlanResult result = planLayout(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.best.tp, 4) << result.explain(problem);
}

TEST(Plan, ManySamplesAndSmallWeightsPreferDataParallelism) {
  PlanProblem problem = linearModel(2, 65536, 1024);
  problem.ranks = 4;
  problem.pins.pp = 1;
  PlanResult result = planLayout(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.best.dp, 4) << result.explain(problem);
  // dW is partial over dp, the update reads it reduced.
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (problem.ops[op].name == "layer0.dw")
      EXPECT_EQ(result.ops[op].results[0].partial, (std::vector<std::string>{"dp"}));
}

TEST(Plan, PinsAreObeyed) {
  PlanProblem problem = gpt({2, 256, 4, 128, 1024, 16}, "h100-8");
  for (const char *text : {"dp=2,tp=2,pp=2,micro-batches=4", "tp=8", "dp=8,zero=1",
                           "pp=4,tp=2,schedule=gpipe", "dp=4,tp=2,sp=off,recompute=full"}) {
    problem.pins = std::get<Pins>(parsePins(text));
    PlanResult result = planLayout(problem);
    ASSERT_EQ(result.error, "") << text;
    for (const Considered &c : result.alternatives) {
      const Candidate &a = c.candidate;
      const Pins &pins = problem.pins;
      EXPECT_EQ(a.dp, pins.dp.value_or(a.dp)) << text;
      EXPECT_EQ(a.tp, pins.tp.value_or(a.tp)) << text;
      EXPECT_EQ(a.pp, pins.pp.value_or(a.pp)) << text;
      EXPECT_EQ(a.zero, pins.zero.value_or(a.zero)) << text;
      EXPECT_EQ(a.microBatches, pins.microBatches.value_or(a.microBatches)) << text;
      EXPECT_EQ(a.sp, pins.sp.value_or(a.sp)) << text;
      EXPECT_EQ(a.recompute, pins.recompute.value_or(a.recompute)) << text;
      EXPECT_EQ(a.schedule, pins.schedule.value_or(a.schedule)) << text;
    }
  }
}

TEST(Plan, PinsThatCannotBeAreRefusedWithTheRule) {
  PlanProblem problem = linearModel(2, 12, 256);
  auto refused = [&](const char *text) {
    problem.pins = std::get<Pins>(parsePins(text));
    return planLayout(problem).error;
  };
  EXPECT_NE(refused("dp=3").find("rule P1"), std::string::npos);
  EXPECT_NE(refused("dp=2,tp=2,pp=4").find("8 ranks"), std::string::npos);
  EXPECT_NE(refused("dp=8").find("rule P2"), std::string::npos);
  EXPECT_NE(refused("pp=8").find("rule P3"), std::string::npos);
  EXPECT_NE(refused("dp=2,tp=4,micro-batches=5").find("rule P4"), std::string::npos);
  problem.ranks = 16;
  EXPECT_NE(refused("").find("rule P0: found 16 ranks, allowed at most the 8"), std::string::npos);
  EXPECT_NE(std::get<std::string>(parsePins("zero=3")).find("allowed 0 or 1"), std::string::npos);
  EXPECT_NE(std::get<std::string>(parsePins("tp=two")).find("pin tp: found 'two'"),
            std::string::npos);
  EXPECT_NE(std::get<std::string>(parsePins("dq=2")).find("found key 'dq'"), std::string::npos);
}

TEST(Plan, WhatDoesNotFitIsNeverChosen) {
  PlanProblem problem = gpt({4, 1024, 16, 512, 8192, 32}, "a100-80gb-8");
  PlanResult free = planLayout(problem);
  ASSERT_EQ(free.error, "");
  for (double share : {0.9, 0.6, 0.4}) {
    problem.memoryLimit = problem.machine.device.contextBytes +
                          share * (free.cost.memory.total() - problem.machine.device.contextBytes);
    PlanResult tight = planLayout(problem);
    if (!tight.error.empty())
      continue;
    EXPECT_LE(tight.cost.memory.total(), problem.memoryLimit);
    EXPECT_GE(tight.cost.seconds, free.cost.seconds);
    for (const Considered &c : tight.alternatives)
      EXPECT_TRUE(c.cost.fits);
  }
  problem.memoryLimit = problem.machine.device.contextBytes + 1e6;
  std::string error = planLayout(problem).error;
  EXPECT_NE(error.find("no layout fits"), std::string::npos);
  EXPECT_NE(error.find("largest part"), std::string::npos);
}

TEST(Plan, ReasonsAreGivenForWellKnownLayouts) {
  PlanProblem problem = gpt({2, 512, 8, 256, 4096, 32}, "h100-8");
  PlanResult result = planLayout(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_GE(result.wellKnown.size(), 4u);
  for (const Considered &c : result.wellKnown)
    EXPECT_FALSE(c.reason.empty());
  std::string text = result.explain(problem);
  EXPECT_NE(text.find("tensor parallel: "), std::string::npos) << text;
}

TEST(Plan, SameProblemSameAnswerAlsoThroughJson) {
  PlanProblem problem = gpt({2, 256, 4, 128, 1024, 16}, "h100-8");
  problem.pins = std::get<Pins>(parsePins("tp=2"));
  auto again = problemFromJson(toJson(problem), "problem.json");
  ASSERT_TRUE(std::holds_alternative<PlanProblem>(again)) << std::get<std::string>(again);
  EXPECT_EQ(toJson(std::get<PlanProblem>(again)), toJson(problem));
  EXPECT_EQ(planLayout(std::get<PlanProblem>(again)).explain(problem),
            planLayout(problem).explain(problem));
  auto broken = problemFromJson("{\"version\": 1}", "problem.json");
  EXPECT_NE(std::get<std::string>(broken).find("problem.json"), std::string::npos);
}

/// Megatron's layout of an MLP block costs one all-reduce forward: column then row parallel.
TEST(Plan, TensorParallelBlocksAreColumnThenRow) {
  PlanProblem problem = gpt({1, 4096, 32, 2048, 512, 4}, "h100-8");
  problem.pins = std::get<Pins>(parsePins("tp=8,sp=off,micro-batches=1,recompute=none"));
  PlanResult result = planLayout(problem);
  ASSERT_EQ(result.error, "");
  auto stateOf = [&](const std::string &name) {
    for (size_t t = 0; t < problem.tensors.size(); ++t)
      if (problem.tensors[t].name == name)
        return result.states[t].dims;
    return std::vector<std::vector<std::string>>();
  };
  using Dims = std::vector<std::vector<std::string>>;
  EXPECT_EQ(stateOf("h0.fc1.w"), (Dims{{}, {"tp"}}));
  EXPECT_EQ(stateOf("h0.fc2.w"), (Dims{{"tp"}, {}}));
  EXPECT_EQ(stateOf("h0.q.w"), (Dims{{}, {"tp"}}));
  EXPECT_EQ(stateOf("h0.proj.w"), (Dims{{"tp"}, {}}));
}

TEST(Plan, Gpt2MediumOnEightH100) {
  PlanProblem problem = gpt({}, "h100-8");
  EXPECT_GT(problem.ops.size(), 1500u);
  PlanResult result = planLayout(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_TRUE(result.cost.fits);
  EXPECT_LE(result.lowerBoundSeconds, result.cost.seconds * 1.000001);
  RecordProperty("explain", result.explain(problem));
}

} // namespace
