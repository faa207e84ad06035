//===- FunctionMemory.h - which bytes a function's values take --*- C++ -*-===//
//
// The view of memory that ordering and recomputation share, the one that
// GraphToSched realizes later:
//
//   * a reshape is a view: its bytes are those of its *root*;
//   * arguments, weights and constants lie outside the arena;
//   * a returned value is written straight where it belongs (an output, the
//     state it overwrites) when nobody reads the old state after its writer;
//     otherwise it lies in the arena until the end, when it is copied;
//   * everything else lies in the arena, rounded up to 256 bytes, from its op
//     to its last reader.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_MEMORY_FUNCTIONMEMORY_H
#define GPUCC_LIB_TRANSFORMS_MEMORY_FUNCTIONMEMORY_H

#include "dialects/Graph/Graph.h"
#include "gpucc/Solvers/Order.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc::memory {

/// The value whose bytes `value` shares.
mlir::Value rootOf(mlir::Value value);

/// Bytes of a value in the arena.
int64_t arenaBytes(mlir::Value value);
/// Bytes without rounding.
int64_t plainBytes(mlir::Type type);

/// Nothing runs for it: a view, or a value that is there before the function starts.
bool isFree(mlir::Operation *op);

class FunctionMemory {
public:
  explicit FunctionMemory(mlir::func::FuncOp function);

  mlir::func::FuncOp function;
  std::vector<mlir::Operation *> ops; ///< without the terminator, in order
  llvm::DenseMap<mlir::Operation *, int> index;

  /// True when a result of an op is computed where the function's caller wants it.
  bool isPlaced(mlir::Value root) const { return placed.contains(root); }
  /// True when the function returns it (directly or as a view).
  bool isReturned(mlir::Value root) const { return returned.contains(root); }
  /// True for a value that takes bytes of the arena.
  bool inArena(mlir::Value root) const;

  /// One op per op of the function; tensors are the values in the arena. The function's own order
  /// is legal.
  solvers::OrderProblem orderProblem() const;

  /// Precedence among `count` ops in a legal order: collectives and effects keep theirs, and an op
  /// that overwrites state stays behind the readers of the old state that are before it.
  void addStateEdges(solvers::OrderProblem &problem, size_t count,
                     llvm::function_ref<mlir::Operation *(size_t)> opAt) const;

private:
  void findPlaced();

  llvm::DenseSet<mlir::Value> placed, returned;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>> overwrites; ///< arguments
};

} // namespace gpucc::memory

#endif // GPUCC_LIB_TRANSFORMS_MEMORY_FUNCTIONMEMORY_H
