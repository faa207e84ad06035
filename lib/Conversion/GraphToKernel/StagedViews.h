//===- StagedViews.h - transposes go through a tile -------------*- C++ -*-===//
//
// In y[i, j] = x[j, i] one side walks memory with a stride whatever the order
// of the loop. So a 32 x 32 tile of x is read along x's rows first, then
// written along y's:
//
//   %t = kernel.loop (%i, %j) in (32, 32) -> (keep tensor<32x32xf32>) { x[.. %i .., .. %j ..] }
//   kernel.loop (%j, %i) in (32, 32) { %t[%i, %j] → y[.. %j .., .. %i ..] }
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_GRAPHTOKERNEL_STAGEDVIEWS_H
#define GPUCC_CONVERSION_GRAPHTOKERNEL_STAGEDVIEWS_H

#include "ClusterEmitter.h"

namespace gpucc {

class StagedViews {
public:
  /// The cluster's arguments that are contiguous in one other dimension than the outputs are, and
  /// are read at their own position only; none when there are none or tiles would not pay.
  static std::optional<StagedViews> find(KernelContext &kernel, const ClusterDomain &domain);

  unsigned innerDim() const { return inner; }
  unsigned otherDim() const { return other; }
  using Open = llvm::function_ref<llvm::SmallVector<unsigned>(mlir::OpBuilder &, mlir::ValueRange)>;
  /// The loop that fills the tiles; `loop` are the extents of the outputs' loop.
  void load(mlir::OpBuilder &b, mlir::Location loc, PointEmitter &point,
            llvm::ArrayRef<int64_t> loop, Open open);
  /// Reads of the staged values come from the tiles, in a loop with these variables.
  void use(PointEmitter &point, llvm::ArrayRef<unsigned> variables);

private:
  const ClusterDomain *domain = nullptr;
  unsigned inner = 0, other = 0;
  bool swapped = false; ///< `other` stands behind `inner` in the domain
  llvm::SmallVector<mlir::Value> values, tiles;
};

} // namespace gpucc

#endif // GPUCC_CONVERSION_GRAPHTOKERNEL_STAGEDVIEWS_H
