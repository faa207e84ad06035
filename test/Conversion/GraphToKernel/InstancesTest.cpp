//===- InstancesTest.cpp - every op instance as a kernel ------------------===//
//
// The instances of test/Reference (one or more per graph op, in f64) through
// fusion and host code; the same in f32; and in f32 with the kernels that the
// CUDA target would get, whose skeletons the CPU runs as plain loops.
//
//===----------------------------------------------------------------------===//
#include "FusedRun.h"
#include "test/Reference/InstanceTexts.h"
#include "test/Reference/OpInstances.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
class Instances : public testing::TestWithParam<std::pair<const char *, const char *>> {};

/// Tensors of f64 as tensors of another element type; attributes keep theirs.
std::string withElement(std::string text, const std::string &element) {
  text = std::regex_replace(text, std::regex("xf64>"), "x" + element + ">");
  text = std::regex_replace(text, std::regex(" to f64"), " to " + element);
  text = std::regex_replace(text, std::regex("tensor<f64>"), "tensor<" + element + ">");
  if (element != "f64") // the size of the one weight
    text = std::regex_replace(text, std::regex("bytes = 64"), "bytes = 32");
  return "module attributes {graph.files = [\"weights.bin\"]} {\n" + text + "}\n";
}
} // namespace

TEST_P(Instances, EqualTheEvaluator) {
  auto [element, target] = GetParam();
  DialectRegistry registry;
  registerForFusedRun(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  loadDialects(context);
  FusedRunOptions options;
  options.target = target;
  unsigned count = 0;
  for (const char *family : instanceTexts) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(withElement(family, element), &context);
    ASSERT_TRUE(module);
    for (auto instance : module->getOps<func::FuncOp>()) {
      if (isa<graph::WeightOp>(opUnderTest(instance)))
        continue; // its bytes lie in a file
      std::mt19937_64 random(7);
      SmallVector<HostTensor> inputs = drawInputs(instance, random);
      std::string difference = checkFused(instance, inputs, options);
      EXPECT_EQ(difference, "") << instance.getName().str();
      ++count;
    }
  }
  EXPECT_GT(count, 50u);
}

INSTANTIATE_TEST_SUITE_P(All, Instances,
                         testing::Values(std::pair("f64", "host"), std::pair("f32", "host"),
                                         std::pair("f32", "cuda")));
