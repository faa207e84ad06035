//===- ConstantExpressions.h - values that depend on no input ---*- C++ -*-===//
//
// Masks and tables are often computed from iota and constants. They are known
// while compiling even where they are too large to become constants of the IR.
//
//   %i = iota, %j = iota, %m = compare le %j, %i     evaluateExpression(%m): the lower triangle
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_GRAPH_CONSTANTEXPRESSIONS_H
#define GPUCC_TRANSFORMS_GRAPH_CONSTANTEXPRESSIONS_H

#include "dialects/Graph/Graph.h"

namespace gpucc::graph_passes {

/// The value, when it depends on constants and iota only and no intermediate value has more than
/// `maxElements` elements.
std::optional<HostTensor> evaluateExpression(mlir::Value value, int64_t maxElements = 1 << 22);

/// Evaluates one op on constant operands; none when it cannot be.
std::optional<llvm::SmallVector<HostTensor>> evaluateOp(mlir::Operation *op,
                                                        llvm::ArrayRef<HostTensor> operands);

/// The number that every element of `value` is: a splat constant, or such a one broadcast,
/// reshaped or converted.
std::optional<double> splatNumber(mlir::Value value);

} // namespace gpucc::graph_passes

#endif // GPUCC_TRANSFORMS_GRAPH_CONSTANTEXPRESSIONS_H
