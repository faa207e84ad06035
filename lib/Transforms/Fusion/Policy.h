//===- Policy.h - what a target fuses ---------------------------*- C++ -*-===//
//
// host: matrix products and convolutions that the library knows stay plain
//   graph ops, the pointwise work behind them becomes a loop cluster; attention
//   is expanded (products by the library, softmax a reduction cluster).
// cuda: every product is a cluster with its epilogue; attention is one kernel.
//
// And the costs that accept or refuse a merge. A merge saves the traffic of
// what becomes internal; it loses where work is repeated per point or where
// few programs would be left for a whole machine.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_FUSION_POLICY_H
#define GPUCC_TRANSFORMS_FUSION_POLICY_H

#include "gpucc/Analysis/ClusterDomain.h"
#include "mlir/IR/Operation.h"

namespace gpucc::fusion {

struct Policy {
  bool cuda = false;
  unsigned maxOps = 96;
  unsigned maxViews = 24;
  /// A reduction with fewer programs does not take full-size work behind it.
  int64_t minPrograms = 64;
  /// Full-size work of fewer points than this is always taken.
  int64_t smallWork = 32768;

  static std::optional<Policy> get(llvm::StringRef target);

  /// The op stays outside of clusters and becomes a library call.
  bool isLibraryCall(mlir::Operation *op) const;
  /// The target has a kernel for attention.
  bool emitsAttention() const { return cuda; }
  /// May be computed again in each user: broadcasts, reshapes, and ops on very few elements.
  bool isCheapToCopy(mlir::Operation *op) const;
  /// Why `ops`, which have the loops `domain`, should not be one kernel; empty when they should.
  std::string refuse(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> outputs,
                     const ClusterDomain &domain) const;
};

int64_t elementsOf(mlir::Value value);
int64_t bytesOf(mlir::Value value);
/// The op's scalar body has transcendental functions or divisions.
bool isCostly(mlir::Operation *op);
/// A transpose that moves the last (contiguous) dimension of a non-trivial tensor.
bool movesLastDim(mlir::Operation *op);

} // namespace gpucc::fusion

#endif // GPUCC_TRANSFORMS_FUSION_POLICY_H
