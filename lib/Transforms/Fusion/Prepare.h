//===- Prepare.h - rewrites in front of fusion ------------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_FUSION_PREPARE_H
#define GPUCC_TRANSFORMS_FUSION_PREPARE_H

#include "lib/Transforms/Fusion/Policy.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc::fusion {

/// Tensors without elements become constants; ops that combine nothing (a sum over no elements, a
/// concat with an empty part) become what that is. Returns how many ops went.
unsigned foldEmptyTensors(mlir::func::FuncOp function);

/// Replaces composites that have no scalar body (and no emitter on the target) by their expansion,
/// and arg_reduce by reductions. Returns how many.
unsigned expandComposites(mlir::func::FuncOp function, const Policy &policy);

/// Convolutions that the library takes, and what surrounds them, with channels innermost; others
/// with channels first. Returns how many convolutions got channels innermost.
unsigned putChannelsLast(mlir::func::FuncOp function, const Policy &policy);

/// transpose(x) · w = x · w with other dimension lists, where the order of the result's dimensions
/// allows. Returns how many transposes.
unsigned foldTransposesIntoContracts(mlir::func::FuncOp function);

/// Transposes operands of products whose groups of dimensions are no single runs of memory.
void normalizeContracts(mlir::func::FuncOp function);

/// Products too small for a library become multiply and sum, where fusion takes them. Returns how
/// many.
unsigned expandSmallContracts(mlir::func::FuncOp function, const Policy &policy);

/// A reduction of very many elements to few becomes two. Returns how many.
unsigned splitReductions(mlir::func::FuncOp function);

/// Gives every reader of a value that depends on indices alone a copy of its own. Returns how many
/// copies.
unsigned separateIndexExpressions(mlir::func::FuncOp function);

} // namespace gpucc::fusion

#endif // GPUCC_TRANSFORMS_FUSION_PREPARE_H
