//===- CutStages.cpp - functions and scripts of pipeline stages -----------===//
#include "CutStages.h"

#include "gpucc/Solvers/Schedules.h"
#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_CUTSTAGES
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
struct CutStages : gpucc::impl::CutStagesBase<CutStages> {
  using CutStagesBase::CutStagesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    dist::MeshOp mesh = dist::getMesh(module);
    int64_t stages = mesh ? mesh.getMesh().toMesh().axisSize(dist::stageAxis.str()) : 1;
    auto kind = solvers::parseGraphScheduleKind(schedule);
    if (!kind || microBatches < 1) {
      module.emitError("schedule '")
          << schedule.getValue() << "' with " << microBatches.getValue()
          << " micro-batches; schedules are 1f1b and gpipe, micro-batches "
             "at least 1";
      return signalPassFailure();
    }
    if (failed(verifyAssigned(module, stages)) || failed(cutFunctions(module, mesh, stages)))
      return signalPassFailure();
    writeScripts(module, solvers::makeSchedule(*kind, static_cast<int>(stages),
                                               static_cast<int>(microBatches)));
  }

  static bool isSegment(func::FuncOp function, StringRef name) {
    auto segment = function->getAttrOfType<StringAttr>(base::segmentAttr);
    return segment && segment.getValue() == name;
  }

  /// Without stages on any op everything would silently run on the first.
  static LogicalResult verifyAssigned(ModuleOp module, int64_t stages) {
    bool assigned = module
                        .walk([](Operation *op) {
                          bool has = !isa<func::FuncOp>(op) && op->hasAttr(dist::stageAttr);
                          return has ? WalkResult::interrupt() : WalkResult::advance();
                        })
                        .wasInterrupted();
    if (stages == 1 || assigned)
      return success();
    InFlightDiagnostic error = module.emitError("the mesh has ")
                               << stages << " pipeline stages, but no op has 'dist.stage'";
    error.attachNote() << "run gpucc-assign-stages on the forward graph, before "
                          "gpucc-differentiate: derivatives take the stage of their op";
    return error;
  }

  /// Steps first: they tell which stage holds which state.
  LogicalResult cutFunctions(ModuleOp module, dist::MeshOp mesh, int64_t stages) {
    StateOwners owners;
    CutStatistics statistics;
    int64_t channel = 0;
    // Cutting erases a function, so they are told apart before.
    SmallVector<func::FuncOp> steps, updates;
    for (auto function : module.getOps<func::FuncOp>())
      (isSegment(function, "update") ? updates : steps).push_back(function);
    for (func::FuncOp function : steps)
      if (failed(cutStep(function, stages, owners, channel, statistics)))
        return failure();
    for (func::FuncOp function : updates)
      if (failed(cutUpdate(function, mesh, stages, owners, channel, statistics)))
        return failure();
    numSends += statistics.sends;
    numSaved += statistics.saved;
    numStageReductions += statistics.stageReductions;
    return success();
  }

  /// Per stage: forward, backward and update of the schedule that exist, in order. A slot is reused
  /// when as many micro-batches are in flight as the schedule ever has there.
  void writeScripts(ModuleOp module, const solvers::PipelineSchedule &plan) {
    MLIRContext *context = &getContext();
    std::vector<int> slots = solvers::microBatchesInFlight(plan);
    SmallVector<Attribute> scripts, slotCounts;
    for (auto [stage, actions] : llvm::enumerate(plan.stages)) {
      SmallVector<Attribute> script;
      auto append = [&](StringRef segment, int64_t microBatch) {
        std::string name = ("stage" + Twine(stage) + "_" + segment).str();
        if (module.lookupSymbol<func::FuncOp>(name))
          script.push_back(dist::ActionAttr::get(context, FlatSymbolRefAttr::get(context, name),
                                                 microBatch, microBatch % slots[stage]));
      };
      for (const solvers::Action &action : actions)
        switch (action.kind) {
        case solvers::ActionKind::Forward:
          append("step", action.microBatch);
          append("forward", action.microBatch);
          break;
        case solvers::ActionKind::Backward:
          append("backward", action.microBatch);
          break;
        case solvers::ActionKind::Update:
          append("update", 0);
          break;
        }
      scripts.push_back(ArrayAttr::get(context, script));
      slotCounts.push_back(Builder(context).getI64IntegerAttr(slots[stage]));
    }
    module->setAttr(dist::scriptsAttr, ArrayAttr::get(context, scripts));
    module->setAttr(dist::slotsAttr, ArrayAttr::get(context, slotCounts));
  }
};
} // namespace
