//===- ExtractProblem.h - from graph functions to a PlanProblem -*- C++ -*-===//
//
// What the layout search needs to know of a module after the train phase (or of @main for
// inference): ops with facts and sharding rules, tensors with batch and sequence dimension, states
// with the bytes of their gradients and moments.
//
//   FailureOr<planner::PlanProblem> problem = extractPlanProblem(module);
//   problem->machine = ...; problem->ranks = 8;
//   planner::PlanResult result = planner::planLayout(*problem);
//
// How an op of the problem arises (MergeOps.h): broadcasts and views run where they are read,
// pointwise ops are merged into their only reader as the fuser will do, constants and what is
// computed from constants alone vanish. One op per parameter stands for the optimizer:
//
//   %0 = contract %x, %w     %1 = broadcast %b     %2 = add %0, %1     %3 = relu %2
//   F0 contract(x, w) -> t0     F0 relu(t0, b) -> t3     ...     U0 w.update(w, w.gradient) -> w'
//
// Segments come from gpucc-mark-segments; without them everything is segment 0.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_PLANNING_EXTRACTPROBLEM_H
#define GPUCC_TRANSFORMS_PLANNING_EXTRACTPROBLEM_H

#include "gpucc/Planner/Problem.h"
#include "mlir/IR/BuiltinOps.h"

namespace gpucc {

/// The problem of the module's first profile, without machine, ranks and pins. Sizes are those of
/// the module's functions: import with micro-batches=1 for the whole batch. Fails with an error
/// where the module has no function to plan.
mlir::FailureOr<planner::PlanProblem> extractPlanProblem(mlir::ModuleOp module);

/// Whether the batch dimension of the model has a name, so that micro-batches may divide it.
bool hasSymbolicBatch(mlir::ModuleOp module);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_PLANNING_EXTRACTPROBLEM_H
