//===- Stacks.h - documented settings of published software -----*- C++ -*-===//
//
// What: for each source the software it ran, as the source documents it. The first entry whose
// pattern occurs in the source's name counts.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_STACKS_H
#define GPUCC_BENCH_COSTMODEL_STACKS_H

#include "gpucc/Workload/Layout.h"

namespace gpucc::bench {

struct Stack {
  const char *source;   ///< part of the source's name
  const char *family;   ///< sources reported together
  const char *software; ///< name for the table
  bool flash;           ///< FlashAttention or unfused attention
  double attentionRate; ///< of that kernel library against FlashAttention 2
  bool sequenceParallel;
  bool overlapGradients, overlapTensor;
  int gradientBytes;
  int zeroStage;                 ///< where the row does not say
  double network;                ///< GB/s per device; 0: the machine's
  workload::Recompute recompute; ///< where the row does not say
  bool recomputeStated;          ///< false: not said; as much as it takes to fit
  bool reduceWhole;       ///< ZeRO-1 by all-reduce (DeepSpeed of 2022) instead of reduce-scatter
  bool greedyStages;      ///< ceil(layers / pp) from the front
  bool fused;             ///< bias, activation, dropout and add are fused kernels
  bool allocated;         ///< its memory figures are what tensors took
  double bucketMegabytes; ///< most of one data-parallel collective; 0: all at once or a layer
};

const Stack *stackOf(const std::string &source);
/// The same, or for software that the table lacks what today's stacks have in common.
const Stack *stackOrUsual(const std::string &source, const std::string &machine);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_STACKS_H
