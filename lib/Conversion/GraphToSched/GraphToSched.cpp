//===- GraphToSched.cpp - from tensors to buffers and commands ------------===//
//
// The driver: groups functions into programs (one per stage and profile) and
// writes each program's scripts. See SegmentBuilder.h for how a function
// becomes a segment.
//
//   @step, @update (one stage)        -> @stage0: segments step, update
//   @stage0_forward … @stage1_update  -> @stage0, @stage1
//   @main_p0, @main_p1 (profiles)     -> @stage0_p0, @stage0_p1
//
// Scripts: "main" runs everything; with training also "accumulate" (all but
// update) and "apply" (update only), so that gradients can be read between the two.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/GraphToSched/Passes.h"

#include "SegmentBuilder.h"
#include "dialects/Base/ModuleAttrs.h"
#include "dialects/Dist/DistScripts.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

namespace gpucc {
#define GEN_PASS_DEF_GRAPHTOSCHED
#include "lib/Conversion/GraphToSched/Passes.h.inc"
} // namespace gpucc

namespace {

/// Functions of one stage under one profile, in the order of the module.
struct Group {
  int64_t stage = 0;
  base::ProfileAttr profile;
  SmallVector<func::FuncOp> functions;
};

SmallVector<Group> groupFunctions(ModuleOp module) {
  SmallVector<Group> groups;
  for (auto f : module.getOps<func::FuncOp>()) {
    if (f.isExternal())
      continue;
    auto stageAttr = f->getAttrOfType<IntegerAttr>(dist::stageAttr);
    int64_t stage = stageAttr ? stageAttr.getInt() : 0;
    auto profile = f->getAttrOfType<base::ProfileAttr>(base::profileAttr);
    auto it =
        llvm::find_if(groups, [&](Group &g) { return g.stage == stage && g.profile == profile; });
    if (it == groups.end()) {
      groups.push_back({stage, profile, {}});
      it = std::prev(groups.end());
    }
    it->functions.push_back(f);
  }
  return groups;
}

/// "step" of @stage0_step: what the function is for.
StringRef segmentName(func::FuncOp f) {
  auto segment = f->getAttrOfType<StringAttr>(base::segmentAttr);
  return segment ? segment.getValue() : "main";
}

int64_t moduleCount(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 1;
}

/// (segment, slot) in order.
using Steps = SmallVector<std::pair<std::string, int64_t>>;

/// The order that a schedule pass left on the module for this stage, else one function after the
/// other per micro-batch, then update.
Steps stepsOf(ModuleOp module, const Group &group, int64_t slots) {
  Steps steps;
  if (auto scripts = module->getAttrOfType<ArrayAttr>(dist::scriptsAttr)) {
    SymbolTable symbols(module);
    for (Attribute a : cast<ArrayAttr>(scripts[group.stage])) {
      auto action = cast<dist::ActionAttr>(a);
      auto f = symbols.lookup<func::FuncOp>(action.getFunction().getValue());
      steps.push_back({segmentName(f).str(), action.getMicroBatch()});
    }
    return steps;
  }
  for (int64_t slot = 0; slot < slots; ++slot)
    for (func::FuncOp f : group.functions)
      if (segmentName(f) != "update")
        steps.push_back({segmentName(f).str(), slot});
  for (func::FuncOp f : group.functions)
    if (segmentName(f) == "update")
      steps.push_back({"update", 0});
  return steps;
}

void addScript(OpBuilder &b, Location loc, StringRef name, const Steps &steps,
               function_ref<bool(StringRef)> keep) {
  SmallVector<Attribute> segments;
  SmallVector<int64_t> slots;
  for (auto &[segment, slot] : steps) {
    if (!keep(segment))
      continue;
    segments.push_back(FlatSymbolRefAttr::get(b.getContext(), segment));
    slots.push_back(slot);
  }
  ScriptOp::create(b, loc, name, b.getArrayAttr(segments), b.getDenseI64ArrayAttr(slots));
}

void addScripts(ProgramBuilder &program, Location loc, const Steps &steps) {
  OpBuilder &b = program.atEnd();
  addScript(b, loc, "main", steps, [](StringRef) { return true; });
  if (llvm::none_of(steps, [](const auto &s) { return s.first == "update"; }))
    return;
  addScript(b, loc, "accumulate", steps, [](StringRef s) { return s != "update"; });
  addScript(b, loc, "apply", steps, [](StringRef s) { return s == "update"; });
}

struct GraphToSchedPass : gpucc::impl::GraphToSchedBase<GraphToSchedPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(dist::verifyScripts(module)))
      return signalPassFailure();
    Mesh mesh;
    if (dist::MeshOp op = dist::getMesh(module))
      mesh = op.getMesh().toMesh();
    // The axis "pp" counts stages; a stage's ranks lie on the others.
    llvm::erase_if(mesh.axes, [](const MeshAxis &a) { return a.name == dist::stageAxis; });
    int64_t slots =
        moduleCount(module, base::microBatchesAttr) * moduleCount(module, base::accumulateAttr);
    SmallVector<func::FuncOp> done;
    for (Group &group : groupFunctions(module)) {
      std::string name = "stage" + std::to_string(group.stage);
      if (group.profile)
        name += "_" + group.profile.getName().str();
      auto inFlight = module->getAttrOfType<ArrayAttr>(dist::slotsAttr);
      ProgramBuilder program(module, name, group.stage, mesh, group.profile, slots,
                             inFlight ? cast<IntegerAttr>(inFlight[group.stage]).getInt() : slots);
      SegmentStatistics statistics;
      for (func::FuncOp f : group.functions) {
        if (failed(buildSegment(program, f, segmentName(f), statistics)))
          return signalPassFailure();
        done.push_back(f);
      }
      addScripts(program, module.getLoc(), stepsOf(module, group, slots));
      numCommands += statistics.commands;
      numInPlace += statistics.inPlace;
      numCopies += statistics.copies;
    }
    for (func::FuncOp f : done)
      f.erase();
  }
};

} // namespace
