//===- StageMemory.h - what a rank holds beside a step's values -*- C++ -*-===//
//
// The functions of a pipeline stage (the whole module when there is one) run on
// the same ranks and share state, inputs, outputs and one arena:
//
//   state, inputs, outputs, constants     `persistent`
//   arena                                 the step's values, or those of the function
//                                         that needs most (`other`: the update)
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_MEMORY_STAGEMEMORY_H
#define GPUCC_LIB_TRANSFORMS_MEMORY_STAGEMEMORY_H

#include "RecomputeProblem.h"
#include "StageStep.h"
#include "mlir/IR/BuiltinOps.h"

namespace gpucc::memory {

/// A step of one stage: one function, or forward and backward.
struct StepUnit {
  mlir::func::FuncOp function, backward; ///< `backward` is null when it is one function
  std::unique_ptr<StageStep> stage;
  std::unique_ptr<RecomputeProblem> problem;
  std::string name() const;
};

struct StageMemory {
  int64_t stage = 0;
  int64_t persistent = 0, other = 0;
  std::vector<StepUnit> units; ///< one per profile; none when nothing runs backward
  /// Device bytes of a rank when a step is run so.
  int64_t bytesOf(const StepUnit &unit, const Outcome &outcome) const {
    int64_t beside = unit.problem->isStage() ? outcome.crossing : 0;
    return persistent + std::max(outcome.peak, other + beside);
  }
};

/// The stages of a module, in order. Joins forward and backward: split or discard each unit.
std::vector<StageMemory> findStages(mlir::ModuleOp module);

} // namespace gpucc::memory

#endif // GPUCC_LIB_TRANSFORMS_MEMORY_STAGEMEMORY_H
