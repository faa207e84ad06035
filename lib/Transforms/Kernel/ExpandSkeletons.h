//===- ExpandSkeletons.h - shared by the files of the pass ------*- C++ -*-===//
#ifndef GPUCC_LIB_TRANSFORMS_KERNEL_EXPANDSKELETONS_H
#define GPUCC_LIB_TRANSFORMS_KERNEL_EXPANDSKELETONS_H

#include "gpucc/Transforms/Kernel/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace gpucc {
/// The value in the accumulator's type.
mlir::Value toAccumulator(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, mlir::Type type);
mlir::Value multiply(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// Clones the operations of an epilogue with these arguments.
void cloneEpilogue(mlir::OpBuilder &b, mlir::Region &epilogue, mlir::ValueRange arguments);
/// Replaces attention by a program per block of up to `mostRows` query rows (ExpandAttention.cpp).
void expandAttention(kernel::AttentionOp op, int64_t mostRows);
} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_KERNEL_EXPANDSKELETONS_H
