// Order: optimum by brute force on small graphs, published optima (ordering/instances.json),
// bounds and legality on large ones.
#include "gpucc/Solvers/Order.h"
#include "TestData.h"
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

using namespace gpucc::solvers;

namespace {

OrderProblem randomProblem(std::mt19937 &random, int count, bool rich) {
  OrderProblem problem;
  problem.numOps = count;
  auto size = [&] { return 1 + static_cast<int64_t>(random() % 20); };
  if (rich)
    problem.tensors.push_back({size(), -1, {static_cast<int>(random() % count)}, false});
  for (int op = 0; op < count; ++op) {
    for (int k = 0; k < (rich && random() % 3 == 0 ? 2 : 1); ++k)
      problem.tensors.push_back({size(), op, {}, rich && random() % 6 == 0});
    problem.workspace.push_back(rich && random() % 3 == 0 ? size() : 0);
  }
  for (OrderTensor &tensor : problem.tensors)
    for (int op = tensor.producer + 1; op < count && tensor.producer >= 0; ++op)
      if (random() % 4 == 0)
        tensor.consumers.push_back(op);
  if (rich && count > 2)
    problem.precedence.push_back({0, count - 1});
  return problem;
}

int64_t bruteForce(const OrderProblem &problem) {
  std::vector<int> order(problem.numOps);
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    if (verifyOrder(problem, order).empty())
      best = std::min(best, peakOfOrder(problem, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Order, PeakIsWhatAPersonCounts) {
  // The fan-in of the header: 4 x (10 bytes -> 1 byte) -> sum.
  OrderProblem problem = OrderProblem::fromPredecessors(
      {{}, {}, {}, {}, {0}, {1}, {2}, {3}, {4, 5, 6, 7}}, {10, 10, 10, 10, 1, 1, 1, 1, 1});
  EXPECT_EQ(peakOfOrder(problem, {0, 1, 2, 3, 4, 5, 6, 7, 8}), 41);
  EXPECT_EQ(peakOfOrder(problem, {0, 4, 1, 5, 2, 6, 3, 7, 8}), 14);
  EXPECT_EQ(solveOrder(problem).peak, 14);
}

TEST(Order, EqualsBruteForceOnSmallGraphs) {
  std::mt19937 random(3);
  for (int round = 0; round < 120; ++round) {
    OrderProblem problem = randomProblem(random, 7, round % 2);
    ASSERT_EQ(problem.check(), "");
    OrderSolution solution = solveOrder(problem);
    int64_t optimum = bruteForce(problem);
    EXPECT_EQ(solution.peak, optimum) << problem.dump();
    EXPECT_TRUE(solution.optimal);
    EXPECT_LE(orderLowerBound(problem), optimum);
    EXPECT_EQ(verifyOrder(problem, solution.order), "");
    EXPECT_EQ(peakOfOrder(problem, solution.order), solution.peak);
  }
}

TEST(Order, EqualsThePublishedOptima) {
  GPUCC_NEED_DATA(path, "ordering/instances.json");
  nlohmann::json instances;
  std::ifstream(path) >> instances;
  ASSERT_GT(instances.size(), 0u);
  for (const auto &instance : instances) {
    OrderProblem problem = OrderProblem::fromPredecessors(instance["pred"], instance["size"]);
    std::vector<int> naive(problem.numOps);
    std::iota(naive.begin(), naive.end(), 0);
    EXPECT_EQ(peakOfOrder(problem, naive), instance["naive"].get<int64_t>()) << instance["name"];
    OrderSolution solution = solveOrder(problem);
    EXPECT_EQ(solution.peak, instance["opt"].get<int64_t>()) << instance["name"];
    EXPECT_TRUE(solution.optimal);
  }
}

TEST(Order, LargeGraphsStayBetweenTheBoundAndTheGivenOrder) {
  std::mt19937 random(5);
  std::vector<std::vector<int>> predecessors(1200);
  std::vector<int64_t> sizes;
  for (int op = 0; op < 1200; ++op) {
    sizes.push_back(1 + static_cast<int64_t>(random() % 50));
    for (int k = 0; op > 0 && k < 2; ++k)
      predecessors[op].push_back(op - 1 - static_cast<int>(random() % std::min(op, 16)));
  }
  OrderProblem problem = OrderProblem::fromPredecessors(predecessors, sizes);
  OrderOptions options;
  options.stepBudget = 2000;
  options.start.resize(1200);
  std::iota(options.start.begin(), options.start.end(), 0);
  OrderSolution solution = solveOrder(problem, options);
  EXPECT_EQ(verifyOrder(problem, solution.order), "");
  EXPECT_LE(solution.peak, peakOfOrder(problem, options.start));
  EXPECT_GE(solution.peak, solution.lowerBound);
  EXPECT_EQ(solveOrder(problem, options).order, solution.order);
}

/// Random in-forests: op i is read by a later op, or is a root.
OrderProblem randomForest(std::mt19937 &random, int count) {
  OrderProblem problem;
  problem.numOps = count;
  for (int op = 0; op < count; ++op) {
    OrderTensor tensor{1 + static_cast<int64_t>(random() % 30), op, {}, false};
    if (op + 1 < count && random() % 12)
      tensor.consumers.push_back(op + 1 + static_cast<int>(random() % std::min(6, count - op - 1)));
    tensor.kept = tensor.consumers.empty();
    problem.tensors.push_back(tensor);
    problem.workspace.push_back(random() % 4 ? 0 : static_cast<int64_t>(random() % 15));
  }
  return problem;
}

TEST(Order, TreesEqualBruteForce) {
  std::mt19937 random(9);
  for (int round = 0; round < 150; ++round) {
    OrderProblem problem = randomForest(random, 7);
    OrderSolution solution = solveOrder(problem);
    EXPECT_EQ(solution.method, "Liu's algorithm on trees");
    EXPECT_EQ(verifyOrder(problem, solution.order), "");
    EXPECT_EQ(solution.peak, bruteForce(problem)) << problem.dump();
  }
}

/// The same trees with a harmless precedence edge go through the general search: never below Liu.
TEST(Order, SearchAgreesWithLiuOnLargerTrees) {
  std::mt19937 random(10);
  for (int round = 0; round < 20; ++round) {
    OrderProblem problem = randomForest(random, 24);
    int64_t liu = solveOrder(problem).peak;
    for (int op = 0; op + 1 < 24 && problem.precedence.empty(); ++op)
      if (!problem.tensors[op].consumers.empty())
        problem.precedence.push_back({op, problem.tensors[op].consumers[0]});
    OrderSolution general = solveOrder(problem);
    EXPECT_NE(general.method, "Liu's algorithm on trees");
    EXPECT_TRUE(general.optimal);
    EXPECT_EQ(general.peak, liu);
  }
  OrderProblem large = randomForest(random, 3000);
  EXPECT_TRUE(solveOrder(large).optimal);
}

TEST(Order, TheGivenOrderIsImprovedNotIgnored) {
  OrderProblem problem =
      OrderProblem::fromPredecessors({{}, {}, {0}, {1}, {2, 3}}, {9, 9, 1, 1, 1});
  OrderOptions options;
  options.start = {0, 1, 2, 3, 4};
  OrderSolution solution = solveOrder(problem, options);
  EXPECT_EQ(peakOfOrder(problem, options.start), 19);
  EXPECT_EQ(solution.peak, 11);
}

/// A concatenation of slices has as many ready ops as slices: each expansion stores
/// as many states.
TEST(Order, StoredDownsetsAreBounded) {
  std::vector<std::vector<int>> predecessors(1);
  std::vector<int64_t> sizes{1000};
  std::mt19937 random(5);
  std::vector<int> ends;
  for (int slice = 0; slice < 300; ++slice) { // input -> wide -> narrow, all narrow ones joined
    int wide = static_cast<int>(predecessors.size());
    predecessors.push_back({0});
    sizes.push_back(100 + static_cast<int64_t>(random() % 900));
    predecessors.push_back({wide});
    sizes.push_back(1 + static_cast<int64_t>(random() % 900));
    ends.push_back(wide + 1);
  }
  predecessors.push_back(ends);
  sizes.push_back(1);
  OrderProblem problem = OrderProblem::fromPredecessors(predecessors, sizes);
  OrderOptions options;
  options.stateBytes = 1 << 22;
  OrderSolution solution = solveOrder(problem, options);
  EXPECT_EQ(verifyOrder(problem, solution.order), "");
  EXPECT_EQ(peakOfOrder(problem, solution.order), solution.peak);
  EXPECT_GE(solution.peak, solution.lowerBound);
  // One state may pass the limit: about 301 bits twice and three counters per op.
  EXPECT_GT(solution.storedBytes, 0);
  EXPECT_LE(solution.storedBytes, options.stateBytes + 20'000);
}

TEST(Order, ChecksCyclesAndIndices) {
  OrderProblem problem;
  problem.numOps = 2;
  problem.precedence = {{0, 1}, {1, 0}};
  EXPECT_NE(problem.check().find("cycle"), std::string::npos);
  problem.precedence = {{0, 7}};
  EXPECT_NE(problem.check().find("(0, 7)"), std::string::npos);
  EXPECT_NE(verifyOrder(OrderProblem::fromPredecessors({{}, {0}}, {1, 1}), {1, 0}), "");
}

} // namespace
