//===- VerifyPhaseDist.cpp - what the dist phase promises -----------------===//
//
// After this phase nobody knows of global tensors any more, but by the sharding
// that arguments and results keep for the plan. An op that was left global would
// be compiled as if its type were a rank's, and compute nonsense.
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Base.h"
#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_VERIFYPHASEDIST
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

static LogicalResult leftOver(Operation *op, const Twine &what, StringRef pass) {
  InFlightDiagnostic error = op->emitOpError() << what;
  error.attachNote() << pass << " should have removed it";
  return error;
}

/// The dimensions before `dim` are one: blocks lie one behind the other.
static bool isOutermost(Type type, int64_t dim) {
  return llvm::all_of(cast<RankedTensorType>(type).getShape().take_front(dim),
                      [](int64_t d) { return d == 1; });
}

static LogicalResult checkOp(Operation *op) {
  if (isa<dist::ReshardOp>(op))
    return leftOver(op, "is between global values; a rank's program has collectives",
                    "gpucc-partition");
  if (isa<dist::ConstraintOp>(op))
    return leftOver(op, "is a pin; pins end with propagation", "gpucc-propagate");
  if (!isa<func::FuncOp>(op) && op->hasAttr(dist::shardingAttr))
    return leftOver(op, "has a sharding: its types are global", "gpucc-partition");
  if (auto reduce = dyn_cast<dist::AllReduceOp>(op); reduce && reduce.getChannel())
    return leftOver(op, "reduces between stages; communicators join two of them",
                    "gpucc-lower-stage-reductions");
  bool fine = true;
  if (auto gather = dyn_cast<dist::AllGatherOp>(op))
    fine = isOutermost(gather.getX().getType(), gather.getDim());
  else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op))
    fine = isOutermost(scatter.getX().getType(), scatter.getDim());
  else if (auto all = dyn_cast<dist::AllToAllOp>(op))
    fine = isOutermost(all.getX().getType(), all.getSplit()) &&
           isOutermost(all.getResult().getType(), all.getConcat());
  return fine ? success()
              : leftOver(op, "joins or splits blocks along an inner dimension",
                         "gpucc-prepare-collectives");
}

namespace {
/// Values that functions hand to each other, by key.
class SavedValues {
public:
  void add(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto key = function.getResultAttrOfType<IntegerAttr>(i, dist::savedAttr))
        saved[key.getInt()] = {function, function.getResultTypes()[i]};
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto key = function.getArgAttrOfType<IntegerAttr>(i, dist::savedAttr))
        readers.push_back({key.getInt(), function, function.getArgumentTypes()[i]});
  }
  LogicalResult check() const {
    for (const auto &[key, function, type] : readers) {
      auto it = saved.find(key);
      if (it != saved.end() && it->second.second == type)
        continue;
      InFlightDiagnostic error = func::FuncOp(function).emitOpError()
                                 << "reads saved value " << key << " of type " << type
                                 << ", which no function saves as such";
      error.attachNote()
          << "gpucc-cut-stages gives the result that saves and the argument that reads "
             "one key and one type";
      return error;
    }
    return success();
  }

private:
  std::map<int64_t, std::pair<func::FuncOp, Type>> saved;
  std::vector<std::tuple<int64_t, func::FuncOp, Type>> readers;
};
} // namespace

static LogicalResult checkScripts(ModuleOp module) {
  auto scripts = module->getAttrOfType<ArrayAttr>(dist::scriptsAttr);
  if (!scripts)
    return success();
  SymbolTable symbols(module);
  for (auto [stage, script] : llvm::enumerate(scripts))
    for (Attribute step : cast<ArrayAttr>(script)) {
      auto name = cast<dist::ActionAttr>(step).getFunction();
      auto function = symbols.lookup<func::FuncOp>(name.getValue());
      auto own = function ? function->getAttrOfType<IntegerAttr>(dist::stageAttr) : IntegerAttr();
      if (!own || own.getInt() != static_cast<int64_t>(stage))
        return module.emitError()
               << "the script of stage " << stage << " runs " << name
               << ", which is no function of that stage; gpucc-cut-stages writes "
                  "scripts and functions together";
    }
  return success();
}

namespace {
struct VerifyPhaseDist : gpucc::impl::VerifyPhaseDistBase<VerifyPhaseDist> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SavedValues saved;
    WalkResult outcome = getOperation().walk([&](Operation *op) {
      ++numChecked;
      if (auto function = dyn_cast<func::FuncOp>(op))
        saved.add(function);
      return succeeded(checkOp(op)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (outcome.wasInterrupted() || failed(saved.check()) || failed(checkScripts(getOperation())))
      signalPassFailure();
  }
};
} // namespace
