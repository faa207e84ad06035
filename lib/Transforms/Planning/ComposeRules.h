//===- ComposeRules.h - the loops of two ops run as one ---------*- C++ -*-===//
//
// An op whose only result is read by one other op can run inside it. The rule of both together
// follows by naming the loops of the value between them once:
//
//   a: x[i,j] → t[i,j]        b: t[p,q], u[q] → y[p]  (q reduced)
//   both: x[i,j], u[j] → y[i]   (j reduced)
//
// Where one side sees a dimension as one loop and the other as several (a reshape in between), the
// one loop becomes the several: a: x[i] → t[i] of 512, b: t[a·b] → y[a,b] of 8x64 gives x[a·b] →
// y[a,b].
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_PLANNING_COMPOSERULES_H
#define GPUCC_LIB_TRANSFORMS_PLANNING_COMPOSERULES_H

#include "gpucc/Facts/ShardingRule.h"
#include <optional>

namespace gpucc {

/// `producer` has one result, which `consumer` reads at the operand positions `uses`. The operands
/// of the result: those of the consumer with uses[0] replaced by the producer's and the other uses
/// left out. None where the loops do not match, or where a reduction would no longer be the last
/// step.
std::optional<ShardingRule> composeRules(const ShardingRule &producer, const ShardingRule &consumer,
                                         const std::vector<size_t> &uses);

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_PLANNING_COMPOSERULES_H
