//===- RaiseComposites.cpp - finds composites that were taken apart -------===//
//
// The matchers stand in Raise*.cpp. This file tries them on each op and replaces
// groups that nothing outside looks into.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Graph/Passes.h"
#include "lib/Transforms/Graph/RaiseMatch.h"

namespace gpucc {
#define GEN_PASS_DEF_RAISECOMPOSITES
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph_passes;

/// LayerNorm before RMSNorm: the second half of the former looks like the latter.
static constexpr Matcher raisers[] = {matchSoftmax,   matchLayerNorm, matchRmsNorm,
                                      matchNormScale, matchNormBias,  matchGelu,
                                      matchSilu,      matchRotary,    matchAttention};

static void remarkLeak(Operation *root, const Found &found, Operation *leak) {
  InFlightDiagnostic diag = root->emitRemark()
                            << "looks like " << found.name << ", but is not raised";
  diag.attachNote(leak->getLoc()) << "this value inside it is read elsewhere, too";
}

static void replace(Operation *root, Found &found) {
  OpBuilder builder(root);
  root->getResult(0).replaceAllUsesWith(found.build(builder));
  root->erase();
  SmallVector<Operation *> inside(found.match.inside());
  llvm::sort(inside, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : inside)
    if (op->use_empty())
      op->erase();
}

/// Tries the matchers on one op.
static bool raise(Operation *root, bool remarks) {
  for (Matcher matcher : raisers) {
    Found found;
    if (!matcher(root, found)) {
      if (remarks && !found.whyNot.empty())
        root->emitRemark() << "looks like " << found.name
                           << ", but is not raised: " << found.whyNot;
      continue;
    }
    if (Operation *leak = found.match.leak(root)) {
      if (remarks)
        remarkLeak(root, found, leak);
      continue;
    }
    if (remarks)
      root->emitRemark() << "raised to " << found.name << " from "
                         << found.match.inside().size() + 1 << " ops";
    replace(root, found);
    return true;
  }
  return false;
}

namespace {
struct RaiseCompositesPass : gpucc::impl::RaiseCompositesBase<RaiseCompositesPass> {
  using RaiseCompositesBase::RaiseCompositesBase;

  /// In order: inner composites (softmax) are there when outer ones (attention) are looked for.
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front()))
      if (op.getNumResults() == 1 && raise(&op, remarks))
        ++numRaised;
    eraseDead();
  }

  /// Constants and broadcasts that only the raised ops read.
  void eraseDead() {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};
} // namespace
