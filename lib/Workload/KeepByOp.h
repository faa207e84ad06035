//===- KeepByOp.h - selective recomputation by operator ---------*- C++ -*-===//
//
// What: marks what a layer keeps and repeats under `Recompute::Ops`, torchtitan's selective
// activation checkpointing with option "op".
//
// Example, Llama 3 8B on one device: of its products q, k, v, out, gate, up, down the results of
// q, v and gate are kept, k, out and up run again; per token 8192 (the layer's input) + 8192 (q) +
// 2048 (v) + 8192 + 128 (attention and its log-sums) + 28672 (gate) = 55,424 bytes stay.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_WORKLOAD_KEEPBYOP_H
#define GPUCC_LIB_WORKLOAD_KEEPBYOP_H

#include "gpucc/Workload/Expand.h"

namespace gpucc::workload {

void keepByOp(const Workload &workload, const Layout &layout, BlockWork &block);

} // namespace gpucc::workload
#endif // GPUCC_LIB_WORKLOAD_KEEPBYOP_H
