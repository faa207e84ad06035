//===- Fuse.cpp - forms graph.cluster regions -----------------------------===//
//
// The diamond. In
//
//        a = exp x            pointwise
//       /        \
//      |      b = contract a, w      not fusable with a or c (a library call)
//       \        /
//        c = add a, b         pointwise
//
// `a` and `c` look like a perfect pair: one loop would save a round trip of a.
// But the cluster {a, c} would need b before it starts and make a for b: a
// cycle. The rule that avoids it: two groups may merge only when no path from
// one to the other visits a third group. It must hold in the graph of *groups*,
// not of ops, because groups run as wholes; GroupGraph keeps that graph acyclic
// and in order.
//
// Steps, all in one deterministic order:
//   0. library calls take what the library does on its own result (LibraryEpilogues.cpp);
//   1. sums take their terms;
//   2. vertical: each group, first to last, takes its producers while the union
//      has common loops (ClusterDomain) and the policy finds it worth while;
//      cheap producers with other users are copied;
//   3. siblings: neighbours that read the same tensor over the same loops; then vertical again;
//   4. reshapes at the border of a group leave it: outside they are views;
//   5. groups become clusters; splat constants and iotas are made inside.
//
// A cluster is pure and sees only its operands, so recomputation may clone it.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Fusion/Passes.h"
#include "lib/Transforms/Fusion/BuildClusters.h"
#include "lib/Transforms/Fusion/MergeGroups.h"

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

namespace gpucc {
#define GEN_PASS_DEF_FUSE
#include "lib/Transforms/Fusion/Passes.h.inc"
} // namespace gpucc

namespace {
struct FusePass : gpucc::impl::FuseBase<FusePass> {
  using FuseBase::FuseBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::optional<Policy> policy = Policy::get(target);
    if (!policy) {
      function.emitError("unknown fusion target '") << target << "'; use host or cuda";
      return signalPassFailure();
    }
    if (function.isExternal())
      return;
    policy->maxOps = maxOps;
    policy->maxViews = maxViews;
    Block &block = function.getBody().front();
    for (Operation &op : block)
      numOps += isa_and_present<graph::GraphDialect>(op.getDialect()) && !isa<graph::ClusterOp>(op);
    numProduct += takeEpilogues(block, *policy);
    GroupGraph groups(block);
    GroupMerger merger(groups, *policy, remarks);
    merger.mergeTerms();
    merger.mergeProducers();
    merger.mergeSiblings();
    merger.mergeProducers(); // siblings together may be all users of a producer
    numCopies += merger.getCopies();
    countClusters(buildClusters(block, groups, *policy));
  }

  void countClusters(ArrayRef<graph::ClusterOp> clusters) {
    for (graph::ClusterOp cluster : clusters) {
      ++numClusters;
      numClusteredOps += llvm::range_size(cluster.getBody().front().without_terminator());
      switch (cluster.getKind()) {
      case graph::ClusterKind::Loop:
        ++numLoop;
        break;
      case graph::ClusterKind::Reduction:
        ++numReduction;
        break;
      case graph::ClusterKind::Contract:
      case graph::ClusterKind::Convolution:
      case graph::ClusterKind::Attention:
        ++numProduct;
        break;
      default:
        break;
      }
    }
  }
};
} // namespace
