//===- DecomposeComposites.cpp - composites to their expansion ------------===//
#include "gpucc/Transforms/Graph/Passes.h"

namespace gpucc {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

/// The composites of a function that are not kept, in order.
static SmallVector<DecomposableOpInterface> findComposites(func::FuncOp function,
                                                           ArrayRef<std::string> keep) {
  SmallVector<DecomposableOpInterface> found;
  for (Operation &op : function.getBody().front())
    if (auto composite = dyn_cast<DecomposableOpInterface>(op))
      if (!llvm::is_contained(keep, op.getName().stripDialect()))
        found.push_back(composite);
  return found;
}

static void expand(DecomposableOpInterface composite) {
  Operation *op = composite;
  OpBuilder builder(op);
  SmallVector<Value> values = composite.buildDecomposition(builder, op->getOperands());
  op->replaceAllUsesWith(values);
  op->erase();
}

namespace {
struct DecomposeCompositesPass : gpucc::impl::DecomposeCompositesBase<DecomposeCompositesPass> {
  using DecomposeCompositesBase::DecomposeCompositesBase;

  /// An expansion may hold composites itself (attention has a softmax), so until none is left.
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (auto found = findComposites(getOperation(), keep); !found.empty();
         found = findComposites(getOperation(), keep))
      for (DecomposableOpInterface composite : found) {
        expand(composite);
        ++numExpanded;
      }
  }
};
} // namespace
