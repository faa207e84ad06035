//===- Decomposition.h - composites through their expansion -----*- C++ -*-===//
//
// A composite says what it is by buildDecomposition; its other answers follow:
//
//   evaluate   runs the expansion op by op. Floats are widened to f64 first and
//              the result is rounded once, like that of every other op
//   VJP        builds the expansion in place and differentiates it in reverse
//   facts      sums the work of the expansion's ops; bytes are those of the
//              composite's own operands and results, since one kernel makes it
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_DECOMPOSITION_H
#define GPUCC_GRAPH_DECOMPOSITION_H

#include "dialects/Graph/Build.h"

namespace gpucc::graph {

mlir::LogicalResult evaluateByDecomposition(mlir::Operation *op,
                                            llvm::ArrayRef<HostTensor> operands,
                                            llvm::MutableArrayRef<HostTensor> results);

mlir::LogicalResult vjpByDecomposition(mlir::Operation *op, mlir::OpBuilder &builder,
                                       llvm::ArrayRef<mlir::Value> resultGrads,
                                       llvm::ArrayRef<bool> needed,
                                       llvm::MutableArrayRef<mlir::Value> operandGrads);

OpFacts factsByDecomposition(mlir::Operation *op);

/// Evaluates the ops of a block (without its terminator) in order. `values` holds the block's
/// arguments (and whatever else the ops use) and receives every result.
mlir::LogicalResult evaluateBlock(mlir::Block &block,
                                  llvm::DenseMap<mlir::Value, HostTensor> &values);

/// Reverse sweep over `ops`, which are in order and built by `builder` before: `grads` holds the
/// gradients of some of their results and receives those of every value that `wanted` accepts
/// (operands between a wanted value and the results are always followed).
mlir::LogicalResult reverseSweep(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Operation *> ops,
                                 llvm::ArrayRef<mlir::Value> wanted,
                                 llvm::DenseMap<mlir::Value, mlir::Value> &grads);

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_DECOMPOSITION_H
