//===- Collectives.cpp - NCCL's choices, in closed form -------------------===//
//
// The forms and latencies are those of NCCL's tuning model (2.30.7, src/graph/tuning.cc): time =
// base latency + steps * hop latency + bytes / algorithm bandwidth, per algorithm and protocol,
// and the cheapest wins. Bandwidths come from the machine, not from NCCL's tables, so that the
// same code serves a link that NCCL has no table for.
//
// A ring over several nodes enters a node once per member there; the members share its NICs. LL
// sends a flag with every 4 bytes of data (half the rate), LL128 8 of 128 bytes.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Collectives.h"
#include <algorithm>
#include <cmath>
#include <tuple>

namespace gpucc::cost {

const char *name(Collective kind) {
  switch (kind) {
  case Collective::AllReduce:
    return "all-reduce";
  case Collective::AllGather:
    return "all-gather";
  case Collective::ReduceScatter:
    return "reduce-scatter";
  case Collective::AllToAll:
    return "all-to-all";
  case Collective::Broadcast:
    return "broadcast";
  case Collective::SendRecv:
    return "send-receive";
  }
  return "";
}

const char *name(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::None:
    return "none";
  case Algorithm::Ring:
    return "ring";
  case Algorithm::Tree:
    return "tree";
  case Algorithm::Nvls:
    return "nvls";
  case Algorithm::NvlsTree:
    return "nvls-tree";
  case Algorithm::Hierarchical:
    return "hierarchical";
  case Algorithm::Pairwise:
    return "pairwise";
  case Algorithm::Direct:
    return "direct";
  }
  return "";
}

const char *name(Protocol protocol) {
  switch (protocol) {
  case Protocol::LL:
    return "LL";
  case Protocol::LL128:
    return "LL128";
  case Protocol::Simple:
    return "Simple";
  }
  return "";
}

namespace {

constexpr Protocol protocols[] = {Protocol::LL, Protocol::LL128, Protocol::Simple};

/// Microseconds by protocol (LL, LL128, Simple): NCCL 2.30.7 baseLatencies and hwLatencies. Simple
/// values are the machine's own (`latency`, `hop`).
struct Latencies {
  double ll, ll128;
};
constexpr Latencies ringBase{6.6, 14}, treeBase{6.8, 14};
constexpr Latencies ringNvlink{0.6, 1.9}, treeNvlink{0.6, 1.25};
constexpr Latencies ringPci{1.0, 2.5}, treePci{1.0, 1.9};
constexpr Latencies ringNet{2.7, 4.0}, treeNet{5.0, 8.5};
constexpr double nvlsHop = 25e-6, nvlsNetHop = 20.9e-6; // Simple

double pick(const Latencies &l, Protocol p, double simple) {
  return p == Protocol::LL ? l.ll * 1e-6 : p == Protocol::LL128 ? l.ll128 * 1e-6 : simple;
}

/// LL copies at what one SM can pack: NCCL's llMaxBw for one node and for several.
double llMost(const Machine &m, bool crosses) {
  const std::string &a = m.device.architecture;
  if (a == "blackwell")
    return (crosses ? 90 : 282) * 1e9;
  if (a == "hopper")
    return (crosses ? 45 : 141) * 1e9;
  return (crosses ? 22.5 : a == "ampere" ? 87.7 : 39) * 1e9;
}

bool isPci(const LinkClass &link) { return link.kind.starts_with("pcie"); }

/// Added to a network step by the tiers of switches that the group crosses.
double tierHop(const Machine &m, int64_t nodes) {
  double seconds = 0;
  for (const NetworkTier &tier : m.tiers)
    if (nodes > tier.nodes)
      seconds += tier.hopSeconds;
  return seconds;
}

struct Where {
  GroupLink on;
  double n, nodes;
  double intraHop, interHop, base; ///< Simple
};

Where whereIs(const Machine &m, RankGroup group) {
  Where w;
  w.on = linkOf(m, group);
  w.n = static_cast<double>(group.size);
  w.nodes = static_cast<double>(w.on.nodes);
  w.intraHop = m.intra.hopSeconds;
  w.interHop = m.inter.hopSeconds + tierHop(m, w.on.nodes);
  w.base = w.on.link->latencySeconds;
  return w;
}

double ringSteps(const Machine &m, const Where &w, Protocol p, double rounds) {
  double nodes = w.on.crossesNodes ? w.nodes : 0;
  double inter = rounds * std::max(0.0, nodes - 1), all = rounds * (w.n - 1);
  double hop = pick(isPci(m.intra) ? ringPci : ringNvlink, p, w.intraHop);
  double net = pick(ringNet, p, w.interHop);
  return (all - std::min(inter, all)) * hop + std::min(inter, all) * net;
}

CollectiveCost ring(const Machine &m, const Where &w, Protocol p, double bytes, double rounds) {
  double rate = w.on.ringBandwidth;
  if (p == Protocol::LL)
    rate = std::min(llMost(m, w.on.crossesNodes), 0.5 * rate);
  if (p == Protocol::LL128)
    rate *= 0.92;
  double seconds = pick(ringBase, p, w.base) + ringSteps(m, w, p, rounds) +
                   rounds * (w.n - 1) / w.n * bytes / rate;
  return {seconds, Algorithm::Ring, p, Provenance::Literature};
}

CollectiveCost tree(const Machine &m, const Where &w, Protocol p, double bytes) {
  double rate = w.on.ringBandwidth;
  if (p == Protocol::LL)
    rate = std::min(rate / 3.8, llMost(m, w.on.crossesNodes));
  else if (p == Protocol::LL128)
    rate *= 0.92 * (w.on.crossesNodes ? 120.0 / 128 : 7.0 / 9);
  else
    rate *= 0.92;
  double hop = pick(isPci(m.intra) ? treePci : treeNvlink, p, w.intraHop);
  double net = pick(treeNet, p, w.interHop);
  double steps = w.on.crossesNodes
                     ? 2 * ((w.n / w.nodes - 1) * hop + std::log2(std::max(2.0, w.nodes)) * net)
                     : 2 * (w.n - 1) * hop;
  return {pick(treeBase, p, w.base) + steps + 2 * bytes / rate, Algorithm::Tree, p,
          Provenance::Literature};
}

/// The switch reduces and multicasts: every byte crosses each link once.
void nvls(const Machine &m, const Where &w, double bytes, double rounds,
          std::vector<CollectiveCost> &choices) {
  if (m.intra.nvlsBandwidth <= 0 || w.on.perNode < 2)
    return;
  double share = (w.n - 1) / w.n, bus = m.intra.nvlsBandwidth;
  if (!w.on.crossesNodes) {
    choices.push_back({nvlsHop + rounds * share * bytes / bus, Algorithm::Nvls, Protocol::Simple,
                       Provenance::Literature});
    return;
  }
  if (rounds < 2)
    return; // NVLSTree serves all-reduce only
  double network = w.on.network * static_cast<double>(w.on.perNode);
  double rate = std::min(bus, network * (w.nodes <= 2 ? 2 : 1));
  double seconds = nvlsHop + 2 * std::log2(std::max(2.0, w.nodes)) *
                                 (nvlsNetHop + w.interHop - m.inter.hopSeconds);
  choices.push_back({seconds + 2 * share * bytes / rate, Algorithm::NvlsTree, Protocol::Simple,
                     Provenance::Literature});
}

/// Reduce-scatter inside the nodes, all-reduce of the shards between them, all-gather inside.
void hierarchical(const Machine &m, const Where &w, double bytes,
                  std::vector<CollectiveCost> &choices) {
  if (!w.on.crossesNodes || w.on.perNode < 2 || w.n != w.nodes * static_cast<double>(w.on.perNode))
    return;
  double inside = static_cast<double>(w.on.perNode);
  double intra = m.intra.bandwidth * m.intra.efficiency;
  double network = w.on.network;
  double seconds = 3 * w.base + 2 * (inside - 1) * w.intraHop + 2 * (w.nodes - 1) * w.interHop +
                   2 * (inside - 1) / inside * bytes / intra +
                   2 * (w.nodes - 1) / w.nodes * bytes / inside / network;
  choices.push_back({seconds, Algorithm::Hierarchical, Protocol::Simple, Provenance::Literature});
}

CollectiveCost allToAll(const Machine &m, const Where &w, double bytes) {
  double intra = m.intra.bandwidth * m.intra.efficiency;
  if (!w.on.crossesNodes)
    return {w.base + w.intraHop + (w.n - 1) / w.n * bytes / intra, Algorithm::Pairwise,
            Protocol::Simple, Provenance::Literature};
  // Bytes for other nodes leave through this rank's own NIC share, the others inside meanwhile.
  double inside = std::min(1.0, static_cast<double>(w.on.perNode) / w.n);
  double network = w.on.network;
  double seconds = std::max((1 - inside) * bytes / network,
                            intra > 0 ? std::max(0.0, inside - 1 / w.n) * bytes / intra : 0.0);
  return {w.base + w.interHop + seconds, Algorithm::Pairwise, Protocol::Simple,
          Provenance::Literature};
}

} // namespace

GroupLink linkOf(const Machine &machine, RankGroup group) {
  GroupLink result;
  int64_t stride = std::max<int64_t>(1, group.stride);
  int64_t span = (group.size - 1) * stride + 1;
  result.crossesNodes = span > machine.devicesPerNode;
  double intra = machine.intra.bandwidth * machine.intra.efficiency;
  double inter = machine.inter.bandwidth * machine.inter.efficiency;
  for (const NodeGroup &other : machine.moreNodes) // a ring is as fast as its slowest member
    if (other.intra.bandwidth > 0)
      intra = std::min(intra, other.intra.bandwidth * other.intra.efficiency);
  if (!result.crossesNodes) {
    result.link = &machine.intra;
    result.ringBandwidth = intra;
    result.perNode = group.size;
    return result;
  }
  result.link = &machine.inter;
  result.perNode =
      std::clamp<int64_t>((machine.devicesPerNode + stride - 1) / stride, 1, group.size);
  result.nodes = (group.size + result.perNode - 1) / result.perNode;
  for (const NetworkTier &tier : machine.tiers)
    if (std::max(result.nodes, span / machine.devicesPerNode) > tier.nodes)
      inter /= std::max(1.0, tier.oversubscription);
  result.network = inter;
  double network = inter * static_cast<double>(result.perNode);
  result.ringBandwidth = result.perNode > 1 && intra > 0 ? std::min(intra, network) : network;
  return result;
}

/// What the closed forms say, cheapest first.
static std::vector<CollectiveCost> forms(const Machine &machine, Collective kind, double bytes,
                                         const Where &w) {
  std::vector<CollectiveCost> choices;
  switch (kind) {
  case Collective::AllReduce:
    for (Protocol p : protocols) {
      choices.push_back(ring(machine, w, p, bytes, 2));
      choices.push_back(tree(machine, w, p, bytes));
    }
    nvls(machine, w, bytes, 2, choices);
    hierarchical(machine, w, bytes, choices);
    break;
  case Collective::AllGather:
  case Collective::ReduceScatter:
    for (Protocol p : protocols)
      choices.push_back(ring(machine, w, p, bytes, 1));
    nvls(machine, w, bytes, 1, choices);
    break;
  case Collective::AllToAll:
    choices.push_back(allToAll(machine, w, bytes));
    break;
  case Collective::Broadcast:
    choices.push_back({w.base + std::log2(w.n) * (w.on.crossesNodes ? w.interHop : w.intraHop) +
                           bytes / w.on.ringBandwidth,
                       Algorithm::Ring, Protocol::Simple, Provenance::Literature});
    break;
  case Collective::SendRecv: {
    const LinkClass &link = *w.on.link;
    double rate = w.on.crossesNodes ? w.on.network : link.bandwidth * link.efficiency;
    choices.push_back({w.base + bytes / std::max(1.0, rate), Algorithm::Direct, Protocol::Simple,
                       Provenance::Literature});
    break;
  }
  }
  std::sort(choices.begin(), choices.end(), [](const auto &a, const auto &b) {
    return std::tuple(a.seconds, a.algorithm, a.protocol) <
           std::tuple(b.seconds, b.algorithm, b.protocol);
  });
  return choices;
}

std::vector<CollectiveCost> collectiveChoices(const Machine &machine, Collective kind, double bytes,
                                              RankGroup group, const Calibration &calibration) {
  if (group.size <= 1 || bytes <= 0)
    return {CollectiveCost()};
  Where w = whereIs(machine, group);
  std::vector<CollectiveCost> choices = forms(machine, kind, bytes, w);
  // A measured all-reduce replaces the form; an all-gather is half of one (a ring all-reduce is a
  // reduce-scatter and an all-gather).
  bool halves = kind == Collective::AllGather || kind == Collective::ReduceScatter;
  if (w.on.crossesNodes || !(kind == Collective::AllReduce || halves))
    return choices;
  if (const Curve *curve = calibration.curve(machine.intra.kind, static_cast<int>(group.size))) {
    double latency =
        bytes < curve->bytes[0] ? forms(machine, Collective::AllReduce, 256, w).front().seconds : 0;
    choices.front().seconds = curve->at(bytes, latency) * (halves ? 0.5 : 1.0);
    choices.front().provenance = curve->provenance;
    choices.resize(1);
  }
  return choices;
}

CollectiveCost collectiveCost(const Machine &machine, Collective kind, double bytes,
                              RankGroup group, const Calibration &calibration) {
  return collectiveChoices(machine, kind, bytes, group, calibration).front();
}

/// Ways to choose r of n.
static double choose(double n, double r) {
  double ways = 1;
  for (double i = 1; i <= r; ++i)
    ways *= (n - r + i) / i;
  return r > n ? 0 : ways;
}

double placesVisited(const Routing &routing, double places) {
  double groups = static_cast<double>(routing.groups), all = static_cast<double>(routing.experts);
  double chosen = std::min(static_cast<double>(routing.topGroups), groups);
  double drawn = all * chosen / groups; // the experts that a token's are among
  // None of them is on a place with this share of those drawn from.
  auto missed = [&routing, drawn](double share) {
    double probability = 1;
    for (int64_t i = 0; i < routing.copies; ++i) {
      double gone = static_cast<double>(i);
      probability *= drawn > gone ? std::max(0.0, 1 - share * drawn / (drawn - gone)) : 1 - share;
    }
    return probability;
  };
  double perPlace = groups / places; // groups on one
  if (chosen >= groups || (perPlace > 1 && std::floor(perPlace) != perPlace))
    return places * (1 - missed(1 / places));
  if (perPlace <= 1) // those of the chosen groups, evenly
    return chosen / perPlace * (1 - missed(perPlace / chosen));
  double never = 0; // j of a place's groups are chosen with hypergeometric probability
  for (double j = 0; j <= std::min(perPlace, chosen); ++j)
    never += choose(perPlace, j) * choose(groups - perPlace, chosen - j) / choose(groups, chosen) *
             missed(j / chosen);
  return places * (1 - never);
}

double onceSeconds(const Machine &machine, double tokenBytes, RankGroup group,
                   const Routing &routing) {
  if (group.size <= 1 || tokenBytes <= 0)
    return 0;
  Where w = whereIs(machine, group);
  double intra = machine.intra.bandwidth * machine.intra.efficiency;
  double perNode = static_cast<double>(w.on.perNode);
  // Every rank visited gets its copy from one of its own node, itself excepted.
  double inside = tokenBytes * placesVisited(routing, w.n) * (1 - 1 / perNode);
  double seconds = intra > 0 ? inside / intra : 0;
  if (!w.on.crossesNodes)
    return w.base + w.intraHop + seconds;
  double outside = tokenBytes * placesVisited(routing, w.nodes) * (1 - 1 / w.nodes);
  return w.base + w.interHop + std::max(seconds, outside / w.on.network);
}

double collectiveSeconds(const Machine &machine, Collective kind, double bytes, RankGroup group) {
  return collectiveCost(machine, kind, bytes, group).seconds;
}

std::vector<SwitchPoint> switchPoints(const Machine &machine, RankGroup group) {
  std::vector<SwitchPoint> points;
  if (group.size <= 1)
    return points;
  Where w = whereIs(machine, group);
  for (double bytes = 256; bytes <= 16.0 * (1 << 30); bytes *= std::sqrt(2.0)) {
    CollectiveCost best = forms(machine, Collective::AllReduce, bytes, w).front();
    if (points.empty() || points.back().algorithm != best.algorithm ||
        points.back().protocol != best.protocol)
      points.push_back({bytes, best.algorithm, best.protocol});
  }
  return points;
}

} // namespace gpucc::cost
