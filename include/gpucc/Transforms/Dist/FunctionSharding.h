//===- FunctionSharding.h - shardings of a whole function -------*- C++ -*-===//
//
// What propagation decides, the planner pins and tests draw at random: for each
// value how it lies, for each op by which strategy it is executed. Writing it
// into IR puts `dist.sharding` on arguments and ops and a `dist.reshard` where
// an op needs an operand otherwise than it was made:
//
//   %1 = graph.contract %x, %w   result [{dp},{}] partial sum {tp}
//   %2 = graph.unary relu %1     strategy: operand [{dp},{}]
//     ->
//   %1 = graph.contract ... {dist.sharding = [...]}
//   %r = dist.reshard %1 on @mesh from <...> to <[{"dp"}, {}]>
//   %2 = graph.unary relu %r {dist.sharding = [...]}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_DIST_FUNCTIONSHARDING_H
#define GPUCC_TRANSFORMS_DIST_FUNCTIONSHARDING_H

#include "dialects/Dist/Dist.h"
#include "gpucc/Transforms/Dist/OpStrategy.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {

/// The op's rule; without the interface nothing may be split.
ShardingRule shardingRuleOf(mlir::Operation *op);

struct FunctionSharding {
  llvm::DenseMap<mlir::Value, Sharding> values;
  llvm::DenseMap<mlir::Operation *, OpStrategy> strategies;
  /// Backward gathers again what forward gathered, instead of keeping it (sequence parallelism).
  bool gatherAgain = false;
};

/// Writes `sharding` into the function. Values without an entry are whole. State results get the
/// sharding of the argument they overwrite, other results are reduced at least. Returns the number
/// of reshards.
int64_t writeShardings(mlir::func::FuncOp function, dist::MeshOp mesh,
                       const FunctionSharding &sharding);

/// Checks that the shardings in the function obey every op's rule: an error at each op that does
/// not, with both shardings and the reason.
mlir::LogicalResult verifyShardings(mlir::func::FuncOp function, const Mesh &mesh);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_FUNCTIONSHARDING_H
