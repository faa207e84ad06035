//===- MeaningTest.cpp - passes keep the meaning of random programs -------===//
//
// Each graph pass, alone and in the order of the product, on seeded random
// programs: results before and after are compared. Failures print the seed, so
// that `buildRandomProgram(context, seed)` gives the program.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Reference/Evaluator.h"
#include "gpucc/Reference/RandomProgram.h"
#include "gpucc/Transforms/Graph/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;

namespace {

std::optional<std::vector<HostTensor>> evaluate(ModuleOp module, ArrayRef<HostTensor> arguments) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  auto results = evaluateFunction(function, arguments, MapWeights());
  if (failed(results))
    return std::nullopt;
  return std::vector<HostTensor>(results->begin(), results->end());
}

/// Integers exactly, floats relative to the largest element: a pass may round elsewhere (a mean
/// as a product with 1/n, statistics of a raised norm).
std::string difference(const HostTensor &a, const HostTensor &b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return "another type";
  double largest = 1e-3;
  for (int64_t i = 0; i < a.numElements(); ++i)
    if (double v = std::fabs(a.getFloat(i)); std::isfinite(v))
      largest = std::max(largest, v);
  for (int64_t i = 0; i < a.numElements(); ++i) {
    double x = a.getFloat(i), y = b.getFloat(i);
    bool same = isFloat(a.dtype()) ? x == y || (std::isnan(x) && std::isnan(y)) ||
                                         std::fabs(x - y) <= 1e-4 * largest
                                   : a.getInt(i) == b.getInt(i);
    if (!same)
      return "element " + std::to_string(i) + ": " + std::to_string(x) + " and " +
             std::to_string(y);
  }
  return "";
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
    {"product order", productOrder},
    {"decompose, product order", [](OpPassManager &pm) {
       pm.addPass(createDecomposeComposites());
       productOrder(pm);
     }}};

/// Some elements become NaN, an infinity or -0.
void sprinkle(SmallVectorImpl<HostTensor> &arguments, uint64_t seed) {
  const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
  uint64_t state = seed * 2654435761u + 1;
  for (HostTensor &tensor : arguments) {
    if (!isFloat(tensor.dtype()))
      continue;
    tensor = tensor.clone();
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if ((state >> 33) % 7 == 0)
        tensor.setFloat(i, special[(state >> 40) % 5]);
    }
  }
}

class Meaning : public testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(Meaning, IsKept) {
  auto [passes, withSpecial] = GetParam();
  int changed = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
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
  EXPECT_GT(changed, 25);
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
