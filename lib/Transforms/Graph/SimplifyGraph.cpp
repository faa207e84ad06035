//===- SimplifyGraph.cpp - identities that hold for every value -----------===//
//
// Patterns stand in SimplifyArithmetic.cpp, SimplifyMovement.cpp and SimplifyConvolutions.cpp.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Graph/Passes.h"
#include "lib/Transforms/Graph/SimplifyPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gpucc {
#define GEN_PASS_DEF_SIMPLIFYGRAPH
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
/// Counts replaced ops for the statistic.
struct Counter : RewriterBase::Listener {
  int64_t count = 0;
  void notifyOperationReplaced(Operation *, ValueRange) override { ++count; }
};

struct SimplifyGraphPass : gpucc::impl::SimplifyGraphBase<SimplifyGraphPass> {
  using SimplifyGraphBase::SimplifyGraphBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    graph_passes::addArithmeticPatterns(patterns);
    graph_passes::addMovementPatterns(patterns);
    graph_passes::addConvolutionPatterns(patterns);
    Counter counter;
    GreedyRewriteConfig config;
    config.setListener(&counter);
    config.enableFolding(false);
    config.enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      getOperation().emitWarning("simplification stopped at its limit of rounds");
    numRewritten += counter.count;
  }
};
} // namespace
