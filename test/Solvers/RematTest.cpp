// Remat: published optima (remat/instances.json), revolve's closed form, a checkpoint table by
// hand.
#include "TestData.h"
#include "gpucc/Solvers/Recompute.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace gpucc::solvers;

namespace {

/// The joint chain f_1..f_n, g_n..g_1 in which g_i needs f_i, f_{i-1} and g_{i+1} (unit cost,
/// size).
RematProblem jointChain(int n) {
  RematProblem problem;
  for (int i = 0; i < n; ++i)
    problem.predecessors.push_back(i ? std::vector<int>{i - 1} : std::vector<int>{});
  for (int i = n - 1; i >= 0; --i) {
    std::vector<int> reads{i};
    if (i > 0)
      reads.insert(reads.begin(), i - 1);
    if (i < n - 1)
      reads.push_back(static_cast<int>(problem.predecessors.size()) - 1);
    problem.predecessors.push_back(reads);
  }
  problem.cost.assign(2 * n, 1);
  problem.size.assign(2 * n, 1);
  problem.outputs = {2 * n - 1};
  return problem;
}

TEST(Remat, EqualsThePublishedOptimaForEveryBudget) {
  GPUCC_NEED_DATA(path, "remat/instances.json");
  nlohmann::json instances;
  std::ifstream(path) >> instances;
  ASSERT_GT(instances.size(), 0u);
  for (const auto &instance : instances) {
    RematProblem problem{instance["pred"], instance["cost"], instance["mem"], instance["outputs"]};
    ASSERT_EQ(problem.check(), "") << instance["name"];
    int64_t leastFeasible = INT64_MAX;
    for (const auto &[budget, optimum] : instance["opt"].items())
      if (!optimum.is_string())
        leastFeasible = std::min<int64_t>(leastFeasible, std::stoll(budget));
    for (const auto &[text, optimum] : instance["opt"].items()) {
      int64_t budget = std::stoll(text);
      RematSolution solution = solveRemat(problem, budget);
      EXPECT_TRUE(solution.optimal);
      if (optimum.is_string()) {
        EXPECT_FALSE(solution.feasible) << instance["name"] << " budget " << text;
        EXPECT_EQ(solution.minimumBudget, leastFeasible) << instance["name"];
        EXPECT_TRUE(solution.minimumProved);
        continue;
      }
      ASSERT_TRUE(solution.feasible) << instance["name"] << " budget " << text;
      EXPECT_EQ(solution.cost, optimum.get<double>()) << instance["name"] << " budget " << text;
      EXPECT_EQ(verifyRemat(problem, budget, solution), "");
    }
  }
}

/// Table A5.2 of the project's notes: exact Dijkstra over (live set, outputs) by another program.
TEST(Remat, JointChainsEqualTheirTable) {
  struct Row {
    int n;
    int64_t budget;
    double cost;
  };
  for (Row row : {Row{3, 4, 6},
                  {4, 4, 9},
                  {4, 5, 8},
                  {5, 4, 13},
                  {5, 5, 11},
                  {6, 4, 18},
                  {6, 5, 14},
                  {6, 6, 13},
                  {7, 4, 24},
                  {7, 5, 17},
                  {7, 6, 16},
                  {7, 8, 14}}) {
    RematSolution solution = solveRemat(jointChain(row.n), row.budget);
    EXPECT_TRUE(solution.feasible && solution.optimal);
    EXPECT_EQ(solution.cost, row.cost) << "n " << row.n << " budget " << row.budget;
  }
}

TEST(Remat, LongChainsGetALegalScheduleAndABound) {
  RematProblem problem = jointChain(60); // 120 ops: beyond the exact search
  RematSolution solution = solveRemat(problem, 14);
  ASSERT_TRUE(solution.feasible);
  EXPECT_EQ(verifyRemat(problem, 14, solution), "");
  EXPECT_GE(solution.cost, solution.lowerBound);
  RematSolution none = solveRemat(problem, 3);
  EXPECT_FALSE(none.feasible);
  EXPECT_GE(none.minimumBudget, 4);
}

/// Griewank & Walther: t(l, s) = r l - C(s + r, r - 1), r least with C(s + r, s) >= l.
double revolve(int l, int s) {
  auto choose = [](int n, int k) {
    double value = 1;
    for (int i = 1; i <= k; ++i)
      value = value * (n - k + i) / i;
    return std::round(value);
  };
  int r = 0;
  while (choose(s + r, s) < l)
    ++r;
  return r * l - choose(s + r, r - 1);
}

TEST(Chain, EqualsRevolvesClosedForm) {
  for (int l = 2; l <= 40; ++l)
    for (int s = 1; s <= 8; ++s) {
      ChainSolution solution = solveChain(std::vector<double>(l, 1.0), s);
      EXPECT_EQ(solution.extraCost, revolve(l, s)) << "l " << l << " s " << s;
      EXPECT_LE(static_cast<int>(solution.checkpoints.size()), s);
    }
  EXPECT_EQ(solveChain(std::vector<double>(64, 1.0), 4).extraCost, 200); // published table
}

TEST(Chain, UnequalCostsByHand) {
  // Two slots (state 0 and one more). Second checkpoint at state k of 1, 1, 1, 100 costs
  // prefix(k) + extra of the right part from k + extra of the left part from 0:
  //   k=1: 1 + (1 + 2) + 0 = 4    k=2: 2 + 1 + 1 = 4    k=3: 3 + 0 + (1 + 1) = 5 (one more split)
  ChainSolution solution = solveChain({1, 1, 1, 100}, 2);
  EXPECT_EQ(solution.extraCost, 4);
  // An expensive first step is passed once and never again: checkpoint behind it.
  solution = solveChain({100, 1, 1, 1}, 2);
  EXPECT_EQ(solution.checkpoints, (std::vector<int>{0, 1}));
  EXPECT_EQ(solution.extraCost, 100 + 3);
  EXPECT_FALSE(solveChain({1, 1}, 0).feasible);
}

TEST(Remat, CheckNamesTheOp) {
  RematProblem problem{{{}, {1}}, {1, 1}, {1, 1}, {1}};
  EXPECT_NE(problem.check().find("op 1"), std::string::npos);
}

} // namespace
