//===- SplitDims.h - which dimension carries the batch ----------*- C++ -*-===//
//
// Inputs say which of their dimensions is the batch (and the sequence); the loops of the ops carry
// it on, forward and backward: y[i,j] = contract(x[i,k], W[k,j]) with x's batch in dimension 0 has
// the batch in y's dimension 0; a bias broadcast to [i,j] and added to y has it too.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_PLANNING_SPLITDIMS_H
#define GPUCC_LIB_TRANSFORMS_PLANNING_SPLITDIMS_H

#include "gpucc/Planner/Problem.h"

namespace gpucc {

/// Fills `dim` (batchDim or sequenceDim) of tensors that are no states; extents are multiples of
/// `extent`.
void spreadDims(planner::PlanProblem &problem, int planner::PlanTensor::*dim, int64_t extent);

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_PLANNING_SPLITDIMS_H
