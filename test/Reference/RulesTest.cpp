//===- RulesTest.cpp - sharding rules worked out by hand ------------------===//
//
// ShardingLawTest shows that rules are true; here, that they allow as much as
// they should.
//
//===----------------------------------------------------------------------===//
#include "OpInstances.h"
#include "dialects/Graph/Movement/ReshapeRule.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

static std::string reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  ShardingRule rule = graph::reshapeRule(from, to);
  std::vector<std::vector<int64_t>> a{from.vec()}, b{to.vec()};
  EXPECT_EQ(rule.check(a, b), "");
  return rule.dump();
}

TEST(Rules, ReshapeSharesLoopsFromTheMajorEnd) {
  EXPECT_EQ(reshape({6, 4}, {2, 3, 4}), "[f0*f1,f2] -> [f0,f1,f2] {f0=2, f1=3, f2=4}");
  EXPECT_EQ(reshape({2, 3}, {6}), "[f0,f1] -> [f0*f1] {f0=2, f1=3}");
  EXPECT_EQ(reshape({8, 1, 4}, {1, 8, 4}), "[f0,-,f1] -> [-,f0,f1] {f0=8, f1=4}");
  // Heads: [tokens, heads * width] -> [tokens, heads, width].
  EXPECT_EQ(reshape({16, 96}, {16, 12, 8}), "[f0,f1*f2] -> [f0,f1,f2] {f0=16, f1=12, f2=8}");
  // Only the common major factor 2 of 6 and 4 is a loop of both.
  EXPECT_EQ(reshape({6, 4}, {4, 6}),
            "[f0*f1,f4] -> [f0*f2,f3] {f0=2, f1=3 replicated, f2=2 replicated, f3=6 replicated, "
            "f4=4 replicated}");
  // After the mismatch the rest is shared again.
  EXPECT_EQ(reshape({2, 3, 5}, {3, 2, 5}),
            "[f0,f2,f4] -> [f1,f3,f4] {f0=2 replicated, f1=3 replicated, f2=3 replicated, f3=2 "
            "replicated, f4=5}");
}

namespace {
class RulesOf : public ::testing::Test {
protected:
  void SetUp() override {
    loadDialects(context);
    module = parseInstances(context);
    ASSERT_TRUE(module);
  }
  std::string rule(StringRef instance) {
    auto f = module->lookupSymbol<func::FuncOp>(instance);
    return cast<ShardingRuleOpInterface>(opUnderTest(f)).getShardingRule().dump();
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(RulesOf, Ops) {
  // x[4,6] · w[6,2]: rows and columns free, the inner dimension summed.
  EXPECT_EQ(rule("contract"), "[f0,f2], [f2,f1] -> [f0,f1] {f0=4, f1=2, f2=6 reduce sum}");
  EXPECT_EQ(rule("reduce_max"), "[f0,f1,f2] -> [f1] {f0=2 reduce max, f1=4, f2=3 reduce max}");
  EXPECT_EQ(rule("softmax"), "[f0,f1,f2] -> [f0,f1,f2] {f0=2, f1=4 replicated, f2=3}");
  // Embedding: tokens and width free, the table's rows whole.
  EXPECT_EQ(rule("gather"), "[f0,f1,f2], [f3,f4] -> [f0,f3,f4,f2] {f0=2, f1=5 replicated, f2=4, "
                            "f3=2, f4=3}");
  // Its gradient: a sum over the tokens, since it starts from zeros.
  EXPECT_EQ(rule("scatter_zeros"),
            "[f0,f1], [f2], [f2,f1] -> [f0,f1] {f0=5 replicated, f1=2, f2=4 reduce sum}");
  // Four query heads on two key heads: pairs of query heads stay together.
  EXPECT_EQ(rule("attention_grouped"),
            "[f0,f1*f2,f3,f5], [f0,f1,f4,f5], [f0,f1,f4,f6], [-,f1*f2,f3,f4] -> [f0,f1*f2,f3,f6] "
            "{f0=2, f1=2, f2=2 replicated, f3=4, f4=6 replicated, f5=3 replicated, f6=2 "
            "replicated}");
  // Tokens are summed over in loss and count, classes are whole.
  EXPECT_EQ(rule("cross_entropy"), "[f0,f1], [f0] -> [], [] {f0=4 reduce sum, f1=5 replicated}");
  // Data parallel: the filter's gradient is a sum over the batch.
  EXPECT_EQ(rule("convolution_filter_grad"),
            "[f0,f2,f3,f6], [f0,f1,f5,f8] -> [f1,f2,f4,f7] {f0=2 reduce sum, f1=4, f2=2, f3=6 "
            "replicated, f4=3 replicated, f5=3 replicated, f6=7 replicated, f7=2 replicated, f8=7 "
            "replicated}");
}

// Seven rows on two ranks: the second one's last row is padding, which constants fill with zeros.
TEST_F(RulesOf, UnevenBlocksOfAConstant) {
  OwningOpRef<ModuleOp> m = parseSourceString<ModuleOp>(
      "func.func @f(%o: tensor<i64>) -> tensor<4xf64> {\n"
      "%c = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<7xf64>\n"
      "%r = graph.constant dense<0.0> : tensor<4xf64>\n return %r : tensor<4xf64> }",
      &context);
  auto f = *m->getOps<func::FuncOp>().begin();
  auto constant = cast<graph::ConstantOp>(f.getBody().front().front());
  Operation *ret = f.getBody().front().getTerminator();
  OpBuilder builder(ret);
  ret->setOperands(constant.buildLocal(builder, {}, f.getResultTypes(), {f.getArgument(0)}));
  auto block = [&](int64_t offset) {
    auto r = evaluateFunction(f, {HostTensor::scalarInt(DType::I64, offset)}, MapWeights());
    std::vector<double> v;
    for (int64_t i = 0; i < 4; ++i)
      v.push_back((*r)[0].getFloat(i));
    return v;
  };
  EXPECT_EQ(block(0), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(block(4), (std::vector<double>{5, 6, 7, 0}));
}
