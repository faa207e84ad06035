//===- PointEmitter.h - the scalar of one element of one value --*- C++ -*-===//
//
// What: writes scalar IR for "element `index` of value `v`", asking for the
// elements of its operands in turn, down to loads of the kernel's views.
//
//   %y = add(transpose(%x), broadcast(%b)) at (d0, d1):
//     %0 = kernel.load %x[d1, d0]
//     %1 = kernel.load %b[d1]
//     %2 = arith.addf %0, %1
//
// Two index spaces. Questions are asked over the dimensions of the cluster's
// domain (ClusterDomain.h), where equal questions are equal expressions. Each
// domain dimension is an expression over the loops' induction variables; that
// is substituted when an index reaches memory.
//
// Scopes. Level 0 is the program, level 1 the loop in it, higher ones loops
// inside a point. A scalar is written at the lowest level at which all it
// depends on is known, so a row's constant is loaded once per row.
//
// Guards. Below a pad or concat, memory is touched only where the predicate
// holds; a value computed under a guard is not reused outside.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_GRAPHTOKERNEL_POINTEMITTER_H
#define GPUCC_CONVERSION_GRAPHTOKERNEL_POINTEMITTER_H

#include "dialects/Graph/Graph.h"
#include "dialects/Kernel/Kernel.h"
#include "gpucc/Analysis/ClusterDomain.h"

#include <map>

namespace gpucc {

struct WindowShape;

/// The type of an element in a kernel: unsigned integers are signless there.
mlir::Type scalarType(mlir::Type elementType);
/// Reductions run in f32, f64, i32, i64 or i1: widens a narrower element, and back.
mlir::Value toAccumulator(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, bool isUnsigned);
mlir::Value fromAccumulator(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, mlir::Type type);

kernel::LoopResultKind loopKindOf(graph::ReductionKind kind, bool isUnsigned);

class PointEmitter {
public:
  /// `views` maps values from outside (the cluster's block arguments) to views of one dimension.
  PointEmitter(mlir::MLIRContext *context, const ClusterDomain &domain,
               const llvm::DenseMap<mlir::Value, mlir::Value> &views)
      : math(context, domain.extents), domain(domain), views(views), dynamic(context),
        loopMath(context, {}) {
    dims.resize(domain.extents.size());
    for (mlir::AffineExpr &e : dims)
      e = loopMath.constant(0);
  }

  //===--- Loops around the point -----------------------------------------===//
  /// Opens a scope whose ops go to the end of `builder`'s block; variables are `values` over
  /// `extents`, known from here on. Returns their numbers.
  llvm::SmallVector<unsigned> pushScope(mlir::OpBuilder builder, mlir::ValueRange values,
                                        llvm::ArrayRef<int64_t> extents);
  void popScope();
  /// Domain dimension `dim` is this expression over the variables.
  void bindDim(unsigned dim, mlir::AffineExpr overVariables);
  /// Row-major numbering: the dimensions of the domain, from the last one, are digits of the
  /// variables, from the last one; extents of variables are products of extents of dimensions.
  void bindDigits(llvm::ArrayRef<unsigned> numbers);
  mlir::AffineExpr variable(unsigned number) const { return loopMath.dim(number); }
  /// All memory accesses from here on (until the scope ends) happen only where 0 ≤ expr < size.
  void guardScope(mlir::AffineExpr overVariables, int64_t size);

  /// Nothing is written at a level below; loops inside a point must stand in a loop.
  void setLowestLevel(unsigned level) { lowestLevel = level; }

  //===--- Scalars --------------------------------------------------------===//
  mlir::Value get(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index);
  /// A scalar at the value's own position that is known without asking: a reduction's result, a
  /// skeleton's accumulator.
  void define(mlir::Value value, mlir::Value scalar) { defined[value] = scalar; }
  /// Elements of `value` at its own position lie in a tile over the variables `at`.
  void defineTile(mlir::Value value, mlir::Value tile, llvm::SmallVector<unsigned> at);
  void forgetTile(mlir::Value value) { tiles.erase(value); }
  /// Stores an element of an output view.
  void store(mlir::Value scalar, mlir::Value view, llvm::ArrayRef<mlir::AffineExpr> index,
             llvm::ArrayRef<int64_t> shape);

  /// Loads an element of any view, at the innermost level.
  mlir::Value load(mlir::Value view, llvm::ArrayRef<mlir::AffineExpr> index,
                   llvm::ArrayRef<int64_t> shape);
  mlir::AffineExpr dynamicIndex(const DynamicIndex &request) { return dynamic.get(request); }
  /// A loop inside the point: `build` gets the new domain dimensions and yields what to reduce.
  void innerLoop(
      llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<kernel::LoopResultKind> kinds,
      llvm::ArrayRef<mlir::Type> types,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::AffineExpr>)> build,
      llvm::SmallVectorImpl<mlir::Value> &results);
  /// Runs `build` with a further guard, which is known at `level`.
  mlir::Value underGuard(mlir::Value condition, unsigned level,
                         llvm::function_ref<mlir::Value()> build);
  /// An index over the domain as arithmetic, at the innermost level.
  mlir::Value indexValue(mlir::AffineExpr overDomain) {
    return indexValue(toVariables(overDomain), scopes.back().builder);
  }

  mlir::OpBuilder &builderAt(unsigned level) { return scopes[level].builder; }
  unsigned innermost() const { return scopes.size() - 1; }
  mlir::Location loc() const { return location; }
  void setLoc(mlir::Location l) { location = l; }
  /// Index expressions over the domain, by the domain's ranges.
  IndexMath math;

private:
  struct Guard {
    mlir::Value condition;
    unsigned level = 0;
  };
  struct Scope {
    mlir::OpBuilder builder;
    std::map<std::vector<const void *>, mlir::Value> known;
    Guard guard;
    unsigned firstVariable;
  };
  struct Tile {
    mlir::Value tile;
    llvm::SmallVector<unsigned> at;
  };

  unsigned levelOf(mlir::AffineExpr overDomain);
  unsigned levelOfVariables(mlir::AffineExpr e);
  unsigned levelOf(llvm::ArrayRef<mlir::AffineExpr> index);
  std::vector<const void *> keyOf(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index) const;
  mlir::AffineExpr toVariables(mlir::AffineExpr overDomain);
  mlir::Value symbolValue(unsigned symbol);
  mlir::Value computeSymbol(const DynamicIndex &index, mlir::OpBuilder &b);
  /// An index expression as arithmetic.
  mlir::Value indexValue(mlir::AffineExpr overVariables, mlir::OpBuilder &b);
  mlir::Value guardValue(llvm::ArrayRef<IndexGuard> guards, unsigned &level);
  mlir::Value loadView(mlir::Value view, mlir::AffineExpr linear, unsigned level);
  std::pair<mlir::AffineMap, llvm::SmallVector<mlir::Value>> toMap(mlir::AffineExpr overVariables);

  mlir::Value compute(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index, unsigned level);
  mlir::Value computeLeaf(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> index,
                          unsigned level);
  mlir::Value computeRandom(graph::RngUniformOp op, llvm::ArrayRef<mlir::AffineExpr> index,
                            unsigned level);
  mlir::Value computeGuarded(mlir::Operation *op, llvm::ArrayRef<OperandAccess> accesses,
                             unsigned level);
  mlir::Value windowDivisor(const WindowShape &w, llvm::ArrayRef<mlir::AffineExpr> o,
                            mlir::Type type);
  /// An element of `x` at a spatial position that may lie outside; `outside` is for there,
  /// `isInside` receives the condition (null when always).
  mlir::Value windowElement(mlir::Value x, const WindowShape &w,
                            llvm::ArrayRef<mlir::AffineExpr> nc, llvm::ArrayRef<mlir::AffineExpr> o,
                            llvm::ArrayRef<mlir::AffineExpr> k, mlir::Type type, double outside,
                            mlir::Value *isInside = nullptr);
  mlir::Value computePool(graph::PoolOp op, llvm::ArrayRef<mlir::AffineExpr> index);
  mlir::Value computePoolGrad(graph::PoolGradOp op, llvm::ArrayRef<mlir::AffineExpr> index);

  const ClusterDomain &domain;
  const llvm::DenseMap<mlir::Value, mlir::Value> &views;
  DynamicIndices dynamic;
  IndexMath loopMath;
  llvm::SmallVector<mlir::AffineExpr> dims; ///< domain dimension → expression over variables
  llvm::SmallVector<mlir::Value> variables; ///< their SSA values
  llvm::SmallVector<unsigned> variableLevels;
  llvm::SmallVector<Scope> scopes;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  llvm::DenseMap<mlir::Value, mlir::Value> defined;
  Guard guard;
  unsigned lowestLevel = 0;
  mlir::Location location = mlir::UnknownLoc::get(math.getContext());
};

} // namespace gpucc

#endif // GPUCC_CONVERSION_GRAPHTOKERNEL_POINTEMITTER_H
