//===- SimplifyPatterns.h - patterns of simplify-graph ----------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_GRAPH_SIMPLIFYPATTERNS_H
#define GPUCC_TRANSFORMS_GRAPH_SIMPLIFYPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace gpucc::graph_passes {
/// Neutral operands, involutions, constants to the right, exact reciprocals.
void addArithmeticPatterns(mlir::RewritePatternSet &patterns);
/// Joined and vanishing reshape, transpose, broadcast, slice, concat; transposes into products.
void addMovementPatterns(mlir::RewritePatternSet &patterns);
/// Convolutions without the spatial dimensions over which they do not move.
void addConvolutionPatterns(mlir::RewritePatternSet &patterns);
} // namespace gpucc::graph_passes

#endif // GPUCC_TRANSFORMS_GRAPH_SIMPLIFYPATTERNS_H
