//===- SpmdCompare.h - is the partitioned program the same? -----*- C++ -*-===//
//
// Runs one step of the unpartitioned program and of all ranks of the partitioned
// one on the same inputs and state, and compares every value that both have:
// op by op (where `dist.origin` tells which op a rank's op came from), then
// outputs, summed gradients and new state. The first wrong value, in the order
// of the unpartitioned program, says where a partition went wrong.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_REFERENCE_SPMDCOMPARE_H
#define GPUCC_REFERENCE_SPMDCOMPARE_H

#include "gpucc/Reference/SpmdEvaluate.h"

namespace gpucc {

struct SpmdTolerance {
  /// Allowed: max|a-b| <= relative * max(max|b|, floor * the largest value of its kind in the
  /// step).
  double relative = 1e-4, floor = 1e-3;
};

struct SpmdMismatch {
  std::string kind;  ///< "op", "output", "gradient", "state"
  std::string name;  ///< of the tensor; for ops the name in the model and the kind of op
  /// First rank whose block is wrong; of a value whose parts are summed, the first of those ranks.
  int64_t rank = -1;
  int64_t microBatch = -1;
  double error = 0, allowed = 0;
  std::string detail; ///< element, both values; or why the copies cannot be put together
  std::string op;     ///< that makes the value in the unpartitioned program; "" when none does
  mlir::Location location;
};

struct SpmdReport {
  size_t compared = 0;                  ///< values that were compared
  std::vector<SpmdMismatch> mismatches; ///< first wrong value first
  double worst = 0;                     ///< largest error / allowed
  bool equal() const { return mismatches.empty(); }
  std::string dump() const;
};

/// Both evaluators have the same state. Runs one step on each. A failure (an op that cannot run, a
/// deadlock) has emitted its error.
mlir::FailureOr<SpmdReport> compareStep(SpmdEvaluator &reference, SpmdEvaluator &partitioned,
                                        const std::vector<NamedTensors> &microBatches,
                                        const SpmdTolerance &tolerance = {});

} // namespace gpucc

#endif // GPUCC_REFERENCE_SPMDCOMPARE_H
