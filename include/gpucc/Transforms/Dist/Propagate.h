//===- Propagate.h - shardings for a whole module from pins -----*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_DIST_PROPAGATE_H
#define GPUCC_TRANSFORMS_DIST_PROPAGATE_H

#include "gpucc/Transforms/Dist/FunctionSharding.h"

namespace gpucc {

/// When gradients are reduced over data parallel ranks.
enum class ReduceGradients {
  Auto,   ///< in the step when there is one micro-batch, else in the update
  Step,   ///< after every micro-batch: can overlap with the backward pass
  Update, ///< once per optimizer step: accumulators hold partial sums
};

struct ShardingPins {
  int64_t dataParallel = 1, tensorParallel = 1, stages = 1;
  int64_t microBatches = 1;
  bool sequenceParallel = false;
  int zero = 0; ///< 1: optimizer state and update are split over the data parallel ranks
  ReduceGradients reduce = ReduceGradients::Auto;
  size_t beam = 16;
};

struct PropagateStatistics {
  int64_t reshards = 0, splitParameters = 0, wholeParameters = 0;
  double bytes = 0; ///< sent by one rank for one micro-batch and one update, as the search counts
};

/// Makes `@mesh` unless there is one, and writes shardings into every function. Shardings that are
/// in the module already (on arguments, on ops, as dist.constraint) are obeyed or refused with an
/// error.
mlir::LogicalResult propagateShardings(mlir::ModuleOp module, const ShardingPins &options,
                                       PropagateStatistics &statistics);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_PROPAGATE_H
