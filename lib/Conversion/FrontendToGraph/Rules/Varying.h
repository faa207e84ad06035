//===- Varying.h - tools for tensors of varying size ------------*- C++ -*-===//
//
//   mask [F, T, T, F]  ->  places {at [1, 2, 0, 0], count 2}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_VARYING_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_VARYING_H

#include "lib/Conversion/FrontendToGraph/Node.h"

namespace gpucc::frontend_to_graph {

/// Where a mask is true: i64 of the mask's size, 0 from entry `count` (an i64 scalar) on.
struct Places {
  Value at, count;
};
Places placesOf(GraphBuilder &g, Value mask);
/// Entries of `values` (1-D) at the true places of `mask`, in front; 0 behind them.
Value packed(GraphBuilder &g, Value mask, Value values);

/// i1 [shape]: is the index along `dim` below `count`?
Value realEntries(GraphBuilder &g, ArrayRef<int64_t> shape, int64_t dim, Value count);
/// `mask` of operand i's shape, false in its padding.
Value withoutPadding(Node &n, unsigned i, Value mask);
/// Operand i with `padding` in place of its padding.
Value withPadding(Node &n, unsigned i, double padding);

/// Fails under training, whose steps have fixed sizes.
LogicalResult refuseTraining(Node &n);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_VARYING_H
