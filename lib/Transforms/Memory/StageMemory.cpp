//===- StageMemory.cpp - what a rank holds beside a step's values ---------===//
#include "StageMemory.h"
#include "dialects/Base/ModuleAttrs.h"

#include "dialects/Dist/Dist.h"

#include <map>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

std::string StepUnit::name() const {
  func::FuncOp first = function, second = backward;
  std::string text = "@" + first.getSymName().str();
  return second ? text + " + @" + second.getSymName().str() : text;
}

static int64_t moduleCount(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 1;
}

static int64_t rounded(int64_t bytes) { return std::max<int64_t>(1, (bytes + 255) / 256) * 256; }

namespace {
/// Bytes by what they hold: the same state, input or constant of several functions is one.
class Persistent {
public:
  explicit Persistent(ModuleOp module)
      : batch(module->getAttrOfType<StringAttr>(base::batchAttr)),
        slots(moduleCount(module, base::microBatchesAttr) * moduleCount(module, base::accumulateAttr)) {}

  void add(func::FuncOp f) {
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      addPort(f.getArgAttrDict(i), f.getArgumentTypes()[i], "input");
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      addPort(f.getResultAttrDict(i), f.getResultTypes()[i], "output");
    for (Operation &op : f.getBody().front()) {
      if (auto constant = dyn_cast<graph::ConstantOp>(op))
        constants[constant.getValueAttr()] = rounded(plainBytes(constant.getType()));
      if (op.getName().getStringRef() == "dist.axis_index")
        constants[op.getAttrDictionary()] = rounded(8);
    }
  }

  int64_t bytes() const {
    int64_t sum = 0;
    for (auto &[key, size] : storage)
      sum += size;
    for (auto &[value, size] : constants)
      sum += size;
    return sum;
  }

private:
  /// Each micro-batch of a step has inputs and outputs of its own.
  void addPort(DictionaryAttr attrs, Type type, StringRef direction) {
    if (!attrs || attrs.contains(dist::savedAttr))
      return;
    auto name = attrs.getAs<StringAttr>(base::nameAttr);
    auto kind = attrs.getAs<StringAttr>(base::kindAttr);
    bool state = kind && kind.getValue() == "state", metric = kind && kind.getValue() == "metric";
    auto dims = attrs.getAs<ArrayAttr>(base::dimsAttr);
    bool batched = cast<RankedTensorType>(type).getRank() > 0 &&
                   (!batch || (kind && kind.getValue() == "label") ||
                    (dims && !dims.empty() && dims[0] == batch));
    std::string key = (state ? "state" : direction).str() + ":" + (name ? name.str() : "");
    storage[key] = rounded(plainBytes(type)) * (state || metric || !batched ? 1 : slots);
  }

  StringAttr batch;
  int64_t slots;
  std::map<std::string, int64_t> storage;
  llvm::DenseMap<Attribute, int64_t> constants;
};
} // namespace

/// Peak of the arena of a function that nothing can be recomputed in.
static int64_t peakOf(func::FuncOp f) {
  solvers::OrderProblem problem = FunctionMemory(f).orderProblem();
  solvers::OrderOptions quick;
  quick.stepBudget = 2000;
  quick.beamWidth = 4;
  for (int i = 0; i < problem.numOps; ++i)
    quick.start.push_back(i);
  return solvers::solveOrder(problem, quick).peak;
}

static StringRef segmentOf(func::FuncOp f) {
  auto segment = f->getAttrOfType<StringAttr>(base::segmentAttr);
  return segment ? segment.getValue() : "";
}

/// The backward function that belongs to a forward one; null when there is none.
static func::FuncOp partnerOf(func::FuncOp forward, ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp f : functions)
    if (segmentOf(f) == "backward" &&
        f->getAttr(base::profileAttr) == forward->getAttr(base::profileAttr))
      return f;
  return {};
}

static StepUnit makeUnit(func::FuncOp f, func::FuncOp backward, int64_t inFlight) {
  StepUnit unit{f, backward, nullptr, nullptr};
  if (!backward) {
    unit.problem = std::make_unique<RecomputeProblem>(f);
    return unit;
  }
  unit.stage = std::make_unique<StageStep>(f, backward);
  unit.problem = std::make_unique<RecomputeProblem>(
      unit.stage->joined(), StepStorage{inFlight, unit.stage->overwritten()});
  return unit;
}

std::vector<StageMemory> memory::findStages(ModuleOp module) {
  std::map<int64_t, SmallVector<func::FuncOp>> byStage;
  for (auto f : module.getOps<func::FuncOp>())
    if (!f.isExternal()) {
      auto stage = f->getAttrOfType<IntegerAttr>(dist::stageAttr);
      byStage[stage ? stage.getInt() : 0].push_back(f);
    }
  auto slots = module->getAttrOfType<ArrayAttr>(dist::slotsAttr);
  int64_t all = moduleCount(module, base::microBatchesAttr) * moduleCount(module, base::accumulateAttr);
  std::vector<StageMemory> stages;
  for (auto &[number, functions] : byStage) {
    StageMemory stage;
    stage.stage = number;
    Persistent persistent(module);
    for (func::FuncOp f : functions)
      persistent.add(f);
    stage.persistent = persistent.bytes();
    int64_t inFlight =
        slots ? cast<IntegerAttr>(slots[static_cast<unsigned>(number)]).getInt() : all;
    for (func::FuncOp f : functions) {
      bool isForward = segmentOf(f) == "forward";
      func::FuncOp backward = isForward ? partnerOf(f, functions) : func::FuncOp();
      if (segmentOf(f) == "backward")
        continue; // with its forward
      StepUnit unit = makeUnit(f, backward, inFlight);
      if (unit.problem->hasBackward())
        stage.units.push_back(std::move(unit));
      else if (unit.stage)
        unit.stage->discard();
      else
        stage.other = std::max(stage.other, peakOf(f));
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}
