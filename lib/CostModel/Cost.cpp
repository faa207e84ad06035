//===- Cost.cpp - roofline, alpha-beta, state bytes -----------------------===//
//
// Tile shapes and their relative rates, the K prologue of 261 elements and the alignment penalties
// are the ones a fit to published training runs supported (design notes, cost models).
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Cost.h"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace gpucc::cost {

namespace {
struct Tile {
  double m, n, rate;
};
constexpr Tile tiles[] = {
    {256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.96}, {128, 64, 0.86}, {64, 64, 0.70}};
constexpr double kPrologue = 261;      // K elements that start and end of a tile cost
constexpr double lastWaveShare = 0.25; // of an incomplete last wave hidden by its neighbours
constexpr double unaligned8 = 0.18;    // a contiguous dimension that is no multiple of 8
constexpr double unaligned64 = 0.69;   // ... of 64

double ceilDiv(double a, double b) { return std::ceil(a / b); }
} // namespace

double matrixUtilization(const DeviceKind &device, int64_t m, int64_t n, int64_t k, int64_t batch,
                         DType type) {
  if (m <= 0 || n <= 0 || k <= 0)
    return device.matrixEfficiency;
  double align = 1;
  bool tensorUnit = bitWidth(type) <= 16;
  if (tensorUnit) {
    bool odd = n % 8 != 0 || k % 8 != 0;
    bool ragged = n % 64 != 0 || k % 64 != 0;
    align = odd ? unaligned8 : ragged ? unaligned64 : 1;
  }
  double best = 0, sms = device.multiprocessors, work = static_cast<double>(batch) * m * n * k;
  for (const Tile &tile : tiles)
    for (double split : {1.0, 2.0, 4.0}) {
      double count = static_cast<double>(std::max<int64_t>(1, batch)) * ceilDiv(m, tile.m) *
                     ceilDiv(n, tile.n);
      if (split > 1 && count >= sms)
        continue;
      double waves = ceilDiv(count * split, sms);
      waves = (1 - lastWaveShare) * waves + lastWaveShare * std::max(1.0, count * split / sms);
      double depth = ceilDiv(k, split) + kPrologue * (1 + 0.3 * (split - 1));
      double spent = waves * tile.m * tile.n * depth * sms / tile.rate;
      best = std::max(best, work / spent);
    }
  return std::min(1.0, best) * align * device.matrixEfficiency;
}

double opSeconds(const Machine &machine, const OpFacts &facts, bool tf32) {
  const DeviceKind &device = machine.device;
  if (facts.bytesRead + facts.bytesWritten + facts.matrixFlops + facts.aluFlops +
          facts.specialFlops <=
      0)
    return 0; // a view is no kernel
  double seconds =
      (facts.bytesRead + facts.bytesWritten) / (device.memoryBandwidth * device.memoryEfficiency);
  if (facts.matrixFlops > 0) {
    bool useTf32 = tf32 && facts.matrixType == DType::F32 && device.tf32Peak > 0;
    double peak = useTf32 ? device.tf32Peak : device.matrixPeak(facts.matrixType);
    double share = matrixUtilization(device, facts.m, facts.n, facts.k, facts.batch,
                                     useTf32 ? DType::BF16 : facts.matrixType);
    seconds = std::max(seconds, facts.matrixFlops / (peak * share));
  }
  double vector = facts.aluFlops / std::max(1.0, device.aluPeak * device.memoryEfficiency) +
                  facts.specialFlops / std::max(1.0, device.specialPeak * device.memoryEfficiency);
  return std::max(seconds, vector) + device.launchSeconds;
}

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

/// A ring over several nodes enters a node once per member there; the members share the NICs.
GroupLink linkOf(const Machine &machine, RankGroup group) {
  GroupLink result;
  int64_t span = (group.size - 1) * group.stride + 1;
  result.crossesNodes = span > machine.devicesPerNode;
  double intra = machine.intra.bandwidth * machine.intra.efficiency;
  if (!result.crossesNodes) {
    result.link = &machine.intra;
    result.ringBandwidth = intra;
    return result;
  }
  result.link = &machine.inter;
  double perNode = std::max<double>(1, static_cast<double>(machine.devicesPerNode) /
                                           static_cast<double>(group.stride));
  perNode = std::min(perNode, static_cast<double>(group.size));
  double network = machine.inter.bandwidth * machine.inter.efficiency * perNode;
  result.ringBandwidth = perNode > 1 && intra > 0 ? std::min(intra, network) : network;
  return result;
}

double collectiveSeconds(const Machine &machine, Collective kind, double bytes, RankGroup group) {
  if (group.size <= 1 || bytes <= 0)
    return 0;
  GroupLink on = linkOf(machine, group);
  double n = static_cast<double>(group.size), bandwidth = std::max(1.0, on.ringBandwidth);
  double base = on.link->latencySeconds, hop = on.link->hopSeconds;
  double share = (n - 1) / n;
  switch (kind) {
  case Collective::AllReduce: {
    double ring = base + 2 * (n - 1) * hop + 2 * share * bytes / bandwidth;
    double tree = base + 2 * std::log2(n) * hop + 2 * bytes / (0.85 * bandwidth);
    return std::min(ring, tree);
  }
  case Collective::AllGather:
  case Collective::ReduceScatter:
    // Ring, or recursive doubling with fewer hops at three quarters of the bandwidth.
    return std::min(base + (n - 1) * hop + share * bytes / bandwidth,
                    base + std::log2(n) * hop + share * bytes / (0.75 * bandwidth));
  case Collective::AllToAll: {
    if (!on.crossesNodes)
      return base + hop + share * bytes / bandwidth;
    // Bytes for other nodes leave through this rank's own NIC share.
    double inside = std::min(
        1.0, std::max(1.0, machine.devicesPerNode / static_cast<double>(group.stride)) / n);
    double nic = machine.inter.bandwidth * machine.inter.efficiency;
    return base + hop + (1 - inside) * bytes / nic;
  }
  case Collective::Broadcast:
    return base + std::log2(n) * hop + bytes / bandwidth;
  case Collective::SendRecv: {
    double link = on.link->bandwidth * on.link->efficiency;
    return base + bytes / std::max(1.0, link);
  }
  }
  return 0;
}

RankMemory stateMemory(const StateInputs &inputs) {
  double dp = static_cast<double>(std::max<int64_t>(1, inputs.dp));
  RankMemory memory;
  memory.parameters = inputs.parameterBytes / (inputs.zeroStage >= 3 ? dp : 1);
  memory.gradients = inputs.gradientBytes / (inputs.zeroStage >= 2 ? dp : 1);
  memory.optimizer = inputs.optimizerBytes / (inputs.zeroStage >= 1 ? dp : 1);
  return memory;
}

std::string RankMemory::dump() const {
  std::ostringstream out;
  out.precision(3);
  out << std::fixed;
  auto row = [&](const char *what, double bytes) {
    out << what << ' ' << bytes / 1073741824.0 << " GiB\n";
  };
  row("parameters    ", parameters);
  row("gradients     ", gradients);
  row("optimizer     ", optimizer);
  row("activations   ", activations);
  row("workspace     ", workspace);
  row("communication ", communication);
  row("context       ", context);
  row("total         ", total());
  return out.str();
}

} // namespace gpucc::cost
