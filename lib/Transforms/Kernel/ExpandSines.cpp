//===- ExpandSines.cpp - sine, cosine and tangent with a branch -----------===//
//
// Behind the lowering to loops or threads, where a value is one thread's scalar
// or one loop's vector: a branch for all lanes costs little, and what is behind
// it may be slow.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Kernel/Passes.h"
#include "lib/Transforms/Kernel/ScalarMath.h"

namespace gpucc {
#define GEN_PASS_DEF_EXPANDSINES
#include "lib/Transforms/Kernel/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
struct ExpandSines : gpucc::impl::ExpandSinesBase<ExpandSines> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<math::SinOp, math::CosOp, math::TanOp>(op) &&
          getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        ops.push_back(op);
    });
    Angles angles;
    for (Operation *op : ops)
      expand(op, angles);
  }

private:
  using Angles = llvm::DenseMap<std::pair<Block *, Value>, ScalarMath::Angle>;

  void expand(Operation *op, Angles &angles) {
    OpBuilder b(op);
    ScalarMath math(b, op->getLoc(), op->getResult(0).getType());
    Value x = op->getOperand(0);
    // Sine and cosine of one value share the reduction; the first of a block stands before the
    // rest.
    auto [entry, isNew] = angles.try_emplace({op->getBlock(), x});
    if (isNew) {
      entry->second = math.angle(x);
      ++numReduced;
    }
    ScalarMath::Angle angle = entry->second;
    Value y = isa<math::SinOp>(op)   ? math.sin(angle)
              : isa<math::CosOp>(op) ? math.cos(angle)
                                     : math.tan(angle);
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
  }
};
} // namespace
