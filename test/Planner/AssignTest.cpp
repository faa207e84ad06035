// Assign: exact against enumeration, mini-bucket bounds valid, prices shift the choice.
#include "gpucc/Planner/Assign.h"
#include <gtest/gtest.h>
#include <random>

using namespace gpucc::planner;

namespace {

AssignProblem randomProblem(std::mt19937 &random, int nodes, int extraEdges) {
  AssignProblem p;
  for (int i = 0; i < nodes; ++i) {
    AssignNode node;
    for (unsigned s = 0; s < 1 + random() % 3; ++s) {
      node.cost.push_back(random() % 50);
      node.memory.push_back(random() % 10);
    }
    p.nodes.push_back(node);
  }
  auto connect = [&](int a, int b) {
    AssignEdge edge{a, b, {}};
    for (size_t k = 0; k < p.nodes[a].cost.size() * p.nodes[b].cost.size(); ++k)
      edge.cost.push_back(random() % 30);
    p.edges.push_back(edge);
  };
  for (int i = 1; i < nodes; ++i)
    connect(static_cast<int>(random() % i), i);
  for (int k = 0; k < extraEdges; ++k) {
    int a = static_cast<int>(random() % nodes), b = static_cast<int>(random() % nodes);
    if (a != b)
      connect(a, b);
  }
  return p;
}

double bruteForce(const AssignProblem &p, double price) {
  std::vector<int> choice(p.nodes.size(), 0);
  double best = 1e300;
  while (true) {
    double cost = assignCost(p, choice);
    for (size_t i = 0; i < choice.size(); ++i)
      cost += price * p.nodes[i].memory[choice[i]];
    best = std::min(best, cost);
    size_t k = 0;
    while (k < choice.size() && ++choice[k] == static_cast<int>(p.nodes[k].cost.size()))
      choice[k++] = 0;
    if (k == choice.size())
      return best;
  }
}

TEST(Assign, ExampleOfTheHeader) {
  AssignProblem p{{{{4, 2}, {}}, {{4, 2}, {}}}, {{0, 1, {0, 1, 1, 0}}}};
  AssignSolution s = solveAssign(p);
  EXPECT_EQ(s.choice, (std::vector<int>{1, 1}));
  EXPECT_EQ(s.cost, 4);
  EXPECT_TRUE(s.optimal);
}

TEST(Assign, EqualsEnumeration) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    AssignProblem p = randomProblem(random, 9, 8);
    ASSERT_EQ(p.check(), "");
    AssignOptions options;
    options.memoryPrice = round % 3;
    AssignSolution s = solveAssign(p, options);
    EXPECT_TRUE(s.optimal);
    EXPECT_NEAR(s.cost + options.memoryPrice * s.memory, bruteForce(p, options.memoryPrice), 1e-9);
    EXPECT_NEAR(s.lowerBound, s.cost + options.memoryPrice * s.memory, 1e-9);
  }
}

TEST(Assign, MiniBucketsBoundFromBelow) {
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    AssignProblem p = randomProblem(random, 9, 20);
    AssignOptions tight;
    tight.tableLimit = 9;
    AssignSolution s = solveAssign(p, tight);
    double optimum = bruteForce(p, 0);
    EXPECT_LE(s.lowerBound, optimum + 1e-9);
    EXPECT_GE(s.cost, optimum - 1e-9);
    if (s.optimal)
      EXPECT_NEAR(s.cost, optimum, 1e-9);
  }
}

TEST(Assign, CheckNamesTheEdge) {
  AssignProblem p{{{{1}, {}}, {{1, 2}, {}}}, {{0, 1, {0}}}};
  EXPECT_NE(p.check().find("edge 0"), std::string::npos);
}

} // namespace
