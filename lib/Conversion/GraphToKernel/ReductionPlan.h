//===- ReductionPlan.h - loops, tiles and stores of a reduction kernel -*- C++ -*-===//
//
// A reduction kernel is a program per row (kept index), with a loop over the
// row per step. Layer norm:
//
//   step 0   reads x and z, keeps t = x + z, reduces sum(t)
//   step 1   reads t, reduces sum((t - mean)²)          (t - mean is cheaper than a tile)
//   step 2   reads t, stores y
//
// A value goes with the first step that knows it. What a later step needs again
// is kept in a tile when it was read from memory or is costly to compute, and
// when rows are short enough; else it is computed again.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_GRAPHTOKERNEL_REDUCTIONPLAN_H
#define GPUCC_CONVERSION_GRAPHTOKERNEL_REDUCTIONPLAN_H

#include "ClusterEmitter.h"
#include "llvm/ADT/SetVector.h"

namespace gpucc {

struct ReductionStep {
  llvm::SmallVector<graph::ReduceOp> reductions;
  llvm::SetVector<mlir::Value> kept;       ///< full-size values that later steps read from tiles
  llvm::SmallVector<unsigned> fullOutputs; ///< numbers of outputs stored by this step's loop
  llvm::SmallVector<unsigned> rowOutputs;  ///< outputs of kept size, known in front of this step
  bool hasLoop() const { return !reductions.empty() || !fullOutputs.empty(); }
};

/// `tilePoints`: points of one program's loop.
llvm::SmallVector<ReductionStep> planReduction(KernelContext &kernel, const ClusterDomain &domain,
                                               int64_t tilePoints);

/// True when a maximum may ignore NaN because a NaN in the row reaches everything computed from it
/// anyway, through the sum of exponentials: softmax and its logarithm. One instruction instead of
/// three.
bool mayIgnoreNan(graph::ReduceOp max);

} // namespace gpucc

#endif // GPUCC_CONVERSION_GRAPHTOKERNEL_REDUCTIONPLAN_H
