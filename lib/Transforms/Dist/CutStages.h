//===- CutStages.h - one function to the functions of stages ----*- C++ -*-===//
#ifndef GPUCC_LIB_TRANSFORMS_DIST_CUTSTAGES_H
#define GPUCC_LIB_TRANSFORMS_DIST_CUTSTAGES_H

#include "StageFunction.h"

#include <map>
#include <set>

namespace gpucc {

/// Which stages hold a state tensor, by name. Found while the step is cut, used by the update.
using StateOwners = std::map<std::string, std::set<int64_t>>;

struct CutStatistics {
  int64_t sends = 0, saved = 0, stageReductions = 0;
};

/// Replaces a step (or an inference function) by `stage<s>_forward` and `stage<s>_backward`
/// (`stage0_step` when there is one stage). Numbers channels from `channel`.
mlir::LogicalResult cutStep(mlir::func::FuncOp step, int64_t stages, StateOwners &owners,
                            int64_t &channel, CutStatistics &statistics);

/// Replaces the update by `stage<s>_update`. What one stage knows and all need is summed over the
/// axis "pp".
mlir::LogicalResult cutUpdate(mlir::func::FuncOp update, dist::MeshOp mesh, int64_t stages,
                              const StateOwners &owners, int64_t &channel,
                              CutStatistics &statistics);

/// Base name of an argument ("" when it has none) and its state attribute (null for inputs).
std::string argumentName(mlir::func::FuncOp function, unsigned index);
base::StateAttr argumentState(mlir::func::FuncOp function, unsigned index);

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_DIST_CUTSTAGES_H
