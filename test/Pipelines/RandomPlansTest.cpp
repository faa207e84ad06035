//===- RandomPlansTest.cpp - random programs as plans that run ------------===//
//
// The whole way: random program → all phases → plan file → runtime on the host target, against the
// evaluator on the program as it was. Every second seed has NaN, infinities and zeros of both signs
// among its inputs. GPUCC_TEST_SEED=N prints one program and runs it;
// GPUCC_TEST_SEEDS=N runs N of them instead of 2000:
//
//   GPUCC_TEST_SEEDS=10000 build/test-bin/RandomPlansTest
//
//===----------------------------------------------------------------------===//
#include "../Reference/RandomInputs.h"
#include "gpucc/Pipelines/Compile.h"
#include "gpucc/Reference/Evaluator.h"
#include "gpucc/Reference/RandomProgram.h"
#include "gpucc_rt/RankGroup.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {

/// Chunks, so that ctest can spread them over cores (GTEST_TOTAL_SHARDS).
constexpr uint64_t chunks = 10;

uint64_t seedsPerChunk() {
  const char *count = std::getenv("GPUCC_TEST_SEEDS");
  return (count ? std::strtoull(count, nullptr, 10) : 2000) / chunks;
}

std::string text(ModuleOp module) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  module->print(stream);
  return out;
}

/// "" or why the plan does not compute `expected`.
std::string runPlan(const std::string &path, ArrayRef<HostTensor> arguments,
                    ArrayRef<HostTensor> expected) {
  gpucc_rt::Plan plan;
  gpucc_rt::RankGroup group;
  gpucc_rt::GroupOptions options;
  options.threads = 1;
  if (auto s = gpucc_rt::Plan::open(path, plan))
    return s.message();
  if (auto s = group.open(plan, options))
    return s.message();
  for (auto [i, tensor] : llvm::enumerate(arguments)) {
    std::string name = "x" + std::to_string(i);
    if (!group.hasTensor(name))
      continue; // an input that nothing reads
    if (auto s = group.write(name, tensor.bytes(), static_cast<uint64_t>(tensor.byteSize())))
      return s.message();
  }
  if (auto s = group.run())
    return s.message();
  for (auto [i, want] : llvm::enumerate(expected)) {
    std::string name = "y" + std::to_string(i);
    HostTensor found(want.dtype(), want.shape());
    if (auto s = group.read(name, found.bytes(), static_cast<uint64_t>(found.byteSize())))
      return s.message();
    if (std::string what = difference(want, found); !what.empty())
      return name + ": " + what;
  }
  return "";
}

/// Whether a filter's NaN meets the zeros of padding is not promised (docs/bits.md): filters stay
/// finite.
SmallVector<HostTensor> specialArguments(func::FuncOp function, ArrayRef<HostTensor> arguments,
                                         uint64_t seed) {
  SmallVector<HostTensor> special(arguments);
  sprinkle(special, seed);
  function.walk([&](graph::ConvolutionOp op) {
    if (auto filter = dyn_cast<BlockArgument>(op->getOperand(1)))
      special[filter.getArgNumber()] = arguments[filter.getArgNumber()];
  });
  return special;
}

/// "" or what is wrong with the program of this seed.
std::string checkSeed(uint64_t seed, const std::string &path) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = buildRandomProgram(&context, seed);
  auto function = module->lookupSymbol<func::FuncOp>("main");
  SmallVector<HostTensor> arguments = randomArguments(function, seed);
  if (seed % 2)
    arguments = specialArguments(function, arguments, seed);
  auto expected = evaluateFunction(function, arguments, MapWeights());
  if (failed(expected))
    return "the program does not evaluate";
  if (std::getenv("GPUCC_TEST_SEED"))
    std::printf("%s\n", text(*module).c_str());
  CompileOptions options;
  options.jobs = 1;
  std::string error;
  if (compileGraphModule(*module, options, ".", path, error))
    return "does not compile: " + error;
  return runPlan(path, arguments, *expected);
}

class RandomPlans : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomPlans, EqualTheEvaluatorOnTheHost) {
  std::string path = testing::TempDir() + "gpucc-random-" + std::to_string(getpid()) + ".plan";
  if (const char *one = std::getenv("GPUCC_TEST_SEED")) {
    if (GetParam() == 0)
      EXPECT_EQ(checkSeed(std::strtoull(one, nullptr, 10), path), "");
  } else {
    uint64_t count = seedsPerChunk();
    for (uint64_t seed = GetParam() * count; seed < (GetParam() + 1) * count; ++seed)
      EXPECT_EQ(checkSeed(seed, path), "") << "seed " << seed;
    std::printf("random programs: %llu seeds as plans on the host\n",
                static_cast<unsigned long long>(count));
  }
  std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Chunk, RandomPlans, testing::Range(uint64_t(0), chunks));

} // namespace
