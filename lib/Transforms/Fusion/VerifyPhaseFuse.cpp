//===- VerifyPhaseFuse.cpp - what the fuse phase promises -----------------===//
//
// What stands outside clusters after fusion must be something that scheduling
// has a command for. A `graph.softmax` left behind would fail two phases later,
// where nobody remembers who should have taken it.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/OutsideKernels.h"
#include "gpucc/Transforms/Fusion/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_VERIFYPHASEFUSE
#include "lib/Transforms/Fusion/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

static bool isDist(Operation *op) {
  return op->getDialect() && op->getDialect()->getNamespace() == "dist";
}

static LogicalResult checkBody(Operation *op) {
  if (isDist(op) || graph::isOutsideKernels(op) || isa<graph::ClusterOp, func::ReturnOp>(op))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "stands outside a cluster after fusion";
  error.attachNote() << (isa_and_present<graph::GraphDialect>(op->getDialect())
                             ? "gpucc-prepare-fusion should have expanded it, or gpucc-fuse taken "
                               "it into a cluster"
                             : "only graph and dist ops belong here");
  return error;
}

static LogicalResult checkCluster(graph::ClusterOp cluster) {
  for (Operation &op : cluster.getBody().front()) {
    if (isa_and_present<graph::GraphDialect>(op.getDialect()) && !isa<graph::ClusterOp>(op))
      continue;
    InFlightDiagnostic error = op.emitOpError() << "stands in a cluster; a kernel is made of graph "
                                                   "ops, one cluster each";
    error.attachNote(cluster.getLoc()) << "gpucc-fuse made this cluster";
    return error;
  }
  return success();
}

namespace {
struct VerifyPhaseFusePass : gpucc::impl::VerifyPhaseFuseBase<VerifyPhaseFusePass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        for (Operation &op : block) {
          ++numChecked;
          auto cluster = dyn_cast<graph::ClusterOp>(op);
          if (failed(checkBody(&op)) || (cluster && failed(checkCluster(cluster))))
            return signalPassFailure();
        }
  }
};
} // namespace
