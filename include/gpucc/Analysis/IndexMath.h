//===- IndexMath.h - index expressions over dimensions of known size -*- C++ -*-===//
//
// What: simplifies affine index expressions when the range of each dimension
// is known, so that a reshape inside a kernel costs nothing.
//
//   extents d0 < 4, d1 < 8, d2 < 64, a tensor [4, 512] seen as [4, 8, 64]:
//     linear = d0 * 512 + d1 * 64 + d2
//     linear floordiv 512 = d0           linear mod 512 = d1 * 64 + d2
//
// Why here: fusion asks whether a chain of reshapes, transposes and slices
// stays affine, code generation then writes the same expressions.
//
// A quotient that is not exact stays as a `floordiv`; when splitting a
// dimension would make it exact, `getSplit()` names it:
//   d0 < 512, d0 floordiv 64  →  split d0 into (8, 64)
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_ANALYSIS_INDEXMATH_H
#define GPUCC_ANALYSIS_INDEXMATH_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace gpucc {

/// One index per dimension of a tensor.
using Index = llvm::SmallVector<mlir::AffineExpr, 4>;

/// constant + sum of coefficient * term; a term is a dimension, a symbol, a quotient or a
/// remainder.
struct LinearForm {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::AffineExpr, int64_t>, 4> terms;
};

/// Dimension `dim` seen as (extent / inner, inner).
struct DimSplit {
  unsigned dim;
  int64_t inner;
};

class IndexMath {
public:
  /// Dimension i runs over [0, extents[i]); symbols have no known range.
  IndexMath(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> extents);

  llvm::ArrayRef<int64_t> getExtents() const { return extents; }
  mlir::MLIRContext *getContext() const { return context; }
  mlir::AffineExpr constant(int64_t value) const;
  mlir::AffineExpr dim(unsigned d) const;
  /// One more dimension, for a loop inside a point.
  mlir::AffineExpr addDim(int64_t extent);

  LinearForm toLinear(mlir::AffineExpr e) const;
  mlir::AffineExpr fromLinear(const LinearForm &form) const;
  /// The canonical form of an expression.
  mlir::AffineExpr simplify(mlir::AffineExpr e) const { return fromLinear(toLinear(e)); }

  mlir::AffineExpr floordiv(mlir::AffineExpr e, int64_t k);
  mlir::AffineExpr mod(mlir::AffineExpr e, int64_t k);

  /// Row-major position of an index.
  mlir::AffineExpr linearize(llvm::ArrayRef<mlir::AffineExpr> index,
                             llvm::ArrayRef<int64_t> shape) const;
  Index delinearize(mlir::AffineExpr linear, llvm::ArrayRef<int64_t> shape);
  /// The index of the same element under another shape.
  Index reshape(llvm::ArrayRef<mlir::AffineExpr> index, llvm::ArrayRef<int64_t> from,
                llvm::ArrayRef<int64_t> to);

  /// Replaces each dimension and simplifies in the space of this object.
  mlir::AffineExpr substitute(mlir::AffineExpr e, llvm::ArrayRef<mlir::AffineExpr> dims);

  /// Least and greatest value; none when a symbol takes part.
  std::optional<std::pair<int64_t, int64_t>> rangeOf(mlir::AffineExpr e) const;

  /// True when a quotient or remainder since construction was not exact.
  bool isInexact() const { return inexact; }
  /// The first split that would have made one exact.
  std::optional<DimSplit> getSplit() const { return split; }

private:
  std::optional<std::pair<int64_t, int64_t>> rangeOf(const LinearForm &form) const;
  /// e = k * quotient + rest, as far as coefficients tell.
  std::pair<LinearForm, LinearForm> partition(const LinearForm &form, int64_t k) const;
  void noteSplit(const LinearForm &rest, int64_t k);

  mlir::MLIRContext *context;
  llvm::SmallVector<int64_t> extents;
  bool inexact = false;
  std::optional<DimSplit> split;
};

} // namespace gpucc

#endif // GPUCC_ANALYSIS_INDEXMATH_H
