//===- Order.cpp - orders ops for the least peak --------------------------===//
#include "gpucc/Transforms/Memory/Passes.h"

#include "FunctionMemory.h"

#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

namespace gpucc {
#define GEN_PASS_DEF_ORDER
#include "lib/Transforms/Memory/Passes.h.inc"
} // namespace gpucc

/// The search's effort shrinks with the function, so that deep models compile in time that grows
/// about linearly.
static solvers::OrderOptions optionsFor(int numOps) {
  solvers::OrderOptions options;
  int size = std::max(numOps, 1);
  options.stepBudget = std::min<int64_t>(options.stepBudget, 4'000'000 / size);
  options.beamWidth = std::clamp(6000 / size, 2, options.beamWidth);
  options.windowRounds = size > 600 ? 1 : 2;
  options.windowSize = size > 600 ? 8 : options.windowSize;
  options.start.resize(static_cast<size_t>(numOps));
  std::iota(options.start.begin(), options.start.end(), 0);
  return options;
}

static void reorder(FunctionMemory &memory, const std::vector<int> &order) {
  Operation *end = memory.function.getBody().front().getTerminator();
  for (int i : order)
    memory.ops[static_cast<size_t>(i)]->moveBefore(end);
}

namespace {
struct OrderPass : gpucc::impl::OrderBase<OrderPass> {
  using OrderBase::OrderBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    FunctionMemory memory(function);
    solvers::OrderProblem problem = memory.orderProblem();
    solvers::OrderOptions options = optionsFor(problem.numOps);
    int64_t before = solvers::peakOfOrder(problem, options.start);
    solvers::OrderSolution solution = solvers::solveOrder(problem, options);
    bool better = solution.peak < before && solvers::verifyOrder(problem, solution.order).empty();
    if (better) {
      reorder(memory, solution.order);
      ++numMoved;
    }
    int64_t after = better ? solution.peak : before;
    peakBefore.updateMax(static_cast<uint64_t>(before));
    peakAfter.updateMax(static_cast<uint64_t>(after));
    peakBound.updateMax(static_cast<uint64_t>(solution.lowerBound));
    if (remarks)
      function.emitRemark() << "@" << function.getName() << ": " << problem.numOps
                            << " ops ordered, peak of values " << before << " -> " << after
                            << " bytes, no order is below " << solution.lowerBound;
  }
};
} // namespace
