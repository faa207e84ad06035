//===- ClusterWork.h - what a cluster computes, as an attribute -*- C++ -*-===//
//
//   {contract 4x192 . 192x16 -> relu}  ->  #kernel.work<matrix = 24576, alu = 64, m = 4, n = 16, k = 192, ...>
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_GRAPHTOKERNEL_CLUSTERWORK_H
#define GPUCC_CONVERSION_GRAPHTOKERNEL_CLUSTERWORK_H

#include "dialects/Graph/Graph.h"
#include "dialects/Kernel/Kernel.h"

namespace gpucc {

/// The sum of the facts of the cluster's ops; the shape is that of its largest product. Null where it only moves.
kernel::WorkAttr workOf(graph::ClusterOp cluster);

} // namespace gpucc

#endif // GPUCC_CONVERSION_GRAPHTOKERNEL_CLUSTERWORK_H
