//===- NumberSamples.cpp - random numbers differ between micro-batches ----===//
//
// A random op draws its numbers from (step, global index of the element). One
// execution of the function sees one micro-batch, so the first sample of its
// block is number `micro * size of dimension 0` within the step:
//
//   before  graph.dropout %x, %step, %zero, %zero            (tensor<8x16xf32>)
//   after   graph.dropout %x, %step, %micro * 8, %zero
//
// Hence the numbers of a step do not depend on how the batch is split, and a
// repetition (recompute) draws the same ones.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Training/Passes.h"

#include "Ports.h"
#include "dialects/Graph/Build.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

namespace gpucc {
#define GEN_PASS_DEF_NUMBERSAMPLES
#include "lib/Transforms/Training/Passes.h.inc"
} // namespace gpucc

namespace {

/// Adds `micro * size` to the offset of dimension 0. False for scalars, which have no dimension.
template <typename Op> bool shiftOffset(Op op, Value micro) {
  MutableOperandRange offsets = op.getOffsetsMutable();
  if (offsets.empty())
    return false;
  OpBuilder builder(op);
  graph::GraphBuilder g(builder, op.getLoc());
  int64_t size = cast<RankedTensorType>(op.getResult().getType()).getDimSize(0);
  Value first = offsets[0].get();
  Value shift = g.mul(micro, g.scalarI64(size));
  offsets[0].set(graph::isZero(first) ? shift : g.add(first, shift));
  return true;
}

struct NumberSamplesPass : gpucc::impl::NumberSamplesBase<NumberSamplesPass> {
  using NumberSamplesBase::NumberSamplesBase;
  void runOnOperation() override {
    auto f = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!f)
      return;
    SmallVector<Operation *> random;
    f.walk([&](Operation *op) {
      if (isa<graph::DropoutOp, graph::RngUniformOp>(op))
        random.push_back(op);
    });
    if (random.empty())
      return;
    auto i64 = RankedTensorType::get({}, Builder(f.getContext()).getI64Type());
    State micro = getState(f, "micro", i64,
                           base::StateAttr::get(f.getContext(), base::StateRole::Counter, "", true,
                                                ArrayRef<int64_t>()));
    for (Operation *op : random) {
      auto dropout = dyn_cast<graph::DropoutOp>(op);
      numShifted += dropout ? shiftOffset(dropout, micro.value)
                            : shiftOffset(cast<graph::RngUniformOp>(op), micro.value);
    }
  }
};

} // namespace
