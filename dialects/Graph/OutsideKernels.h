//===- OutsideKernels.h - ops that stand beside clusters --------*- C++ -*-===//
//
// From fusion to scheduling a rank's function holds clusters (later: launches of
// kernels), collectives, and ops that need no kernel: views, constants and
// library products. Scheduling has a command for each of these.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_OUTSIDEKERNELS_H
#define GPUCC_GRAPH_OUTSIDEKERNELS_H

#include "dialects/Graph/Graph.h"

namespace gpucc::graph {

inline bool isOutsideKernels(mlir::Operation *op) {
  return mlir::isa<ReshapeOp, ConstantOp, WeightOp, ContractOp, ConvolutionOp,
                   ConvolutionInputGradOp, ConvolutionFilterGradOp>(op);
}

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_OUTSIDEKERNELS_H
