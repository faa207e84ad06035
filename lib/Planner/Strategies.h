//===- Strategies.h - the ways an op can run on dp x tp ---------*- C++ -*-===//
//
// From an op's sharding rule to its strategies, and the price of changing a layout between two ops.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_PLANNER_STRATEGIES_H
#define GPUCC_LIB_PLANNER_STRATEGIES_H

#include "gpucc/Planner/Plan.h"

namespace gpucc::planner {

/// The factor that carries the batch dimension of one of the op's tensors; -1: none.
int batchFactor(const PlanProblem &problem, const PlanOp &op);

/// Per tensor: under dp it is a sum that is still partial when its only reader gets it (gradients
/// of weights, and what linear ops make of them).
std::vector<char> dpPartialTensors(const PlanProblem &problem);

/// All ways to run `op`: tp on no factor, on one that is large enough, or (linear ops) letting a
/// partial sum over tp pass through.
std::vector<Strategy> strategiesOf(const PlanProblem &problem, const PlanOp &op,
                                   const Candidate &candidate, const std::vector<char> &dpPartial);

/// Seconds of a collective on something that is sent in buckets with others of its kind: latency is
/// shared.
double bucketedSeconds(const PlanProblem &problem, cost::Collective kind, double bytes,
                       cost::RankGroup group);

/// tp layouts a stored tensor may have.
std::vector<int> storedLayouts(const PlanTensor &tensor, const Candidate &candidate);

/// Bytes of one rank's block of `tensor` during one run.
double localBytes(const PlanProblem &problem, int tensor, int dpLayout, int tpLayout,
                  const Candidate &candidate, bool perStep);

/// Seconds to turn one layout of a value into another (one run). `gradientSum` is set when a
/// reduction over dp is part of it.
double reshardSeconds(const PlanProblem &problem, int tensor, int fromDp, int fromTp, int toDp,
                      int toTp, const Candidate &candidate, bool perStep, bool &gradientSum);

} // namespace gpucc::planner
#endif
