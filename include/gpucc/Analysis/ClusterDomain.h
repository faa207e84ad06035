//===- ClusterDomain.h - the loop nest that a group of ops shares -*- C++ -*-===//
//
// What: whether a group of graph ops can be computed over one set of loops, and
// which. Fusion asks before it merges; code generation walks the same loops.
//
//   %m = graph.reduce max %x {dims = [1]}      : 8x64 → 8
//   %b = graph.broadcast %m {dims = [0]}       : 8 → 8x64
//   %y = graph.binary sub %x, %b               : 8x64
//
//   extents 8, 64; dimension 1 is reduced; positions x (d0, d1), m (d0), b and y (d0, d1)
//
// Rules.
//  1. The root is the operand of the widest reduction, else the widest output (or the result of
//     the skeleton). Its dimensions are the domain's, split until every reshape in the group is
//     exact; a reshape that never is stays outside, where it is a view and free.
//  2. Positions spread from the root through ops that neither drop nor repeat elements, forwards
//     and backwards, and through the group's operands (siblings).
//  3. All reductions combine the same dimensions, and their results are asked for only at their
//     own position: a value of another program is out of reach.
//  4. An output has a position that is one-to-one on all dimensions (full), or, with reductions,
//     on those that are kept.
//  5. Everything else is computed where it is asked for; the number of different questions is
//  bounded.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_ANALYSIS_CLUSTERDOMAIN_H
#define GPUCC_ANALYSIS_CLUSTERDOMAIN_H

#include "gpucc/Analysis/IndexTransfer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace gpucc {

struct ClusterDomain {
  llvm::SmallVector<int64_t> extents;
  /// Per dimension: combined by the reductions.
  llvm::SmallVector<bool> reduced;
  llvm::DenseMap<mlir::Value, Index> positions;
  /// In order of the group; none for loop clusters.
  llvm::SmallVector<mlir::Operation *> reductions;
  /// Loops over the reduced dimensions that must run before a value is known.
  llvm::DenseMap<mlir::Value, unsigned> depths;
  /// Positions of the outputs are row-major over `extents`: stores are contiguous.
  bool isFull(mlir::Value value) const;
  /// Number of points of the kept (reduced) dimensions.
  int64_t keptPoints() const;
  int64_t reducedPoints() const;
  unsigned depthOf(mlir::Value value) const { return depths.lookup(value); }
};

/// `ops` in program order; `outputs` are results of `ops` that others use. Every op has role
/// Pointwise, Movement, Leaf, Reduction or Window, or is the only Skeleton. None, and `why`, when
/// the rules above do not hold.
std::optional<ClusterDomain> findDomain(llvm::ArrayRef<mlir::Operation *> ops,
                                        llvm::ArrayRef<mlir::Value> outputs, std::string &why);

/// True when `index` over dimensions of `math` numbers the points of the dimensions in `dims`
/// one to one onto [0, size of shape).
bool isOneToOne(const IndexMath &math, llvm::ArrayRef<mlir::AffineExpr> index,
                llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<bool> dims);

} // namespace gpucc

#endif // GPUCC_ANALYSIS_CLUSTERDOMAIN_H
