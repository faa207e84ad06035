//===- Phases.h - which passes, in which order, and why ---------*- C++ -*-===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_PHASES_H
#define GPUCC_LIB_PIPELINES_COMPILE_PHASES_H

#include "FitBudget.h"
#include "gpucc/Pipelines/Options.h"
#include "mlir/Pass/PassManager.h"

namespace gpucc {

/// Appends the passes that lead from the phase before to `phase`. Phase::Fuse is without
/// recomputation, which FitBudget asks for.
void buildPhase(mlir::OpPassManager &pm, Phase phase, const CompileOptions &options);

/// Appends gpucc-insert-recompute when something is asked of it: the end of Phase::Fuse.
void buildRecompute(mlir::OpPassManager &pm, const RecomputeRequest &request,
                    const CompileOptions &options);

/// From Phase::Graph to the module that the layout search looks at: the train phase, with marks where
/// a pipeline may be cut.
void buildTrial(mlir::OpPassManager &pm, const CompileOptions &options);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_PHASES_H
