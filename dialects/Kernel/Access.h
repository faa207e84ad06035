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

/// expr's change from lane to lane when dimension 0 grows from a multiple of `width`, if constant:
/// (d0 floordiv 16) has 0 for 8 lanes, (d0 mod 16) has 1, (d0 mod 7) has none.
std::optional<int64_t> getLaneStride(mlir::AffineExpr expr, int64_t width);
/// A number that divides the expression in lane 0, where dimension 0 is a multiple of `width`.
int64_t getLane0Divisor(mlir::AffineExpr expr, int64_t width);
/// The indices of a space of these extents from the linear index: (n floordiv 7, n mod 7).
llvm::SmallVector<mlir::AffineExpr> delinearize(llvm::ArrayRef<int64_t> extents,
                                                mlir::AffineExpr linear);

} // namespace gpucc::kernel

#endif // GPUCC_KERNEL_ACCESS_H
