//===- ClusterEmitter.h - one cluster, one kernel ---------------*- C++ -*-===//
//
// One emitter per shape of kernel:
//
//   EmitLoop       points of the output, split into programs of some thousands
//   EmitReduction  a program per row (or per some columns); a loop per step
//   EmitSkeleton   matrix product, convolution, attention with an epilogue
//   EmitOrdered    scan and scatter: ordered inner loops
//
// All ask PointEmitter for the scalars. Views are one-dimensional while a
// kernel is built; ShapeViews gives them the shapes that make indices simple.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_GRAPHTOKERNEL_CLUSTEREMITTER_H
#define GPUCC_CONVERSION_GRAPHTOKERNEL_CLUSTEREMITTER_H

#include "PointEmitter.h"

namespace gpucc {

/// What the shape of a kernel depends on besides the cluster; never its bits.
struct KernelTarget {
  bool cuda = false;
  /// Points that one program of a loop kernel computes.
  int64_t pointsPerProgram() const { return cuda ? 1024 : 4096; }
  /// Columns that one program reduces side by side: of a matrix beyond the caches (the weights of a product with one
  /// row) twice as many, because memory gives longer pieces of rows faster.
  int64_t columnsPerProgram(int64_t rows = 0, int64_t columns = 0) const {
    if (cuda)
      return 32;
    return rows >= 512 && columns >= 512 ? 128 : 64;
  }
  /// Bytes of a tile that is kept between loops; larger rows are read again.
  int64_t tileBytes() const { return 32768; }
};

/// A kernel under construction and what its body may use.
struct KernelContext {
  graph::ClusterOp cluster;
  KernelTarget target;
  kernel::FuncOp func;
  llvm::SmallVector<mlir::Operation *> ops;       ///< of the cluster, in order
  llvm::SmallVector<mlir::Value> outputs;         ///< what the cluster yields
  llvm::DenseMap<mlir::Value, mlir::Value> views; ///< cluster arguments → views
  llvm::SmallVector<mlir::Value> outputViews;

  mlir::MLIRContext *context() { return func.getContext(); }
  mlir::Location loc() { return func.getLoc(); }
  /// In front of the function's yield.
  mlir::OpBuilder builder();
};

mlir::LogicalResult emitLoop(KernelContext &kernel, const ClusterDomain &domain);
mlir::LogicalResult emitReduction(KernelContext &kernel, const ClusterDomain &domain);
mlir::LogicalResult emitSkeleton(KernelContext &kernel, const ClusterDomain &domain);
mlir::LogicalResult emitOrdered(KernelContext &kernel);

/// A function of its own, not yet in a module. Errors name the cluster and the rule.
mlir::FailureOr<kernel::FuncOp> emitKernel(graph::ClusterOp cluster, llvm::StringRef name,
                                           const KernelTarget &target);

/// Gives views the shape (of `tensors`, dimensions joined where indices run over them as one) that
/// makes every access free of quotients where that is possible.
void shapeViews(kernel::FuncOp func, mlir::TypeRange tensors);

/// Pairs (input, output) whose memory may be one; see LaunchOp.
llvm::SmallVector<int64_t> findInplacePairs(kernel::FuncOp func, mlir::TypeRange inputs,
                                            mlir::TypeRange outputs, const KernelTarget &target);

/// How a dimension is cut into programs and loops: whole, or tiles of `tile` points.
int64_t chooseTile(int64_t extent, int64_t most);

} // namespace gpucc

#endif // GPUCC_CONVERSION_GRAPHTOKERNEL_CLUSTEREMITTER_H
