//===- LowerStageReductions.cpp - sums over stages by messages ------------===//
//
// Communicators of a plan join ranks of one stage, or of two. A sum over the
// axis "pp" becomes messages between each pair of stages and adds in the order of
// the stages, so that all of them get the same bits:
//
//   %n = all_reduce sum %x over ["pp"] channel 4     (stage 1 of 3)
//     ->
//   send %x to 0 channel 4;  send %x to 2 channel 4
//   %x0 = recv from 0 channel 4;  %x2 = recv from 2 channel 4
//   %n = (%x0 + %x) + %x2
//
// They are few: scalars, and the gradient of a weight that stages share.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_LOWERSTAGEREDUCTIONS
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

static std::optional<graph::BinaryKind> combinerOf(dist::Combiner combiner) {
  switch (combiner) {
  case dist::Combiner::Sum:
    return graph::BinaryKind::Add;
  case dist::Combiner::Max:
    return graph::BinaryKind::Max;
  case dist::Combiner::Min:
    return graph::BinaryKind::Min;
  case dist::Combiner::Prod:
    return graph::BinaryKind::Mul;
  case dist::Combiner::And:
    return graph::BinaryKind::And;
  case dist::Combiner::Or:
    return graph::BinaryKind::Or;
  }
  return std::nullopt;
}

static void lower(dist::AllReduceOp op, int64_t own, ArrayRef<int64_t> stages) {
  OpBuilder builder(op);
  int64_t channel = *op.getChannel();
  for (int64_t stage : stages)
    if (stage != own)
      dist::SendOp::create(builder, op.getLoc(), op.getX(), stage, channel);
  Value sum;
  for (int64_t stage : stages) {
    Value part = op.getX();
    if (stage != own)
      part = dist::RecvOp::create(builder, op.getLoc(), op.getType(), stage, channel);
    sum = sum ? graph::BinaryOp::create(builder, op.getLoc(), *combinerOf(op.getCombiner()), sum,
                                        part)
                    .getResult()
              : part;
  }
  op.getResult().replaceAllUsesWith(sum);
  op.erase();
}

namespace {
struct LowerStageReductions : gpucc::impl::LowerStageReductionsBase<LowerStageReductions> {
  void runOnOperation() override {
    dist::MeshOp mesh = dist::getMesh(getOperation());
    if (!mesh)
      return;
    SmallVector<int64_t> all;
    for (int64_t s = 0; s < mesh.getMesh().toMesh().axisSize(dist::stageAxis.str()); ++s)
      all.push_back(s);
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      auto own = function->getAttrOfType<IntegerAttr>(dist::stageAttr);
      SmallVector<dist::AllReduceOp> reductions;
      function.walk([&](dist::AllReduceOp op) {
        if (op.getChannel() && op.getAxes().size() == 1)
          reductions.push_back(op);
      });
      for (dist::AllReduceOp op : reductions) {
        if (!own) {
          op.emitError("spans the pipeline stages, but its function has no 'dist.stage'")
                  .attachNote()
              << "gpucc-cut-stages makes functions of stages";
          return signalPassFailure();
        }
        lower(op, own.getInt(), op.getStages() ? *op.getStages() : ArrayRef<int64_t>(all));
        ++numLowered;
      }
    }
  }
};
} // namespace
