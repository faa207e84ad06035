// Rules of two ops run as one, by hand.
#include "lib/Transforms/Planning/ComposeRules.h"
#include <gtest/gtest.h>

using namespace gpucc;

namespace {

constexpr Factor loop(int64_t size, FactorKind kind = FactorKind::Parallel) { return {size, kind}; }
constexpr FactorKind reduced = FactorKind::Reduce, whole = FactorKind::Replicated;

/// t[i,j] = x[i,j]
ShardingRule pointwise(int64_t i, int64_t j) {
  return {{loop(i), loop(j)}, {{{0}, {1}}}, {{{0}, {1}}}, {}, {}};
}

TEST(ComposeRules, PointwiseIntoAMatrixVectorProduct) {
  // y[p] = sum over q of t[p,q] u[q]
  ShardingRule b{{loop(4), loop(6, reduced)}, {{{0}, {1}}, {{1}}}, {{{0}}}, {}, {}};
  auto rule = composeRules(pointwise(4, 6), b, {0});
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->check({{4, 6}, {6}}, {{4}}), "");
  EXPECT_EQ(rule->factors.size(), 2u);
  EXPECT_EQ(rule->operands[0], (ShardingRule::Tensor{{0}, {1}}));
  EXPECT_EQ(rule->operands[1], (ShardingRule::Tensor{{1}}));
  EXPECT_EQ(rule->results[0], (ShardingRule::Tensor{{0}}));
  EXPECT_EQ(rule->factors[1].kind, reduced);
}

TEST(ComposeRules, TransposedUse) {
  ShardingRule transpose{{loop(4), loop(6)}, {{{0}, {1}}}, {{{1}, {0}}}, {true}, {}};
  auto rule = composeRules(pointwise(4, 6), transpose, {0});
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->results[0], (ShardingRule::Tensor{{1}, {0}}));
}

TEST(ComposeRules, AReshapeSplitsTheLoopOfAPointwiseOp) {
  ShardingRule flat{{loop(512)}, {{{0}}}, {{{0}}}, {}, {}};
  ShardingRule reshape{{loop(8), loop(64)}, {{{0, 1}}}, {{{0}, {1}}}, {true}, {}};
  auto rule = composeRules(flat, reshape, {0});
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->check({{512}}, {{8, 64}}), "");
  EXPECT_EQ(rule->operands[0], (ShardingRule::Tensor{{0, 1}}));
  EXPECT_EQ(rule->results[0], (ShardingRule::Tensor{{0}, {1}}));
}

TEST(ComposeRules, SizesThatDoNotNestAreLeftApart) {
  ShardingRule three{{loop(3), loop(4)}, {{{0}, {1}}}, {{{0, 1}}}, {}, {}};
  ShardingRule four{{loop(4), loop(3)}, {{{0, 1}}}, {{{0}, {1}}}, {}, {}};
  EXPECT_FALSE(composeRules(three, four, {0}));
}

TEST(ComposeRules, OneReaderNeedsTheDimensionWhole) {
  ShardingRule softmax{{loop(4), loop(6, whole)}, {{{0}, {1}}}, {{{0}, {1}}}, {}, {}};
  auto rule = composeRules(pointwise(4, 6), softmax, {0});
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->factors[1].kind, whole);
}

TEST(ComposeRules, AReductionIsTheLastStepUnlessWhatFollowsIsLinear) {
  ShardingRule sum{{loop(4), loop(6, reduced)}, {{{0}, {1}}}, {{{0}}}, {true}, {}};
  ShardingRule exp{{loop(4)}, {{{0}}}, {{{0}}}, {false}, {}};
  EXPECT_FALSE(composeRules(sum, exp, {0})); // exp(a + b) is not exp(a) + exp(b)
  ShardingRule negate{{loop(4)}, {{{0}}}, {{{0}}}, {true}, {}};
  auto rule = composeRules(sum, negate, {0});
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->linearIn, std::vector<bool>{true});
}

TEST(ComposeRules, SumsStayLinearTogether) {
  ShardingRule transpose{{loop(4), loop(6)}, {{{0}, {1}}}, {{{1}, {0}}}, {true}, {}};
  ShardingRule add{{loop(6), loop(4)}, {{{0}, {1}}, {{0}, {1}}}, {{{0}, {1}}}, {}, {true, true}};
  auto rule = composeRules(transpose, add, {0});
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->linearTogether, (std::vector<bool>{true, true}));
  ShardingRule exp = pointwise(6, 4);
  rule = composeRules(exp, add, {0}); // exp(x) + y is linear in neither with the other
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->linearTogether.empty());
}

TEST(ComposeRules, AProductWithItsOwnTransposeHasNoCommonLoops) {
  ShardingRule square{
      {loop(4), loop(4, reduced), loop(4)}, {{{0}, {1}}, {{1}, {2}}}, {{{0}, {2}}}, {}, {}};
  EXPECT_FALSE(composeRules(pointwise(4, 4), square, {0, 1}));
}

} // namespace
