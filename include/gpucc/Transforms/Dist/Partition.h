//===- Partition.h - global program to the program of a rank ----*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_DIST_PARTITION_H
#define GPUCC_TRANSFORMS_DIST_PARTITION_H

#include "dialects/Dist/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {

struct PartitionSettings {
  /// Keep `dist.sharding` and `dist.origin` on ops, so that the evaluator can put the ranks' blocks
  /// together and compare them with the unpartitioned program.
  bool keepShardings = false;
};

/// Replaces a function of global values with shardings by the function that every rank of its stage
/// executes. Arguments and results keep their `dist.sharding`. Returns the new function.
mlir::FailureOr<mlir::func::FuncOp>
partitionFunction(mlir::func::FuncOp function, dist::MeshOp mesh, const PartitionSettings &options);

/// Numbers the ops of a function (`dist.origin`), before anything rewrites it.
void numberOps(mlir::func::FuncOp function);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_PARTITION_H
