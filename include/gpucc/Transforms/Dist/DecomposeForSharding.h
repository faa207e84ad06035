//===- DecomposeForSharding.h - composites that batch parts cross -*- C++ -*-=//
#ifndef GPUCC_TRANSFORMS_DIST_DECOMPOSEFORSHARDING_H
#define GPUCC_TRANSFORMS_DIST_DECOMPOSEFORSHARDING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {

/// Expands each composite whose rule needs the whole batch: its expansion reduces over the batch,
/// which ranks can share. BatchNorm in training becomes sums over the batch and pointwise ops, so
/// that its statistics are those of the whole micro-batch on any layout. `batch` is the size of the
/// first dimension of the inputs; 0 does nothing.
mlir::LogicalResult decomposeForSharding(mlir::func::FuncOp function, int64_t batch);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_DECOMPOSEFORSHARDING_H
