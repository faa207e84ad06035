//===- MeaningTest.cpp - passes keep the meaning of random programs -------===//
//
// Each pass over graph ops, alone and in the order of the product, on seeded
// random programs: results before and after are compared. Failures print the
// seed, so that `buildRandomProgram(context, seed)` gives the program.
// GPUCC_TEST_SEEDS=10000 runs more of them than the 2000 of every build.
//
//===----------------------------------------------------------------------===//
#include "../../Reference/RandomInputs.h"
#include "gpucc/Reference/Evaluator.h"
#include "gpucc/Reference/RandomProgram.h"
#include "gpucc/Transforms/Fusion/Passes.h"
#include "gpucc/Transforms/Graph/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {

std::optional<std::vector<HostTensor>> evaluate(ModuleOp module, ArrayRef<HostTensor> arguments) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  auto results = evaluateFunction(function, arguments, MapWeights());
  if (failed(results))
    return std::nullopt;
  return std::vector<HostTensor>(results->begin(), results->end());
}

using AddPasses = void (*)(OpPassManager &);
struct Case {
  const char *name;
  AddPasses add;
};

void productOrder(OpPassManager &pm) {
  pm.addPass(createFoldConstants());
  pm.addPass(createSimplifyGraph());
  pm.addPass(createCSEPass());
  pm.addPass(createRaiseComposites());
  pm.addPass(createSimplifyGraph());
  pm.addPass(createCSEPass());
}

void prepareAndFuse(OpPassManager &pm, const std::string &target) {
  pm.addPass(createPrepareFusion({target}));
  FuseOptions options;
  options.target = target;
  pm.addPass(createFuse(options));
}

const Case cases[] = {
    {"fold-constants", [](OpPassManager &pm) { pm.addPass(createFoldConstants()); }},
    {"simplify-graph", [](OpPassManager &pm) { pm.addPass(createSimplifyGraph()); }},
    {"decompose-composites", [](OpPassManager &pm) { pm.addPass(createDecomposeComposites()); }},
    // Composites taken apart are the food of raising.
    {"decompose, raise-composites",
     [](OpPassManager &pm) {
       pm.addPass(createDecomposeComposites());
       pm.addPass(createSimplifyGraph());
       pm.addPass(createRaiseComposites());
     }},
    {"cse", [](OpPassManager &pm) { pm.addPass(createCSEPass()); }},
    {"prepare-fusion for the host",
     [](OpPassManager &pm) { pm.addPass(createPrepareFusion({"host"})); }},
    {"prepare-fusion for cuda",
     [](OpPassManager &pm) { pm.addPass(createPrepareFusion({"cuda"})); }},
    {"prepare-fusion, fuse for the host", [](OpPassManager &pm) { prepareAndFuse(pm, "host"); }},
    {"prepare-fusion, fuse for cuda", [](OpPassManager &pm) { prepareAndFuse(pm, "cuda"); }},
    {"product order", productOrder},
    {"decompose, product order", [](OpPassManager &pm) {
       pm.addPass(createDecomposeComposites());
       productOrder(pm);
     }}};

class Meaning : public testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(Meaning, IsKept) {
  auto [passes, withSpecial] = GetParam();
  const char *count = std::getenv("GPUCC_TEST_SEEDS");
  uint64_t changed = 0, seeds = count ? std::strtoull(count, nullptr, 10) : 2000;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = buildRandomProgram(&context, seed);
    auto arguments = randomArguments(module->lookupSymbol<func::FuncOp>("main"), seed);
    if (withSpecial)
      sprinkle(arguments, seed);
    auto before = evaluate(*module, arguments);
    ASSERT_TRUE(before) << "seed " << seed;
    PassManager pm(&context);
    passes.add(pm.nest<func::FuncOp>());
    size_t ops = 0, opsAfter = 0;
    module->walk([&](Operation *) { ++ops; });
    ASSERT_TRUE(succeeded(pm.run(*module))) << "seed " << seed;
    module->walk([&](Operation *) { ++opsAfter; });
    changed += ops != opsAfter;
    auto after = evaluate(*module, arguments);
    ASSERT_TRUE(after) << "seed " << seed;
    ASSERT_EQ(before->size(), after->size());
    for (size_t i = 0; i < before->size(); ++i)
      EXPECT_EQ(difference((*before)[i], (*after)[i]), "") << "seed " << seed << ", result " << i;
  }
  // The programs give the pass something to do.
  EXPECT_GT(changed, seeds / 20);
}

INSTANTIATE_TEST_SUITE_P(Passes, Meaning,
                         testing::Combine(testing::ValuesIn(cases), testing::Bool()),
                         [](const auto &info) {
                           std::string name = std::get<1>(info.param) ? "special_values_" : "";
                           for (char c : std::string(std::get<0>(info.param).name))
                             name += isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

} // namespace
