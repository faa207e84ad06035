// Offsets: optimum by brute force on tiny problems, known optima on the minimalloc benchmark
// (google/minimalloc, capacity 1,048,576), legality on random ones.
#include "gpucc/Solvers/Offsets.h"
#include "TestData.h"
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <sstream>

using namespace gpucc::solvers;

namespace {

OffsetProblem randomProblem(std::mt19937 &random, int count, int horizon, bool aligned) {
  OffsetProblem problem;
  for (int i = 0; i < count; ++i) {
    int64_t lower = static_cast<int64_t>(random() % horizon);
    int64_t upper = lower + 1 + static_cast<int64_t>(random() % horizon) / 2;
    int64_t alignment = aligned && random() % 2 ? 4 : 1;
    problem.buffers.push_back({1 + static_cast<int64_t>(random() % 9), lower, upper, alignment});
  }
  return problem;
}

/// The same problem as a conflict graph.
OffsetProblem asConflicts(OffsetProblem problem) {
  problem.useConflicts = true;
  int n = static_cast<int>(problem.buffers.size());
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b)
      if (problem.buffers[a].lower < problem.buffers[b].upper &&
          problem.buffers[b].lower < problem.buffers[a].upper)
        problem.conflicts.push_back({a, b});
  return problem;
}

/// Optimum: first-fit in some permutation is optimal (the order of offsets of an optimal solution).
int64_t bruteForce(const OffsetProblem &problem) {
  int n = static_cast<int>(problem.buffers.size());
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offset(n, -1);
    int64_t arena = 0;
    for (int b : order) {
      const Buffer &buffer = problem.buffers[b];
      for (int64_t at = 0;; at += buffer.alignment) {
        bool fine = true;
        for (int o = 0; o < n && fine; ++o) {
          const Buffer &other = problem.buffers[o];
          fine = offset[o] < 0 || buffer.lower >= other.upper || other.lower >= buffer.upper ||
                 at >= offset[o] + other.size || offset[o] >= at + buffer.size;
        }
        if (fine) {
          offset[b] = at;
          break;
        }
      }
      arena = std::max(arena, offset[b] + buffer.size);
    }
    best = std::min(best, arena);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

OffsetProblem readCsv(const std::string &path) {
  OffsetProblem problem;
  std::ifstream file(path);
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    std::getline(cells, cell, ',');
    Buffer buffer;
    for (int64_t *field : {&buffer.lower, &buffer.upper, &buffer.size}) {
      std::getline(cells, cell, ',');
      *field = std::stoll(cell);
    }
    problem.buffers.push_back(buffer);
  }
  return problem;
}

TEST(Offsets, ExampleOfTheHeaderReachesTheBound) {
  OffsetProblem problem{{{4, 0, 2}, {4, 1, 3}, {4, 2, 4}}, false, {}};
  OffsetSolution solution = solveOffsets(problem);
  EXPECT_EQ(solution.arena, 8);
  EXPECT_EQ(solution.lowerBound, 8);
  EXPECT_TRUE(solution.optimal);
  EXPECT_EQ(verifyOffsets(problem, solution), "");
}

TEST(Offsets, EqualsBruteForceOnTinyProblemsInBothForms) {
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    OffsetProblem problem = randomProblem(random, 6, 6, round % 3 == 0);
    int64_t optimum = bruteForce(problem);
    for (const OffsetProblem &form : {problem, asConflicts(problem)}) {
      OffsetSolution solution = solveOffsets(form);
      EXPECT_EQ(solution.arena, optimum) << form.dump();
      EXPECT_TRUE(solution.optimal);
      EXPECT_EQ(verifyOffsets(form, solution), "");
    }
  }
}

TEST(Offsets, ConflictsOfTwoStreamsFollowHappensBeforeNotPosition) {
  // a and c never meet, b meets both: a triangle is absent, two heights suffice.
  OffsetProblem problem{{{8}, {8}, {8}}, true, {{0, 1}, {1, 2}}};
  EXPECT_EQ(solveOffsets(problem).arena, 16);
  problem.conflicts.push_back({0, 2});
  EXPECT_EQ(solveOffsets(problem).arena, 24);
}

TEST(Offsets, LargeRandomProblemsAreLegalAndRepeatable) {
  std::mt19937 random(11);
  OffsetProblem problem = randomProblem(random, 400, 200, true);
  OffsetOptions options;
  options.stepBudget = 20'000;
  OffsetSolution first = solveOffsets(problem, options), second = solveOffsets(problem, options);
  EXPECT_EQ(verifyOffsets(problem, first), "");
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_GE(first.arena, first.lowerBound);
}

TEST(Offsets, ZeroSizedBuffersAndEmptyProblems) {
  OffsetProblem problem{{{0, 0, 4}, {8, 0, 4}, {8, 2, 2}}, false, {}};
  OffsetSolution solution = solveOffsets(problem);
  EXPECT_EQ(verifyOffsets(problem, solution), "");
  EXPECT_EQ(solution.arena, 8);
  EXPECT_EQ(solveOffsets(OffsetProblem()).arena, 0);
}

TEST(Offsets, CheckNamesTheBuffer) {
  OffsetProblem problem{{{4, 3, 1}}, false, {}};
  EXPECT_NE(problem.check().find("buffer 0"), std::string::npos);
  problem = {{{4, 0, 1}}, true, {{0, 5}}};
  EXPECT_NE(problem.check().find("conflict (0, 5)"), std::string::npos);
}

TEST(Offsets, VerifyFindsAnOverlap) {
  OffsetProblem problem{{{4, 0, 2}, {4, 1, 3}}, false, {}};
  OffsetSolution solution;
  solution.offsets = {0, 2};
  solution.arena = 6;
  EXPECT_NE(verifyOffsets(problem, solution).find("overlap"), std::string::npos);
}

class Minimalloc : public testing::TestWithParam<const char *> {};

TEST_P(Minimalloc, FitsIn1048576Bytes) {
  GPUCC_NEED_DATA(path, std::string("minimalloc/") + GetParam() + ".csv");
  OffsetProblem problem = readCsv(path);
  OffsetOptions options;
  options.stepBudget = 8'000'000;
  OffsetSolution solution = fitOffsets(problem, 1'048'576, options);
  ASSERT_FALSE(solution.offsets.empty()) << "steps " << solution.steps;
  EXPECT_LE(solution.arena, 1'048'576);
  EXPECT_EQ(verifyOffsets(problem, solution), "");
}
INSTANTIATE_TEST_SUITE_P(Challenging, Minimalloc, testing::Values("A", "B", "C", "D", "E"));

TEST(Offsets, LargePublicInstancesReachTheirLowerBounds) {
  for (auto [file, bound] : {std::pair<const char *, int64_t>{"minimalloc/G_1.csv", 3'030'937'746},
                             {"minimalloc/resnet50.csv", 1'515'472'556},
                             {"minimalloc/perfect50.csv", 1'048'576}}) {
    GPUCC_NEED_DATA(path, file);
    OffsetProblem problem = readCsv(path);
    OffsetSolution solution = solveOffsets(problem);
    EXPECT_EQ(solution.lowerBound, bound) << file;
    EXPECT_EQ(solution.arena, bound) << file;
    EXPECT_EQ(verifyOffsets(problem, solution), "");
  }
}

} // namespace
