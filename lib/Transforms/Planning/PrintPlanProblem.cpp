//===- PrintPlanProblem.cpp - the planning problem of a module as text ----===//
#include "gpucc/Transforms/Planning/ExtractProblem.h"
#include "gpucc/Transforms/Planning/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_PRINTPLANPROBLEM
#include "lib/Transforms/Planning/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
struct PrintPlanProblem : gpucc::impl::PrintPlanProblemBase<PrintPlanProblem> {
  using PrintPlanProblemBase::PrintPlanProblemBase;

  void runOnOperation() override {
    FailureOr<planner::PlanProblem> problem = extractPlanProblem(getOperation());
    if (failed(problem))
      return signalPassFailure();
    cost::MachineOrError loaded = cost::loadMachine(machine);
    if (std::string *wrong = std::get_if<std::string>(&loaded)) {
      getOperation().emitError() << *wrong;
      return signalPassFailure();
    }
    problem->machine = std::get<cost::Machine>(loaded);
    numOps += static_cast<int64_t>(problem->ops.size());
    llvm::outs() << (json ? planner::toJson(*problem) + "\n" : problem->dump());
    markAllAnalysesPreserved();
  }
};
} // namespace
