//===- Access.h - where a load or store touches memory ----------*- C++ -*-===//
//
// A map into a view becomes one affine expression, the offset in elements:
//
//   x[i floordiv 2, j + 1] in memref<4x16xf32>  →  (i floordiv 2) * 16 + j + 1
//   stride in j: 1       stride in i: none (not constant)
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_KERNEL_ACCESS_H
#define GPUCC_KERNEL_ACCESS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace gpucc::kernel {

/// Row-major for tensors and memrefs without layout.
llvm::SmallVector<int64_t> getStrides(mlir::ShapedType type);
/// Elements from the first to the last one, both included.
int64_t getSpan(mlir::ShapedType type);
/// Also joins what a reshape split: (x floordiv 7) * 7 + x mod 7 = x.
mlir::AffineExpr simplifyOffset(mlir::AffineExpr offset, unsigned dims);
/// The offset in elements as an expression over the map's inputs (dimensions, no symbols).
mlir::AffineExpr getOffsetExpr(mlir::AffineMap map, mlir::ShapedType type);
/// expr(dim + step) - expr(dim) when that is a constant.
std::optional<int64_t> getStride(mlir::AffineExpr expr, unsigned dim, int64_t step = 1);

} // namespace gpucc::kernel

#endif // GPUCC_KERNEL_ACCESS_H
