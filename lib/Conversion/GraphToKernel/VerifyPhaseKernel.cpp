//===- VerifyPhaseKernel.cpp - what the kernel phase promises -------------===//
//
// kernel.launch says by its operands and results which views a kernel reads and
// which it writes, and everything later (lifetimes, streams, events) believes it.
// A kernel that stores into a view which its launch calls an input would be a
// race that no later phase can see.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/OutsideKernels.h"
#include "gpucc/Conversion/GraphToKernel/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_VERIFYPHASEKERNEL
#include "lib/Conversion/GraphToKernel/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

static LogicalResult checkBody(Operation *op) {
  bool isDist = op->getDialect() && op->getDialect()->getNamespace() == "dist";
  if (isDist || graph::isOutsideKernels(op) || isa<kernel::LaunchOp, func::ReturnOp>(op))
    return success();
  auto cluster = dyn_cast<graph::ClusterOp>(op);
  if (cluster && cluster.getKind() == graph::ClusterKind::Library)
    return success();
  InFlightDiagnostic error = op->emitOpError() << "is left after kernels were outlined";
  error.attachNote() << (isa<graph::ClusterOp>(op)
                             ? "gpucc-outline-kernels should have made a kernel of it"
                             : "gpucc-fuse should have put it into a cluster");
  return error;
}

/// Something in the kernel writes into the view.
static bool isStoredTo(BlockArgument view) {
  return llvm::any_of(view.getUses(), [&](OpOperand &use) {
    auto store = dyn_cast<kernel::StoreOp>(use.getOwner());
    return store && store.getDest() == view;
  });
}

/// One launch calls views inputs that another one calls outputs: each is asked.
static LogicalResult checkLaunch(kernel::FuncOp kernel, kernel::LaunchOp launch) {
  size_t inputs = launch.getInputs().size();
  for (BlockArgument view : kernel.getBody().getArguments()) {
    bool isOutput = view.getArgNumber() >= inputs, stored = isStoredTo(view);
    if (stored == isOutput)
      continue;
    InFlightDiagnostic error = kernel.emitOpError()
                               << (stored ? "writes" : "never writes") << " view "
                               << view.getArgNumber() << ", which is an "
                               << (isOutput ? "output" : "input") << " of its launch";
    error.attachNote(launch.getLoc()) << "launched here; inputs come first and are read only, "
                                         "outputs are written";
    return error;
  }
  return success();
}

static LogicalResult checkKernel(kernel::FuncOp kernel, ArrayRef<kernel::LaunchOp> launches) {
  if (launches.empty()) {
    InFlightDiagnostic error = kernel.emitOpError() << "is launched nowhere";
    error.attachNote()
        << "gpucc-outline-kernels makes a kernel with its first launch; drop what is "
           "not needed";
    return error;
  }
  for (kernel::LaunchOp launch : launches)
    if (failed(checkLaunch(kernel, launch)))
      return failure();
  return success();
}

namespace {
struct VerifyPhaseKernelPass : gpucc::impl::VerifyPhaseKernelBase<VerifyPhaseKernelPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    llvm::StringMap<SmallVector<kernel::LaunchOp>> launches;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        for (Operation &op : block) {
          ++numChecked;
          if (failed(checkBody(&op)))
            return signalPassFailure();
          if (auto launch = dyn_cast<kernel::LaunchOp>(op))
            launches[launch.getKernel()].push_back(launch);
        }
    for (auto kernel : getOperation().getOps<kernel::FuncOp>()) {
      ++numChecked;
      if (failed(checkKernel(kernel, launches[kernel.getName()])))
        return signalPassFailure();
    }
  }
};
} // namespace
