//===- VerifyPhasePlan.cpp - what the plan phase promises -----------------===//
//
// See plan::verifyModule (dialects/Plan/VerifyModule.cpp), which the writer of
// plan files calls too: IR may come to it from elsewhere.
//
//===----------------------------------------------------------------------===//
#include "dialects/Sched/Sched.h"
#include "gpucc/Conversion/SchedToPlan/Passes.h"

using namespace mlir;
using namespace gpucc;

namespace gpucc {
#define GEN_PASS_DEF_VERIFYPHASEPLAN
#include "lib/Conversion/SchedToPlan/Passes.h.inc"
} // namespace gpucc

namespace {
struct VerifyPhasePlanPass : gpucc::impl::VerifyPhasePlanBase<VerifyPhasePlanPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto program : getOperation().getOps<sched::ProgramOp>()) {
      program.emitOpError("is left in the plan phase").attachNote()
          << "gpucc-sched-to-plan gives its buffers addresses";
      return signalPassFailure();
    }
    if (failed(plan::verifyModule(getOperation())))
      signalPassFailure();
  }
};
} // namespace
