//===- Memory.h - bytes of one rank, by what they hold ----------*- C++ -*-===//
//
// What: model state under ZeRO, activations by recomputation mode and schedule position, logits,
// buffers of collectives, what the allocator wastes, and the context that no plan can use.
//
// Example: 1e9 parameters, bf16 copies and gradients, f32 master and two moments, ZeRO-1 over 8:
// 2 + 2 GB stay, 12 GB become 1.5 GB.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_MEMORY_H
#define GPUCC_COSTMODEL_MEMORY_H

#include "gpucc/CostModel/Calibration.h"
#include "gpucc/CostModel/Machine.h"
#include <string>

namespace gpucc::cost {

struct RankMemory {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;     ///< moments, masters
  double activations = 0;   ///< kept for backward, times micro-batches in flight
  double workspace = 0;     ///< largest temporary set inside one layer
  double logits = 0;        ///< output of the vocabulary projection, its loss and gradient
  double communication = 0; ///< buckets and staging of collectives
  double allocator = 0;     ///< rounding and fragmentation of the caching allocator
  double context = 0;       ///< driver and libraries
  double total() const {
    return parameters + gradients + optimizer + activations + workspace + logits + communication +
           allocator + context;
  }
  std::string dump() const;
};

/// Model state of one rank. Elements are counted after tensor and pipeline sharding, before ZeRO.
struct StateInputs {
  double parameterBytes = 0; ///< the copies that compute reads
  double gradientBytes = 0;
  double optimizerBytes = 0; ///< masters and moments
  int zeroStage = 0;         ///< 1: optimizer, 2: + gradients, 3: + parameters are divided by dp
  int64_t dp = 1;            ///< ranks that share the state (the ZeRO group)
};
RankMemory stateMemory(const StateInputs &inputs);

/// Adds what the caching allocator loses (a share of what comes and goes: activations, workspace,
/// logits) and the context: CUDA, libraries, and communicators when several ranks run.
void addOverheads(RankMemory &memory, const Machine &machine, bool severalNodes,
                  const Calibration &calibration = Calibration::builtin());

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_MEMORY_H
