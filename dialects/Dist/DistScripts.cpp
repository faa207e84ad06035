//===- DistScripts.cpp - what the stages run in a step --------------------===//
//
// dist.scripts and dist.slots have one entry per stage:
//
//   module attributes {dist.scripts = [[#dist.action<@stage0_step, 0, slot = 0>],
//                                      [#dist.action<@stage1_step, 0, slot = 0>]],
//                      dist.slots = [1, 1]}
//
//===----------------------------------------------------------------------===//
#include "dialects/Dist/DistScripts.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::dist;

/// The stage that an op says it belongs to; none where it does not.
static std::optional<int64_t> stageOf(Operation *op) {
  auto stage = op ? op->getAttrOfType<IntegerAttr>(stageAttr) : IntegerAttr();
  return stage ? std::optional(stage.getInt()) : std::nullopt;
}

/// What the mesh says, else the greatest stage of a function.
static int64_t countStages(ModuleOp module) {
  if (MeshOp mesh = getMesh(module))
    return mesh.getMesh().toMesh().axisSize(stageAxis.str());
  int64_t stages = 1;
  for (Operation &op : *module.getBody())
    stages = std::max(stages, stageOf(&op).value_or(0) + 1);
  return stages;
}

static LogicalResult verifyScript(ModuleOp module, const SymbolTable &symbols, int64_t stage,
                                  ArrayAttr script) {
  for (Attribute step : script) {
    FlatSymbolRefAttr name = cast<ActionAttr>(step).getFunction();
    if (stageOf(symbols.lookup(name.getValue())) != stage)
      return module.emitError() << "the script of stage " << stage << " runs " << name
                                << ", which is no function of that stage; gpucc-cut-stages writes "
                                   "scripts and functions together";
  }
  return success();
}

LogicalResult dist::verifyScripts(ModuleOp module) {
  auto scripts = module->getAttrOfType<ArrayAttr>(scriptsAttr);
  auto slots = module->getAttrOfType<ArrayAttr>(slotsAttr);
  if (!scripts && !slots)
    return success();
  int64_t stages = countStages(module);
  for (auto [name, list] : {std::pair(scriptsAttr, scripts), std::pair(slotsAttr, slots)})
    if (list && static_cast<int64_t>(list.size()) != stages)
      return module.emitError() << "'" << name << "' has " << list.size() << " entries for "
                                << stages << " stages; gpucc-cut-stages writes one per stage";
  for (Operation &op : *module.getBody())
    if (std::optional<int64_t> stage = stageOf(&op); stage && *stage >= stages)
      return op.emitOpError() << "is of stage " << *stage << "; the mesh has stages 0 to "
                              << stages - 1;
  if (!scripts)
    return success();
  SymbolTable symbols(module);
  for (auto [stage, script] : llvm::enumerate(scripts))
    if (failed(verifyScript(module, symbols, static_cast<int64_t>(stage), cast<ArrayAttr>(script))))
      return failure();
  return success();
}
