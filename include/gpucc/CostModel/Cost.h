//===- Cost.h - facts to seconds and bytes ----------------------*- C++ -*-===//
//
// What: how long an op takes on a device, how long a collective takes on a group of ranks, and how
// many bytes a rank needs. Pure functions of facts and a Machine; nothing is measured here.
//
// Example, H100, bf16 contract of 8192^3: 2 * 8192^3 FLOP / (989e12 * 0.64) = 1.74 ms; the bytes
// (3 * 8192^2 * 2) take 0.16 ms, so the matrix unit bounds it.
//
// Forms: roofline over matrix unit, vector unit, special functions and memory; matrix rate falls
// with tile and wave quantization, short K and unaligned dimensions. Collectives: alpha-beta with
// ring (2(n-1)/n bytes, 2(n-1) hops) and tree (2 bytes, 2 log2 n hops) all-reduce, the cheaper one.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_COST_H
#define GPUCC_COSTMODEL_COST_H

#include "gpucc/CostModel/Machine.h"
#include "gpucc/Facts/OpFacts.h"

namespace gpucc::cost {

/// Seconds of one kernel with these (local) facts, launch included; 0 for an op without work (a
/// view). `tf32`: f32 matrix operands may use tf32 units.
double opSeconds(const Machine &machine, const OpFacts &facts, bool tf32 = false);

/// Share of the matrix peak (already times matrixEfficiency) that m x n x k times batch reaches.
double matrixUtilization(const DeviceKind &device, int64_t m, int64_t n, int64_t k, int64_t batch,
                         DType type);

enum class Collective { AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, SendRecv };
const char *name(Collective kind);

/// `size` ranks, consecutive members `stride` ranks apart; ranks fill nodes in order.
struct RankGroup {
  int64_t size = 1;
  int64_t stride = 1;
  bool operator==(const RankGroup &) const = default;
};

/// Seconds of one collective. `bytes` is the size of the *full* tensor: what every rank holds
/// before and after an all-reduce, the gathered result of an all-gather, the unreduced input of a
/// reduce-scatter, what one rank sends in total in an all-to-all, the message of a send.
double collectiveSeconds(const Machine &machine, Collective kind, double bytes, RankGroup group);

/// The link a group uses and the bytes per second per rank of a ring on it.
struct GroupLink {
  const LinkClass *link = nullptr;
  bool crossesNodes = false;
  double ringBandwidth = 0;
};
GroupLink linkOf(const Machine &machine, RankGroup group);

/// Bytes of one rank, by what they hold.
struct RankMemory {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;     ///< moments, masters
  double activations = 0;   ///< kept for backward, times micro-batches in flight
  double workspace = 0;     ///< largest temporary set inside one layer
  double communication = 0; ///< buckets and staging of collectives
  double context = 0;       ///< driver and libraries
  double total() const {
    return parameters + gradients + optimizer + activations + workspace + communication + context;
  }
  std::string dump() const;
};

/// Model state of one rank. Elements are counted after tensor and pipeline sharding, before ZeRO.
struct StateInputs {
  double parameterBytes = 0; ///< the copies that compute reads
  double gradientBytes = 0;
  double optimizerBytes = 0; ///< masters and moments
  int zeroStage = 0;         ///< 1: optimizer, 2: + gradients, 3: + parameters are divided by dp
  int64_t dp = 1;
};
RankMemory stateMemory(const StateInputs &inputs);

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_COST_H
