//===- MergeGroups.h - which groups become one ------------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_FUSION_MERGEGROUPS_H
#define GPUCC_TRANSFORMS_FUSION_MERGEGROUPS_H

#include "lib/Transforms/Fusion/GroupGraph.h"
#include "lib/Transforms/Fusion/Policy.h"

namespace gpucc::fusion {

class GroupMerger {
public:
  GroupMerger(GroupGraph &graph, const Policy &policy, bool remarks)
      : graph(graph), policy(policy), remarks(remarks) {}

  /// Sums take their terms first: merged with what makes its operands, a product would be stored
  /// term by term.
  void mergeTerms();
  /// Each group takes the producers it can, greatest saving first.
  void mergeProducers();
  /// Groups that read one tensor and stand close to each other.
  void mergeSiblings();
  unsigned getCopies() const { return copies; }

private:
  bool mayJoin(GroupId g) const;
  int64_t savedBytes(GroupId producer, GroupId consumer) const;
  bool mergeOneProducer(GroupId &consumer);
  bool tryMerge(GroupId producer, GroupId consumer, std::string &why);
  bool tryCopy(GroupId producer, GroupId &consumer, std::string &why);
  bool hasLoops(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> outputs,
                std::string &why) const;
  void remark(GroupId producer, GroupId consumer, llvm::StringRef why) const;

  GroupGraph &graph;
  const Policy &policy;
  bool remarks;
  unsigned copies = 0;
};

/// The op may share a cluster with others.
bool isFusable(mlir::Operation *op, const Policy &policy);
/// Splat constants and iotas: made again in each cluster that uses them.
bool isFreeLeaf(mlir::Operation *op);
/// `ops` with the free leaves they use, in an order in which operands come first.
llvm::SmallVector<mlir::Operation *> withFreeLeaves(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace gpucc::fusion

#endif // GPUCC_TRANSFORMS_FUSION_MERGEGROUPS_H
