//===- GroupGraph.h - groups of ops, kept free of cycles --------*- C++ -*-===//
//
// What: partitions the ops of a block into groups that will be one cluster
// each, and answers whether two may become one.
//
// The graph of groups must stay acyclic: a cluster runs as a whole, so no
// group may lie between two others that are merged (the diamond of Fuse.cpp).
// The class keeps one topological order; a path from `a` to `b` can only visit
// groups that stand between them in this order, which bounds the search. On a
// merge the groups between are split into those not reachable from `a` (stay
// before) and the rest (move behind).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_FUSION_GROUPGRAPH_H
#define GPUCC_TRANSFORMS_FUSION_GROUPGRAPH_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace gpucc::fusion {

using GroupId = unsigned;

class GroupGraph {
public:
  /// One group per op of the block but the terminator; ops with side effects keep their order.
  explicit GroupGraph(mlir::Block &block);

  GroupId groupOf(mlir::Operation *op) const { return owner.lookup(op); }
  bool contains(mlir::Operation *op) const { return owner.contains(op); }
  /// In program order.
  llvm::ArrayRef<mlir::Operation *> opsOf(GroupId g) const { return groups[g]; }
  /// Groups in topological order.
  llvm::ArrayRef<GroupId> getOrder() const { return order; }
  unsigned positionOf(GroupId g) const { return position[g]; }

  /// Groups that make operands of `g` (that use results of `g`), by position.
  llvm::SmallVector<GroupId> producersOf(GroupId g) const;
  llvm::SmallVector<GroupId> consumersOf(GroupId g) const;
  /// Results of `g`'s ops that something outside of `g` uses, in program order.
  llvm::SmallVector<mlir::Value> outputsOf(llvm::ArrayRef<mlir::Operation *> ops) const;

  /// No path from the earlier to the later group visits a third one.
  bool canMerge(GroupId a, GroupId b) const;
  /// Requires canMerge; returns the group that holds the ops of both.
  GroupId merge(GroupId a, GroupId b);
  /// Ops of both in program order.
  llvm::SmallVector<mlir::Operation *> unite(GroupId a, GroupId b) const;
  /// Puts a new op, a copy of `of` with the same operands, into a group of its own behind that of
  /// `of`.
  GroupId addCopy(mlir::Operation *copy, mlir::Operation *of);

private:
  void reachableBetween(GroupId from, unsigned limit, llvm::DenseSet<GroupId> &reached,
                        GroupId skip) const;
  void reindex(unsigned from);

  llvm::DenseMap<mlir::Operation *, GroupId> owner;
  llvm::DenseMap<mlir::Operation *, unsigned> number; ///< place in the block; copies share it
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> nextEffect, previousEffect;
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> groups;
  llvm::SmallVector<GroupId> order;
  llvm::SmallVector<unsigned> position;
};

} // namespace gpucc::fusion

#endif // GPUCC_TRANSFORMS_FUSION_GROUPGRAPH_H
