//===- IndexTransfer.h - which operand elements a result element needs -*- C++ -*-===//
//
// What: for one element of an op's result, the element of each operand that it
// is made from, as index expressions. Fusion asks whether a group of ops can be
// computed point by point; code generation writes a load per access.
//
//   %t = graph.transpose %x {permutation = [1, 0]}    element (i, j) ← x(j, i)
//   %p = graph.pad constant %t, %v {low = [1, 0], …}  element (i, j) ← t(i - 1, j) if 0 ≤ i - 1 < n
//                                                                    ← v() otherwise
//   %g = graph.gather %d, %k {dim = 0}                element (i, j) ← d(s0, j), s0 = k(i) clamped
//
// Indices that are not affine (a table look-up, an offset known at run time, a
// reflection) become symbols of the expressions; `DynamicIndices` says what
// each symbol is.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_ANALYSIS_INDEXTRANSFER_H
#define GPUCC_ANALYSIS_INDEXTRANSFER_H

#include "gpucc/Analysis/IndexMath.h"
#include "mlir/IR/Operation.h"

namespace gpucc {

/// True inside when 0 ≤ expr < size and expr is a multiple of divisor.
struct IndexGuard {
  mlir::AffineExpr expr;
  int64_t size;
  int64_t divisor = 1;
};

struct OperandAccess {
  unsigned operand;
  Index index;
  /// All must hold, else the operand's element is not looked at.
  llvm::SmallVector<IndexGuard, 1> guards;
};

/// An index that is computed when the kernel runs.
struct DynamicIndex {
  enum Kind {
    Gather,  ///< the value of operand `operand` at `source`; negative counts from the end; clamped
    Offset,  ///< the scalar operand `operand` + `start`, clamped to [0, limit)
    Edge,    ///< source[0] clamped to [0, limit)
    Reflect, ///< source[0] mirrored into [0, limit)
  };
  Kind kind;
  mlir::Operation *op;
  unsigned operand;
  Index source;
  int64_t start = 0;
  int64_t limit;
};

/// The symbols of one kernel; equal requests share a symbol.
class DynamicIndices {
public:
  explicit DynamicIndices(mlir::MLIRContext *context) : context(context) {}
  mlir::AffineExpr get(const DynamicIndex &request);
  const DynamicIndex &operator[](unsigned symbol) const { return table[symbol]; }
  unsigned size() const { return table.size(); }

private:
  mlir::MLIRContext *context;
  llvm::SmallVector<DynamicIndex, 2> table;
};

/// What an op is to a kernel.
enum class OpRole {
  Leaf,      ///< no tensor operand: splat constant, iota, random numbers
  Pointwise, ///< element from equal elements, by ScalarBody
  Movement,  ///< one of the operands' elements, by index
  Reduction, ///< graph.reduce
  Window,    ///< element by a loop of its own over elements of the operands: pooling
  Skeleton,  ///< contract, convolution, attention
  Ordered,   ///< scan, scatter: a kernel of its own
  Other,     ///< no part of a kernel: weights, functions, collectives
};
OpRole roleOf(mlir::Operation *op);

/// Accesses of a Pointwise or Movement op for the element `index` of its result; empty for a Leaf.
llvm::SmallVector<OperandAccess> accessesOf(mlir::Operation *op,
                                            llvm::ArrayRef<mlir::AffineExpr> index, IndexMath &math,
                                            DynamicIndices &dynamic);

/// Index of result 0 from that of operand 0, where each operand element makes one result element
/// (pointwise, reshape, transpose, unit broadcasts) or is reduced; none otherwise.
std::optional<Index> forwardIndex(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> index,
                                  IndexMath &math);

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

} // namespace gpucc

#endif // GPUCC_ANALYSIS_INDEXTRANSFER_H
