//===- Partition.cpp - the passes around PartitionFunction.cpp ------------===//
#include "gpucc/Transforms/Dist/Partition.h"

#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_PARTITION
#define GEN_PASS_DEF_NUMBEROPS
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
struct Partition : gpucc::impl::PartitionBase<Partition> {
  using PartitionBase::PartitionBase;

  void runOnOperation() override {
    dist::MeshOp mesh = dist::getMesh(getOperation());
    if (!mesh) {
      getOperation().emitError("no dist.mesh in the module").attachNote()
          << "gpucc-propagate makes one from its pins";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      FailureOr<func::FuncOp> local =
          partitionFunction(function, mesh, PartitionSettings{keepShardings});
      if (failed(local))
        return signalPassFailure();
      count(*local);
    }
  }

  void count(func::FuncOp local) {
    local.walk([&](Operation *op) {
      if (isa<dist::CollectiveOpInterface>(op))
        ++numCollectives;
      if (isa<graph::SliceOp>(op) && op->getNumOperands() > 1)
        ++numSlices;
    });
  }
};

struct NumberOps : gpucc::impl::NumberOpsBase<NumberOps> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      numberOps(function);
      numOps += static_cast<int64_t>(function.getBody().front().getOperations().size()) - 1;
    }
  }
};
} // namespace
