//===- OverlapCollectives.cpp - other work between start and first use ----===//
//
// In value semantics a collective starts where it stands and is waited for at
// its first use. This pass moves collectives up behind their operands, and what
// uses their results down, as long as nothing but final bookkeeping uses them
// (a reduced gradient goes into an accumulator and out of the function): the
// rest of the backward pass then runs in between. Those get `dist.async`.
//
//   %g2 = contract ...                      %g2 = contract ...
//   %g1 = contract ...                      %r2 = all_reduce %g2 {dist.async}
//   %r2 = all_reduce %g2                ->  %g1 = contract ...
//   %a2 = add %acc2, %r2                    %r1 = all_reduce %g1 {dist.async}
//   %r1 = all_reduce %g1                    %a2 = add %acc2, %r2
//   %a1 = add %acc1, %r1                    %a1 = add %acc1, %r1
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

/// Ops that use `op`'s results, directly or not, inside the block; the terminator left out.
static llvm::SetVector<Operation *> dependents(Operation *op) {
  llvm::SetVector<Operation *> out;
  SmallVector<Operation *> work{op};
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers())
      if (!user->hasTrait<OpTrait::IsTerminator>() && out.insert(user))
        work.push_back(user);
  return out;
}

/// Cheap ops that send nothing: they may wait until the end.
static bool isBookkeeping(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return isMemoryEffectFree(op) && !isa<dist::CollectiveOpInterface>(op) && cost &&
         cost.getFacts().matrixFlops == 0;
}

/// Directly behind the last of its operands, and behind collectives that were there before it.
static void hoist(Operation *op) {
  Operation *after = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp(); def && (!after || after->isBeforeInBlock(def)))
      after = def;
  if (!after)
    return;
  while (after->getNextNode() != op && isa<dist::CollectiveOpInterface>(after->getNextNode()))
    after = after->getNextNode();
  if (after->getNextNode() != op)
    op->moveAfter(after);
}

static bool movesTogether(Operation *op, const llvm::SetVector<Operation *> &waiting) {
  return llvm::all_of(waiting, [&](Operation *user) { return isBookkeeping(user); });
}

namespace {
struct OverlapCollectives : gpucc::impl::OverlapCollectivesBase<OverlapCollectives> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      overlap(function.getBody().front());
  }

  void overlap(Block &block) {
    SmallVector<Operation *> collectives;
    for (Operation &op : block)
      if (isa<dist::CollectiveOpInterface>(op) && isMemoryEffectFree(&op))
        collectives.push_back(&op);
    llvm::SetVector<Operation *> sinking;
    SmallVector<Operation *> moved;
    for (Operation *op : collectives) {
      hoist(op);
      auto waiting = dependents(op);
      if (!movesTogether(op, waiting))
        continue;
      sinking.insert_range(waiting);
      moved.push_back(op);
    }
    // All that waits goes to the end, in the order it had.
    SmallVector<Operation *> order;
    for (Operation &op : block)
      if (sinking.contains(&op))
        order.push_back(&op);
    for (Operation *op : order)
      op->moveBefore(block.getTerminator());
    for (Operation *op : moved)
      if (hasWorkBehind(op)) {
        op->setAttr(dist::asyncAttr, UnitAttr::get(&getContext()));
        ++numOverlapped;
      }
  }

  /// Something other than collectives stands between the op and its first use.
  static bool hasWorkBehind(Operation *op) {
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      if (llvm::is_contained(op->getUsers(), next))
        return false;
      if (auto cost = dyn_cast<CostOpInterface>(next);
          cost && cost.getFacts().matrixFlops + cost.getFacts().aluFlops > 0)
        return true;
    }
    return false;
  }
};
} // namespace
