//===- Collectives.h - a collective on a group of ranks, in seconds -*- C++ -*-===//
//
// What: the cheapest of ring, tree, NVLS and hierarchical algorithms with the protocols LL, LL128
// and Simple, as NCCL would choose: latency of the steps plus bytes over the rate of the slowest
// link on the way. Measured curves, where the calibration has one for the link, replace the form.
//
// Example, A100 node, 8 ranks, 1 GiB all-reduce: the measured curve says 8.19 ms; without it the
// Simple ring takes 8.4 us + 14 * 3.4 us + 2 * 7/8 * 1 GiB / (300 GB/s * 0.765) = 8.24 ms.
//
// Ranks fill nodes in order. A group is `size` ranks whose neighbours are `stride` ranks apart: on
// 8-device nodes {4, 8} is one device of each of four nodes; all eight such groups run at once, so
// each has one NIC share.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_COLLECTIVES_H
#define GPUCC_COSTMODEL_COLLECTIVES_H

#include "gpucc/CostModel/Calibration.h"
#include "gpucc/CostModel/Machine.h"

namespace gpucc::cost {

enum class Collective { AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, SendRecv };
const char *name(Collective kind);

struct RankGroup {
  int64_t size = 1;
  int64_t stride = 1;
  bool operator==(const RankGroup &) const = default;
};

enum class Algorithm { None, Ring, Tree, Nvls, NvlsTree, Hierarchical, Pairwise, Direct };
enum class Protocol { LL, LL128, Simple };
const char *name(Algorithm algorithm);
const char *name(Protocol protocol);

struct CollectiveCost {
  double seconds = 0;
  Algorithm algorithm = Algorithm::None;
  Protocol protocol = Protocol::Simple;
  Provenance provenance = Provenance::Literature;
};

/// `bytes` is the size of the *full* tensor: what every rank holds before and after an all-reduce,
/// the gathered result of an all-gather, the unreduced input of a reduce-scatter, what one rank
/// sends in total in an all-to-all, the message of a send.
CollectiveCost collectiveCost(const Machine &machine, Collective kind, double bytes,
                              RankGroup group,
                              const Calibration &calibration = Calibration::builtin());

/// Experts that a token visits: `copies` different ones, drawn evenly from `topGroups` of the
/// `groups` that all `experts` are cut into (1 of 1: from all; 0 experts: more than can be counted).
struct Routing {
  int64_t copies = 1, groups = 1, topGroups = 1, experts = 0;
};
/// Of `places` (ranks, or nodes) that hold equal shares of the experts in order, how many a token
/// visits on average. 2 of 8 experts on 4 ranks: 4 (1 - 6/8 5/7) = 1.86.
double placesVisited(const Routing &routing, double places);
/// An all-to-all of experts that sends a token once to a node and there once to a rank, whatever
/// experts it has on it (DeepEP, HybridEP). `tokenBytes`: of all tokens of one rank, one copy each.
double onceSeconds(const Machine &machine, double tokenBytes, RankGroup group,
                   const Routing &routing);

/// Every algorithm and protocol that could serve, cheapest first.
std::vector<CollectiveCost> collectiveChoices(const Machine &machine, Collective kind, double bytes,
                                              RankGroup group, const Calibration &calibration);

/// All-reduce sizes (bytes, powers of the square root of two) at which the closed forms' choice
/// changes, with the new choice.
struct SwitchPoint {
  double bytes = 0;
  Algorithm algorithm = Algorithm::None;
  Protocol protocol = Protocol::Simple;
};
std::vector<SwitchPoint> switchPoints(const Machine &machine, RankGroup group);

/// Where a group lies and the bytes per second per rank of a ring through it.
struct GroupLink {
  const LinkClass *link = nullptr;
  bool crossesNodes = false;
  double ringBandwidth = 0;
  double network = 0;  ///< bytes per second of one member to other nodes, tiers counted
  int64_t perNode = 1; ///< members of the group on one node
  int64_t nodes = 1;   ///< nodes that the group touches
};
GroupLink linkOf(const Machine &machine, RankGroup group);

/// Old spelling: the seconds alone, with the built-in calibration.
double collectiveSeconds(const Machine &machine, Collective kind, double bytes, RankGroup group);

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_COLLECTIVES_H
