//===- MatmulForm.h - a contraction as a batched matrix product -*- C++ -*-===//
//
// graph.contract allows any dimensions; libraries and tiled kernels want
// A[batch..,M,K] · B[batch..,K,N] = C[batch..,M,N] with strides. That works
// without moving data when the free (contracted) dimensions of an operand lie
// one after the other in memory, so that they act as one.
//
//   q[2,64,8,32] · k[2,64,8,32] over the last, batch (0,2):
//     batch 2,8   M=64 N=64 K=32   A strides {16384,32 | 256,1}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_ANALYSIS_MATMULFORM_H
#define GPUCC_ANALYSIS_MATMULFORM_H

#include "dialects/Graph/Graph.h"

#include <optional>
#include <vector>

namespace gpucc {

struct MatmulForm {
  std::vector<int64_t> batch; ///< extents
  int64_t m = 1, n = 1, k = 1;
  /// Strides in elements: batch dimensions first, then (M,K), (K,N), (M,N).
  std::vector<int64_t> lhsStrides, rhsStrides, resultStrides;
};

/// None when a group of dimensions of an operand is not one run in memory; transpose it first.
std::optional<MatmulForm> matmulForm(graph::ContractOp op);

} // namespace gpucc

#endif // GPUCC_ANALYSIS_MATMULFORM_H
