//===- SpmdTest.cpp - what ranks get, by hand calculation -----------------===//
#include "Prove.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace gpucc;

namespace {
/// Runs one function on two ranks; `x` is [[0, 1, 2, 3], [4, 5, 6, 7]], rows split over "a".
std::vector<double> runOnTwo(const std::string &body, const std::string &resultType,
                             const std::string &resultSharding) {
  MLIRContext context;
  prepare(context);
  std::string text =
      "dist.mesh @mesh <[\"a\" = 2]>\n"
      "func.func @main(%x: tensor<1x4xf32> {base.name = \"x\", base.kind = \"input\", "
      "dist.sharding = #dist.sharding<[{\"a\"}, {}]>}) -> (" +
      resultType + " {base.name = \"y\", dist.sharding = #dist.sharding<" + resultSharding +
      ">}) {\n" + body + "\n return %y : " + resultType + "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  if (!module)
    return {};
  HostTensor x(DType::F32, {2, 4});
  for (int64_t i = 0; i < 8; ++i)
    x.setFloat(i, static_cast<double>(i));
  SpmdEvaluator ranks(*module);
  EXPECT_EQ(ranks.numRanks(), 2);
  std::vector<double> values;
  if (failed(ranks.runStep({{{"x", x}}})))
    return {};
  FailureOr<HostTensor> y = ranks.getOutput("y", 0);
  if (failed(y))
    return {};
  for (int64_t i = 0; i < y->numElements(); ++i)
    values.push_back(y->getFloat(i));
  return values;
}
using Values = std::vector<double>;
} // namespace

TEST(Spmd, AllReduce) {
  EXPECT_EQ(runOnTwo("%y = dist.all_reduce sum %x on @mesh over [\"a\"] : tensor<1x4xf32>",
                     "tensor<1x4xf32>", "[{}, {}]"),
            (Values{4, 6, 8, 10}));
  EXPECT_EQ(runOnTwo("%y = dist.all_reduce max %x on @mesh over [\"a\"] : tensor<1x4xf32>",
                     "tensor<1x4xf32>", "[{}, {}]"),
            (Values{4, 5, 6, 7}));
}

TEST(Spmd, AllGatherAlongTheSecondDimension) {
  EXPECT_EQ(runOnTwo("%y = dist.all_gather %x on @mesh over [\"a\"] dim 1 : tensor<1x4xf32> -> "
                     "tensor<1x8xf32>",
                     "tensor<1x8xf32>", "[{}, {}]"),
            (Values{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Spmd, ReduceScatter) { // rank 0 has the first two sums
  EXPECT_EQ(runOnTwo("%y = dist.reduce_scatter sum %x on @mesh over [\"a\"] dim 1 : "
                     "tensor<1x4xf32> -> tensor<1x2xf32>",
                     "tensor<1x2xf32>", "[{}, {\"a\"}]"),
            (Values{4, 6, 8, 10}));
}

TEST(Spmd, AllToAllKeepsTheTensor) { // rows to columns
  EXPECT_EQ(runOnTwo("%y = dist.all_to_all %x on @mesh over [\"a\"] split 1 concat 0 : "
                     "tensor<1x4xf32> -> tensor<2x2xf32>",
                     "tensor<2x2xf32>", "[{}, {\"a\"}]"),
            (Values{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Spmd, PermuteGoesAround) {
  EXPECT_EQ(runOnTwo("%y = dist.permute %x on @mesh over [\"a\"] shift 1 : tensor<1x4xf32>",
                     "tensor<1x4xf32>", "[{\"a\"}, {}]"),
            (Values{4, 5, 6, 7, 0, 1, 2, 3}));
}

TEST(Spmd, AxisIndexAndPartialResult) { // ranks bring 0 and 10; a partial sum is read as their sum
  EXPECT_EQ(runOnTwo("%y = dist.axis_index on @mesh over [\"a\"] scale 10 : tensor<i64>",
                     "tensor<i64>", "[], partial = [\"a\"] sum"),
            (Values{10}));
}

TEST(Spmd, CopiesThatDifferAreAnError) {
  EXPECT_EQ(runOnTwo("%y = dist.axis_index on @mesh over [\"a\"] scale 10 : tensor<i64>",
                     "tensor<i64>", "[]"),
            (Values{}));
}

// Inference: a weight of the model is cut by each rank; the product sums over the split loop.
TEST(Spmd, WeightsOfAnInferenceModel) {
  MLIRContext context;
  prepare(context);
  auto reference = parseSourceString<ModuleOp>(R"(
    module attributes {graph.files = ["w.bin"]} {
    graph.weight_data @w {file = 0, offset = 0, bytes = 128} : tensor<4x8xf32>
    graph.weight_data @v {file = 0, offset = 128, bytes = 64} : tensor<8x2xf32>
    func.func @main(%x: tensor<2x4xf32> {base.name = "x", base.kind = "input"}) -> (tensor<2x2xf32> {base.name = "y", base.kind = "output"}) {
      %w = graph.weight @w : tensor<4x8xf32>
      %v = graph.weight @v : tensor<8x2xf32>
      %0 = graph.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
      %1 = graph.unary relu %0 : (tensor<2x8xf32>) -> tensor<2x8xf32>
      %y = graph.contract %1, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
      return %y : tensor<2x2xf32>
    }
    })", &context);
  ASSERT_TRUE(reference);
  OwningOpRef<ModuleOp> partitioned = reference->clone();
  PassManager passes(&context);
  ASSERT_TRUE(succeeded(parsePassPipeline("gpucc-propagate{tp=2},gpucc-partition", passes)));
  ASSERT_TRUE(succeeded(passes.run(*partitioned)));
  HostTensor w(DType::F32, {4, 8}), v(DType::F32, {8, 2}), x(DType::F32, {2, 4});
  for (HostTensor *t : {&w, &v, &x})
    for (int64_t i = 0; i < t->numElements(); ++i)
      t->setFloat(i, static_cast<double>((i * 7) % 5) - 2);
  MapWeights weights({{"w", w}, {"v", v}});
  SpmdEvaluator one(*reference, &weights), two(*partitioned, &weights);
  int64_t reductions = 0;
  partitioned->walk([&](dist::AllReduceOp) { ++reductions; });
  EXPECT_EQ(reductions, 1); // columns, then rows
  auto report = compareStep(one, two, {{{"x", x}}});
  ASSERT_TRUE(succeeded(report));
  EXPECT_TRUE(report->equal()) << report->dump();
  EXPECT_GE(report->compared, 1u);
}

TEST(Spmd, DeadlockNamesEveryRank) {
  MLIRContext context;
  prepare(context);
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    said += d.str();
    for (Diagnostic &note : d.getNotes())
      said += "\n" + note.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(R"(
    dist.mesh @mesh <["pp" = 2]>
    func.func @stage0() attributes {dist.stage = 0 : i64} {
      %0 = dist.recv from 1 channel 0 : tensor<f32>
      return
    }
    func.func @stage1() attributes {dist.stage = 1 : i64} {
      %0 = dist.recv from 0 channel 0 : tensor<f32>
      return
    })",
                                            &context);
  ASSERT_TRUE(module);
  SpmdEvaluator ranks(*module);
  EXPECT_TRUE(failed(ranks.runStep({{}})));
  EXPECT_NE(said.find("rank 0 (stage 0) waits at dist.recv in stage0"), std::string::npos) << said;
  EXPECT_NE(said.find("rank 1 (stage 1) waits at dist.recv in stage1"), std::string::npos) << said;
}
