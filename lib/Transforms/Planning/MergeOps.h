//===- MergeOps.h - ops of a graph as the kernels they become ---*- C++ -*-===//
//
// The search needs no more ops than there will be kernels. Views run where they are read; a
// pointwise op whose only reader is no matrix op is merged into it; what a matrix op hands to a
// pointwise op alone stays in registers (an epilogue).
//
//   contract, broadcast of the bias, add, relu  →  contract, relu(t, bias)
//
// Values that backward reads from forward have two readers, so they keep their own op and bytes.
// Plain structs; no MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_PLANNING_MERGEOPS_H
#define GPUCC_LIB_TRANSFORMS_PLANNING_MERGEOPS_H

#include "gpucc/Planner/Problem.h"

namespace gpucc {

/// What mergeOps must know of an op beyond the problem.
enum class MergeKind : char {
  View,  ///< moves no bytes of its own: reshape, broadcast
  Plain, ///< one kernel, or part of one
  Keep,  ///< a kernel of its own
};

/// `kinds` has one entry per op of `problem`. Tensors without op are removed.
void mergeOps(planner::PlanProblem &problem, const std::vector<MergeKind> &kinds);

/// Marks what lies between two products of activations (scores, softmax, dropout of attention) as
/// cheap: selective recomputation runs it again.
void markAttention(planner::PlanProblem &problem);

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_PLANNING_MERGEOPS_H
