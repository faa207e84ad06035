//===- FoldConstants.cpp - evaluates ops on constants ---------------------===//
#include "gpucc/Transforms/Graph/Passes.h"
#include "lib/Transforms/Graph/ConstantExpressions.h"

namespace gpucc {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

/// Operands may be larger than results (a slice of a table), but not without bound.
static constexpr int64_t operandFactor = 64;
/// A table that is repeated stays small: its broadcast is evaluated only up to this size.
static constexpr int64_t maxRepeatedElements = 64;

static bool foldable(Operation *op, int64_t maxElements) {
  if (!isa<EvaluateOpInterface>(op) || op->getNumRegions() ||
      isa<ConstantOp, WeightOp, RngUniformOp, DropoutOp>(op))
    return false;
  if (isa<BroadcastOp>(op) &&
      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements() > maxRepeatedElements)
    return false;
  for (Type type : op->getResultTypes())
    if (cast<RankedTensorType>(type).getNumElements() > maxElements)
      return false;
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<ConstantOp>() ||
        cast<RankedTensorType>(operand.getType()).getNumElements() > maxElements * operandFactor)
      return false;
  return true;
}

static bool foldByEvaluation(Operation *op) {
  SmallVector<HostTensor> operands;
  for (Value operand : op->getOperands()) {
    auto tensor = toHostTensor(operand.getDefiningOp<ConstantOp>().getValue());
    if (!tensor)
      return false;
    operands.push_back(*tensor);
  }
  auto results = graph_passes::evaluateOp(op, operands);
  if (!results)
    return false;
  OpBuilder builder(op);
  for (auto [result, value] : llvm::zip(op->getResults(), *results))
    result.replaceAllUsesWith(
        ConstantOp::create(builder, op->getLoc(), toElementsAttr(op->getContext(), value)));
  return true;
}

/// Broadcast and reshape of a splat are the splat in another shape, whatever their size.
static bool foldSplat(Operation *op) {
  if (!isa<BroadcastOp, ReshapeOp>(op))
    return false;
  auto constant = op->getOperand(0).getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!splat || type.getNumElements() == 0 || splat.getNumElements() == 0)
    return false;
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(
      ConstantOp::create(builder, op->getLoc(), splat.resizeSplat(type)));
  return true;
}

/// A pointwise op on splats is a splat, whatever its size: one element is evaluated.
static bool foldPointwiseSplat(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumOperands() == 0 ||
      op->getNumResults() != 1)
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  OpBuilder builder(op);
  SmallVector<Operation *> temporary;
  bool splats =
      type.getNumElements() > 0 && llvm::all_of(op->getOperands(), [&](Value operand) {
        auto constant = operand.getDefiningOp<ConstantOp>();
        auto splat =
            constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
        if (!splat)
          return false;
        auto one = RankedTensorType::get({}, splat.getElementType());
        temporary.push_back(ConstantOp::create(builder, op->getLoc(), splat.resizeSplat(one)));
        return true;
      });
  bool folded = false;
  if (splats) {
    Operation *scalar = builder.clone(*op);
    for (auto [operand, constant] : llvm::zip(scalar->getOpOperands(), temporary))
      operand.set(constant->getResult(0));
    scalar->getResult(0).setType(RankedTensorType::get({}, type.getElementType()));
    if (foldByEvaluation(scalar)) {
      auto last = cast<ConstantOp>(scalar->getPrevNode());
      Value value = ConstantOp::create(builder, op->getLoc(),
                                       cast<DenseElementsAttr>(last.getValue()).resizeSplat(type));
      op->getResult(0).replaceAllUsesWith(value);
      folded = true;
      temporary.push_back(last);
    }
    temporary.push_back(scalar);
  }
  for (Operation *t : llvm::reverse(temporary))
    t->erase();
  return folded;
}

namespace {
struct FoldConstantsPass : gpucc::impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;

  /// One walk in order suffices: operands come before their users.
  void runOnOperation() override {
    SmallVector<Operation *> dead;
    getOperation().walk([&](Operation *op) {
      if (op->getParentOp() != getOperation())
        return; // clusters are finished
      if (foldSplat(op) || foldPointwiseSplat(op) ||
          (foldable(op, maxElements) && foldByEvaluation(op))) {
        ++numFolded;
        dead.push_back(op);
      }
    });
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    getOperation().walk([](ConstantOp op) {
      if (op->use_empty())
        op->erase();
    });
  }
};
} // namespace
