//===- VerifyPhaseDist.cpp - what the dist phase promises -----------------===//
//
// After this phase nobody knows of global tensors any more, but by the sharding
// that arguments and results keep for the plan. An op that was left global would
// be compiled as if its type were a rank's, and compute nonsense.
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Base.h"
#include "dialects/Dist/DistScripts.h"
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
/// Values that functions of one stage, under one profile, hand to each other, by key.
class SavedValues {
public:
  LogicalResult add(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto key = function.getArgAttrOfType<IntegerAttr>(i, dist::savedAttr))
        readers.push_back({key.getInt(), function, function.getArgumentTypes()[i]});
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto number = function.getResultAttrOfType<IntegerAttr>(i, dist::savedAttr);
      if (!number)
        continue;
      auto [it, isNew] = saved.try_emplace(keyOf(function, number.getInt()), function,
                                           function.getResultTypes()[i]);
      if (isNew)
        continue;
      InFlightDiagnostic error = function.emitOpError()
                                 << "saves value " << number.getInt() << " a second time";
      error.attachNote(it->second.first.getLoc())
          << "the first one is saved here; gpucc-cut-stages numbers each value that a stage saves";
      return error;
    }
    return success();
  }
  LogicalResult check() const {
    for (const auto &[key, function, type] : readers) {
      auto it = saved.find(keyOf(function, key));
      if (it != saved.end() && it->second.second == type)
        continue;
      InFlightDiagnostic error = func::FuncOp(function).emitOpError()
                                 << "reads saved value " << key << " of type " << type
                                 << ", which no function of its stage saves as such";
      error.attachNote()
          << "gpucc-cut-stages gives the result that saves and the argument that reads "
             "one key and one type";
      return error;
    }
    return success();
  }

private:
  /// Stage, profile and number of a saved value: memory is of one stage.
  using Key = std::tuple<int64_t, const void *, int64_t>;
  static Key keyOf(func::FuncOp function, int64_t number) {
    auto stage = function->getAttrOfType<IntegerAttr>(dist::stageAttr);
    return {stage ? stage.getInt() : 0, function->getAttr(base::profileAttr).getAsOpaquePointer(),
            number};
  }

  std::map<Key, std::pair<func::FuncOp, Type>> saved;
  std::vector<std::tuple<int64_t, func::FuncOp, Type>> readers;
};
} // namespace

namespace {
struct VerifyPhaseDist : gpucc::impl::VerifyPhaseDistBase<VerifyPhaseDist> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SavedValues saved;
    WalkResult outcome = getOperation().walk([&](Operation *op) {
      ++numChecked;
      auto function = dyn_cast<func::FuncOp>(op);
      bool fine = succeeded(checkOp(op)) && (!function || succeeded(saved.add(function)));
      return fine ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (outcome.wasInterrupted() || failed(saved.check()) ||
        failed(dist::verifyScripts(getOperation())))
      signalPassFailure();
  }
};
} // namespace
