// Keep: optimum by enumeration on small graphs, a repeated model against its bound, peaks by hand.
#include "gpucc/Solvers/Recompute.h"
#include <gtest/gtest.h>
#include <random>

using namespace gpucc::solvers;

namespace {

/// x -> exp -> gelu of the header, 100 bytes each, costs 8 and 9.
KeepProblem twoOps() {
  KeepProblem problem;
  problem.tensors = {
      {100, -1, true, false, {}}, {100, 0, true, false, {1}}, {100, 1, true, false, {0}}};
  problem.ops = {{8, {0}, false}, {9, {1}, false}};
  return problem;
}

KeepProblem randomProblem(std::mt19937 &random) {
  KeepProblem problem;
  problem.tensors.push_back({50, -1, true, false, {}});
  int count = 5 + static_cast<int>(random() % 7);
  for (int op = 0; op < count; ++op) {
    int numTensors = static_cast<int>(problem.tensors.size());
    KeepOp keepOp{
        1.0 + random() % 20, {static_cast<int>(random() % numTensors)}, random() % 8 == 0};
    if (random() % 2)
      keepOp.reads.push_back(numTensors - 1);
    problem.ops.push_back(keepOp);
    for (int k = 0; k < (random() % 5 == 0 ? 2 : 1); ++k)
      problem.tensors.push_back(
          {1 + static_cast<int64_t>(random() % 30), op, random() % 4 != 0, random() % 10 == 0, {}});
  }
  return problem;
}

/// Least extra cost over all kept sets; negative when no set is legal within the budget.
double bruteForce(const KeepProblem &p, int64_t budget) {
  std::vector<int> choices;
  int numTensors = static_cast<int>(p.tensors.size());
  for (int t = 0; t < numTensors; ++t)
    if (p.tensors[t].producer >= 0 && !p.tensors[t].alwaysKept)
      choices.push_back(t);
  double best = -1;
  for (int mask = 0; mask < (1 << choices.size()); ++mask) {
    std::vector<char> kept(numTensors, 0), wanted(numTensors, 0);
    int64_t bytes = 0;
    for (size_t i = 0; i < choices.size(); ++i)
      if (mask >> i & 1) {
        kept[choices[i]] = 1;
        bytes += p.tensors[choices[i]].size;
      }
    if (bytes > budget)
      continue;
    for (int t = 0; t < numTensors; ++t)
      wanted[t] = p.tensors[t].needed;
    double cost = 0;
    bool legal = true;
    for (int op = static_cast<int>(p.ops.size()) - 1; op >= 0; --op) {
      bool again = false;
      for (int t : choices)
        again |= p.tensors[t].producer == op && wanted[t] && !kept[t];
      if (!again)
        continue;
      legal &= !p.ops[op].noRecompute;
      cost += p.ops[op].cost;
      for (int t : p.ops[op].reads)
        wanted[t] = 1;
    }
    if (legal && (best < 0 || cost < best))
      best = cost;
  }
  return best;
}

TEST(Keep, ExampleOfTheHeader) {
  EXPECT_EQ(solveKeep(twoOps(), 200).extraCost, 0);
  KeepSolution half = solveKeep(twoOps(), 100);
  EXPECT_EQ(half.kept, (std::vector<int>{2})); // exp (cost 8) is cheaper to run again than gelu (9)
  EXPECT_EQ(half.extraCost, 8);
  KeepSolution none = solveKeep(twoOps(), 0);
  EXPECT_EQ(none.extraCost, 17);
  EXPECT_TRUE(none.optimal);
}

TEST(Keep, EqualsEnumerationOnSmallGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    KeepProblem problem = randomProblem(random);
    ASSERT_EQ(problem.check(), "");
    KeepSolution ends = solveKeep(problem, 1 << 30);
    for (int k = 0; k < 4; ++k) {
      int64_t budget = ends.minimumBytes - 1 + (ends.allBytes - ends.minimumBytes + 2) * k / 3;
      KeepSolution solution = solveKeep(problem, budget);
      double optimum = bruteForce(problem, budget);
      EXPECT_EQ(solution.feasible, optimum >= 0) << problem.dump();
      if (!solution.feasible)
        continue;
      EXPECT_NEAR(solution.extraCost, optimum, 1e-9) << problem.dump() << solution.dump();
      EXPECT_LE(solution.lowerBound, optimum + 1e-9);
      EXPECT_EQ(verifyKeep(problem, budget, solution), "");
    }
  }
}

TEST(Keep, NeverRunsAFixedOpAgainAndSaysTheMinimum) {
  KeepProblem problem = twoOps();
  problem.ops[0].noRecompute = true; // e.g. dropout with state
  KeepSolution solution = solveKeep(problem, 50);
  EXPECT_FALSE(solution.feasible);
  EXPECT_EQ(solution.minimumBytes, 100);
  EXPECT_EQ(solveKeep(problem, 100).kept, (std::vector<int>{1}));
}

/// `layers` times: small residual r (kept cheaply), large activations a, b inside the layer.
KeepProblem repeatedLayers(int layers) {
  KeepProblem problem;
  problem.tensors.push_back({4, -1, true, false, {3 * layers}});
  int residual = 0, position = 3 * layers;
  auto add = [&](double cost, std::vector<int> reads, int64_t size) {
    problem.ops.push_back({cost, reads, false});
    problem.tensors.push_back(
        {size, static_cast<int>(problem.ops.size()) - 1, true, false, {--position}});
    return static_cast<int>(problem.tensors.size()) - 1;
  };
  for (int layer = 0; layer < layers; ++layer) {
    int a = add(10, {residual}, 16), b = add(3, {a}, 16);
    residual = add(20, {residual, b}, 4);
  }
  return problem;
}

TEST(Keep, RepeatedLayersAreWithinOneLayerOfTheBound) {
  KeepProblem problem = repeatedLayers(24);
  for (const KeepSolution &solution : keepTradeOff(problem, 9)) {
    ASSERT_TRUE(solution.feasible);
    EXPECT_EQ(verifyKeep(problem, solution.keptBytes, solution), "");
    EXPECT_LE(solution.extraCost, solution.lowerBound + 33) << solution.dump();
  }
}

TEST(Keep, PeakByHand) {
  // Chain a -> b -> c, 10 bytes each; backward reads c, b, a in this order.
  KeepProblem problem;
  problem.tensors = {{1, -1, false, false, {}},
                     {10, 0, true, false, {2}},
                     {10, 1, true, false, {1}},
                     {10, 2, true, false, {0}}};
  problem.ops = {{1, {0}, false}, {1, {1}, false}, {1, {2}, false}};
  KeepSolution all;
  all.kept = {1, 2, 3};
  EXPECT_EQ(keepPeak(problem, all), 30);
  KeepSolution first;
  first.kept = {1};
  first.recomputed = {1, 2};
  EXPECT_EQ(keepPeak(problem, first), 30); // b and c are both made before position 0
}

TEST(Keep, PeakBudgetsAreMetBySegments) {
  KeepProblem problem = repeatedLayers(16);
  KeepSolution everything = solveKeep(problem, 1 << 30);
  int64_t full = keepPeak(problem, everything);
  KeepSolution half = solveKeepForPeak(problem, full / 2);
  ASSERT_TRUE(half.feasible);
  EXPECT_LE(keepPeak(problem, half), full / 2);
  EXPECT_GT(half.extraCost, 0);
  EXPECT_FALSE(solveKeepForPeak(problem, 8).feasible);
}

} // namespace
