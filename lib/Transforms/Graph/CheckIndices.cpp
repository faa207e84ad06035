//===- CheckIndices.cpp - known indices lie inside what they pick from ----===//
//
// Positions are often computed: a table of 128 positions and --profile seq=130 pick row 128, which
// is not there. graph.gather would read the nearest row, and every target with it.
//
//   error: index 128 (element [0, 128] of the indices) is outside dimension 0, which has 128
//          entries; allowed are -128 to 127
//
// A round of a Loop or a branch of an If that a condition at run time may turn off is computed all
// the same; its indices are not looked at.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Conditional.h"
#include "gpucc/Transforms/Graph/Passes.h"
#include "lib/Transforms/Graph/ConstantExpressions.h"

namespace gpucc {
#define GEN_PASS_DEF_CHECKINDICES
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

/// "[0, 128]": where the row-major `element` of `shape` lies.
static std::string placeIn(ArrayRef<int64_t> shape, int64_t element) {
  SmallVector<std::string> place(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d])
    place[d] = std::to_string(element % shape[d]);
  return "[" + llvm::join(place, ", ") + "]";
}

static LogicalResult checkIndices(GatherOp op) {
  if (op->removeAttr(conditionalAttr)) // what it gives may not count
    return success();
  std::optional<HostTensor> indices = graph_passes::evaluateExpression(op.getIndices());
  if (!indices)
    return success();
  auto dim = static_cast<int64_t>(op.getDim());
  int64_t size = cast<RankedTensorType>(op.getData().getType()).getDimSize(dim);
  for (int64_t i = 0, n = indices->numElements(); i < n; ++i) {
    int64_t index = indices->getInt(i);
    if (index >= -size && index < size)
      continue;
    auto diag = op.emitError();
    diag << "index " << index << " (element "
         << placeIn(cast<RankedTensorType>(op.getIndices().getType()).getShape(), i)
         << " of the indices) is outside dimension " << dim << ", which has " << size
         << " entries; allowed are " << -size << " to " << size - 1;
    auto weight = op.getData().getDefiningOp<WeightOp>();
    diag.attachNote() << "these indices are known while compiling"
                      << (weight ? (" and pick from '" + weight.getKey() + "'").str() : "")
                      << "; if they are positions, choose a smaller --profile, else mend the model";
    return diag;
  }
  return success();
}

namespace {
struct CheckIndicesPass : gpucc::impl::CheckIndicesBase<CheckIndicesPass> {
  using CheckIndicesBase::CheckIndicesBase;

  void runOnOperation() override {
    WalkResult outcome = getOperation().walk([&](GatherOp op) {
      ++numChecked;
      return succeeded(checkIndices(op)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (outcome.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
