//===- BuildClusters.h - groups become cluster ops --------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_FUSION_BUILDCLUSTERS_H
#define GPUCC_TRANSFORMS_FUSION_BUILDCLUSTERS_H

#include "dialects/Graph/Graph.h"
#include "lib/Transforms/Fusion/GroupGraph.h"
#include "lib/Transforms/Fusion/Policy.h"

namespace gpucc::fusion {

/// Rewrites the block: its ops in the order of the groups, each group that is kernel work in a
/// cluster. `groups` must not be used afterwards.
llvm::SmallVector<graph::ClusterOp> buildClusters(mlir::Block &block, GroupGraph &groups,
                                                  const Policy &policy);

/// A cluster of `ops`, which stay; `outputs` are results of theirs. Constants are made inside.
graph::ClusterOp buildCluster(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Operation *> ops,
                              llvm::ArrayRef<mlir::Value> outputs, graph::ClusterKind kind);

/// Library calls and the post-ops that the library does become clusters of kind library. Returns
/// how many.
unsigned takeEpilogues(mlir::Block &block, const Policy &policy);

} // namespace gpucc::fusion

#endif // GPUCC_TRANSFORMS_FUSION_BUILDCLUSTERS_H
