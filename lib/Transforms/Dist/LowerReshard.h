//===- LowerReshard.h - reshard steps as ops of one rank --------*- C++ -*-===//
#ifndef GPUCC_LIB_TRANSFORMS_DIST_LOWERRESHARD_H
#define GPUCC_LIB_TRANSFORMS_DIST_LOWERRESHARD_H

#include "dialects/Dist/Dist.h"
#include "gpucc/Transforms/Dist/Reshard.h"

namespace gpucc {

/// Builds local ops for resharding. `local` is one rank's block under `from`; the result is its
/// block under `to`.
class ReshardLowering {
public:
  ReshardLowering(dist::MeshOp mesh);

  mlir::Value lower(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value local,
                    llvm::ArrayRef<int64_t> globalShape, const Sharding &from, const Sharding &to);

  /// First global index of this rank's block in dimension `dim`; null when it is 0 everywhere.
  mlir::Value offset(mlir::OpBuilder &builder, mlir::Location loc, const Sharding &sharding,
                     llvm::ArrayRef<int64_t> globalShape, size_t dim);

private:
  Mesh mesh;
  mlir::FlatSymbolRefAttr meshName;

  llvm::DenseMap<mlir::Block *, llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, mlir::Value>>
      indices;

  mlir::Value axisIndex(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<std::string> axes, int64_t scale);
  mlir::Value slice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                    const ReshardStep &step, mlir::RankedTensorType to);
  mlir::Value mask(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                   const ReshardStep &step);
};

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_DIST_LOWERRESHARD_H
