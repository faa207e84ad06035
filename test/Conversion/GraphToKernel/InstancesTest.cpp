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

/// The functions of a family one by one, in modules of their own, with tensors of f64 as tensors of
/// another element type. Attributes keep theirs; what the other type does not allow is left out.
std::vector<OwningOpRef<ModuleOp>> parseEach(MLIRContext &context, std::string text,
                                             const std::string &element) {
  text = std::regex_replace(text, std::regex("xf64>"), "x" + element + ">");
  text = std::regex_replace(text, std::regex(" to f64"), " to " + element);
  text = std::regex_replace(text, std::regex("tensor<f64>"), "tensor<" + element + ">");
  std::vector<OwningOpRef<ModuleOp>> modules;
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  for (size_t at = text.find("func.func"); at != std::string::npos;) {
    size_t next = text.find("func.func", at + 1);
    if (auto module = parseSourceString<ModuleOp>(text.substr(at, next - at), &context))
      modules.push_back(std::move(module));
    at = next;
  }
  return modules;
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
  if (std::string(element).find("16") != std::string::npos)
    options.floor = 0.1; // products of attention are rounded in between
  unsigned count = 0;
  for (const char *family : instanceTexts)
    for (auto &module : parseEach(context, family, element)) {
      auto instance = *module->getOps<func::FuncOp>().begin();
      std::mt19937_64 random(7);
      SmallVector<HostTensor> inputs = drawInputs(instance, random);
      std::string difference = checkFused(instance, inputs, options);
      EXPECT_EQ(difference, "") << instance.getName().str();
      ++count;
    }
  EXPECT_GT(count, 100u);
}

INSTANTIATE_TEST_SUITE_P(All, Instances,
                         testing::Values(std::pair("f64", "host"), std::pair("f32", "host"),
                                         std::pair("f32", "cuda"), std::pair("bf16", "host"),
                                         std::pair("f16", "cuda")));
