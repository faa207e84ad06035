//===- ModelsTest.cpp - pieces of models as kernels -----------------------===//
//
// Hand-written functions in Inputs/, for both targets; and rows with NaN and
// infinities, where softmax's kernel takes a shortcut (ReductionPlan.h).
//
//===----------------------------------------------------------------------===//
#include "FusedRun.h"
#include "test/Reference/OpInstances.h"

#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
class Models : public testing::TestWithParam<const char *> {
protected:
  Models() {
    DialectRegistry registry;
    registerForFusedRun(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    loadDialects(context);
    options.target = GetParam();
    options.f32 = 1e-4;
  }
  void check(const std::string &file) {
    auto module = parseSourceFile<ModuleOp>(std::string(GPUCC_TEST_INPUTS) + "/" + file, &context);
    ASSERT_TRUE(module) << file;
    auto main = *module->getOps<func::FuncOp>().begin();
    std::mt19937_64 random(11);
    EXPECT_EQ(checkFused(main, drawInputs(main, random), options), "") << file;
  }
  MLIRContext context;
  FusedRunOptions options;
};
} // namespace

TEST_P(Models, DecoderLayer) { check("decoder-layer.mlir"); }
TEST_P(Models, ConvBlock) { check("conv-block.mlir"); }
TEST_P(Models, LargeRows) { check("large-rows.mlir"); }

/// Softmax (both forms) of rows that hold NaN, infinities, or only -inf.
TEST_P(Models, SoftmaxOfSpecialValues) {
  for (const char *attrs : {"{dim = 1 : i64}", "{dim = 1 : i64, log}"}) {
    std::string type = "tensor<6x37xf32>";
    std::string text = "func.func @main(%x: " + type + ") -> (" + type +
                       ", tensor<6xf32>) {\n %0 = graph.softmax %x " + attrs + " : (" + type +
                       ") -> " + type + "\n %1 = graph.reduce max %x {dims = array<i64: 1>} : (" +
                       type + ") -> tensor<6xf32>\n return %0, %1 : " + type + ", tensor<6xf32>\n}";
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto main = *module->getOps<func::FuncOp>().begin();
    HostTensor x(DType::F32, {6, 37});
    for (int64_t i = 0; i < x.numElements(); ++i)
      x.setFloat(i, std::sin(static_cast<double>(i)));
    x.setFloat(37 + 5, NAN);
    x.setFloat(2 * 37 + 36, HUGE_VAL);
    x.setFloat(3 * 37, -HUGE_VAL);
    for (int64_t i = 0; i < 37; ++i) {
      x.setFloat(4 * 37 + i, -HUGE_VAL);
      x.setFloat(5 * 37 + i, NAN);
    }
    EXPECT_EQ(checkFused(main, {x}, options), "") << attrs;
  }
}

/// Padding never receives the gradient of a maximum, not even when all elements are -inf.
TEST_P(Models, PoolGradOfInfinities) {
  const char *text =
      R"(func.func @main(%x: tensor<1x1x5xf32>, %g: tensor<1x1x5xf32>) -> tensor<1x1x5xf32> {
    %0 = graph.pool_grad max %x, %g {window = array<i64: 3>, strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, extra_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x1x5xf32>, tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
    return %0 : tensor<1x1x5xf32>
  })";
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  HostTensor x(DType::F32, {1, 1, 5}), g(DType::F32, {1, 1, 5});
  for (int64_t i = 0; i < 5; ++i) {
    x.setFloat(i, i < 3 ? -HUGE_VAL : NAN);
    g.setFloat(i, static_cast<double>(i + 1));
  }
  EXPECT_EQ(checkFused(*module->getOps<func::FuncOp>().begin(), {x, g}, options), "");
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::Values("host", "cuda"));
