//===- SearchTest.cpp - strategies, reshards, the search on one axis ------===//
#include "gpucc/Transforms/Dist/AxisSearch.h"
#include "gpucc/Transforms/Dist/Reshard.h"

#include "gtest/gtest.h"

using namespace gpucc;

static ShardingRule contractRule(int64_t i, int64_t k, int64_t j) {
  ShardingRule rule;
  rule.factors = {{i}, {k, FactorKind::Reduce}, {j}};
  rule.operands = {{{0}, {1}}, {{1}, {2}}};
  rule.results = {{{0}, {2}}};
  rule.linearIn = {true, true};
  return rule;
}

static ShardingRule addRule(int64_t i, int64_t j) {
  ShardingRule rule;
  rule.factors = {{i}, {j}};
  rule.operands = {{{0}, {1}}, {{0}, {1}}};
  rule.results = {{{0}, {1}}};
  rule.linearTogether = {true, true};
  return rule;
}

//===-- Strategies --------------------------------------------------------===//

TEST(OpStrategy, ContractedLoopMakesPartialResult) {
  ShardingRule rule = contractRule(8, 16, 4);
  OpStrategy s{{{"dp"}, {"tp"}, {}}, {}};
  Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  EXPECT_EQ(checkStrategy(rule, s, mesh), "");
  EXPECT_EQ(operandSharding(rule, s, 0).dump(), "[{dp},{tp}]");
  EXPECT_EQ(operandSharding(rule, s, 1).dump(), "[{tp},{}]");
  EXPECT_EQ(resultSharding(rule, s, 0).dump(), "[{dp},{}] partial sum {tp}");
  std::string why;
  auto back = inferStrategy(rule, mesh, {operandSharding(rule, s, 0), operandSharding(rule, s, 1)},
                            {resultSharding(rule, s, 0)}, why);
  ASSERT_TRUE(back) << why;
  EXPECT_EQ(*back, s);
}

TEST(OpStrategy, WrongOnesAreRefused) {
  ShardingRule rule = contractRule(8, 15, 4);
  Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  EXPECT_NE(checkStrategy(rule, {{{}, {"tp"}, {}}, {}}, mesh), "");     // 15 / 2
  EXPECT_NE(checkStrategy(rule, {{{"tp"}, {}, {"tp"}}, {}}, mesh), ""); // used twice
  std::string why;
  Sharding rows{{{"dp"}, {}}, {}, ReduceKind::Sum}, whole = Sharding::replicated(2);
  // The result claims to be whole although its rows are split.
  EXPECT_FALSE(inferStrategy(rule, mesh, {rows, whole}, {whole}, why));
  // One partial summand only: a + b would be counted once per rank.
  Sharding partial{{{}, {}}, {"tp"}, ReduceKind::Sum};
  EXPECT_FALSE(inferStrategy(addRule(4, 4), mesh, {partial, whole}, {partial}, why));
  EXPECT_TRUE(inferStrategy(addRule(4, 4), mesh, {partial, partial}, {partial}, why)) << why;
}

//===-- Reshards ----------------------------------------------------------===//

static std::string kinds(const Sharding &from, const Sharding &to) {
  static const char *names[] = {"slice",      "mask",       "reduce_scatter",
                                "all_to_all", "all_reduce", "all_gather"};
  Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  std::string out;
  for (const ReshardStep &step : planReshard(mesh, {8, 8}, 4, from, to))
    out += std::string(out.empty() ? "" : " ") + names[step.kind];
  return out;
}

TEST(Reshard, OneStepWhereOneIsEnough) {
  auto s = [](std::vector<std::string> rows, std::vector<std::string> columns,
              std::vector<std::string> partial = {}) {
    return Sharding{{std::move(rows), std::move(columns)}, std::move(partial), ReduceKind::Sum};
  };
  EXPECT_EQ(kinds(s({}, {}), s({}, {})), "");
  EXPECT_EQ(kinds(s({}, {}), s({"dp"}, {})), "slice");
  EXPECT_EQ(kinds(s({"dp"}, {}), s({}, {})), "all_gather");
  EXPECT_EQ(kinds(s({"dp", "tp"}, {}), s({}, {})), "all_gather");
  EXPECT_EQ(kinds(s({"tp"}, {}), s({}, {"tp"})), "all_to_all");
  EXPECT_EQ(kinds(s({}, {}, {"tp"}), s({}, {})), "all_reduce");
  EXPECT_EQ(kinds(s({}, {}, {"tp"}), s({}, {"tp"})), "reduce_scatter");
  EXPECT_EQ(kinds(s({}, {}), s({}, {}, {"tp"})), "mask");
  // Slicing first halves what is reduced.
  EXPECT_EQ(kinds(s({}, {}, {"tp"}), s({"dp"}, {})), "slice all_reduce");
  // A partial maximum is no partial sum.
  Sharding maximum = s({}, {}, {"tp"});
  maximum.partialKind = ReduceKind::Max;
  EXPECT_EQ(kinds(maximum, s({}, {}, {"tp"})), "all_reduce mask");
  // The major axis leaves a dimension that keeps its minor one.
  EXPECT_EQ(kinds(s({"dp", "tp"}, {}), s({"tp"}, {})), "all_gather slice");
}

TEST(Reshard, BytesOfRingAlgorithms) {
  Mesh mesh{{{"tp", 4}}};
  Sharding whole = Sharding::replicated(1), split{{{"tp"}}, {}, ReduceKind::Sum};
  Sharding partial{{{}}, {"tp"}, ReduceKind::Sum};
  EXPECT_DOUBLE_EQ(reshardBytes(mesh, {64}, 4, partial, whole), 2 * 256 * 3 / 4);
  EXPECT_DOUBLE_EQ(reshardBytes(mesh, {64}, 4, partial, split), 256 * 3 / 4);
  EXPECT_DOUBLE_EQ(reshardBytes(mesh, {64}, 4, split, whole), 256 * 3 / 4);
  EXPECT_DOUBLE_EQ(reshardBytes(mesh, {64}, 4, whole, split), 0);
}

//===-- Search ------------------------------------------------------------===//

namespace {
/// x[b,i] · W1[i,h] · W2[h,o], with free weights.
struct TwoProducts {
  ShardingRule first, second;
  AxisProblem p;

  TwoProducts(int64_t b, int64_t i, int64_t h, int64_t o, int64_t parts)
      : first(contractRule(b, i, h)), second(contractRule(b, h, o)) {
    p.parts = parts;
    p.splitWeights = true;
    p.training = true;
    auto value = [&](int64_t rows, int64_t columns, bool weight) {
      AxisProblem::Value v;
      v.bytes = 4.0 * static_cast<double>(rows * columns);
      v.splittable = {rows % parts == 0 && weight, columns % parts == 0};
      v.isStatic = v.maySplit = weight;
      v.differentiable = true;
      p.values.push_back(v);
    };
    value(b, i, false);
    value(i, h, true);
    value(b, h, false);
    value(h, o, true);
    value(b, o, false);
    p.values[0].state = axis::Whole;
    p.values[0].differentiable = false;
    auto op = [&](const ShardingRule &rule, std::vector<int> operands, int result) {
      AxisProblem::Op o;
      o.rule = &rule;
      o.operands = std::move(operands);
      o.results = {result};
      o.mustSplit = o.weights = {false, true};
      for (const Factor &f : rule.factors)
        o.usable.push_back(f.size % parts == 0);
      o.usable[0] = false; // the batch belongs to another axis
      p.ops.push_back(o);
    };
    op(first, {0, 1}, 2);
    op(second, {2, 3}, 4);
    p.outputs = {{4, -1}};
  }
};
} // namespace

TEST(AxisSearch, ColumnsThenRows) {
  TwoProducts t(8, 16, 64, 16, 2);
  AxisSolution s = searchAxis(t.p);
  ASSERT_EQ(s.error, "");
  EXPECT_EQ(s.state[1], axis::Split + 1); // W1 by columns
  EXPECT_EQ(s.state[2], axis::Split + 1);
  EXPECT_EQ(s.state[3], axis::Split + 0); // W2 by rows
  EXPECT_EQ(s.state[4], axis::Partial);
  EXPECT_DOUBLE_EQ(s.bytes, 2 * (8 * 16 * 4) / 2); // one all-reduce of the result
}

TEST(AxisSearch, IndivisibleWidthStaysWhole) {
  TwoProducts t(8, 7, 5, 3, 2);
  AxisSolution s = searchAxis(t.p);
  ASSERT_EQ(s.error, "");
  for (int8_t state : s.state)
    EXPECT_EQ(state, axis::Whole);
  EXPECT_EQ(s.bytes, 0);
}

TEST(AxisSearch, PinsAreObeyedOrRefused) {
  TwoProducts t(8, 16, 64, 16, 2);
  t.p.ops[0].fixed = {axis::Whole};
  AxisSolution s = searchAxis(t.p);
  EXPECT_NE(s.error, ""); // the weight must be split, so a whole result cannot come out
  EXPECT_EQ(s.errorOp, 0);
  t.p.ops[0].fixed = {axis::Partial};
  s = searchAxis(t.p);
  ASSERT_EQ(s.error, "");
  EXPECT_EQ(s.state[1], axis::Split + 0); // rows
}
