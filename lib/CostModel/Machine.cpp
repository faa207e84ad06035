//===- Machine.cpp - the values, their checks, their text -----------------===//
//
// `dump` writes a file that `parseMachine` (MachineYaml.cpp) reads back to an equal machine; rates
// are written with 17 digits so that nothing is rounded.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Machine.h"
#include <algorithm>
#include <sstream>

namespace gpucc::cost {

double DeviceKind::matrixPeak(DType type) const {
  auto find = [&](DType t) {
    auto it = peak.find(t);
    return it == peak.end() ? 0.0 : it->second;
  };
  double rate = find(type);
  for (DType wider : {DType::BF16, DType::F16, DType::F32})
    if (rate <= 0 && bitWidth(wider) > bitWidth(type))
      rate = find(wider);
  return rate > 0 ? rate : std::max(aluPeak, 1.0);
}

std::vector<NodeGroup> Machine::groups() const {
  std::vector<NodeGroup> all = {
      {device, devicesPerNode, tray, nodes, numa, nics, intra, pricePerHour}};
  all.insert(all.end(), moreNodes.begin(), moreNodes.end());
  return all;
}

Machine Machine::withGroups(const std::vector<NodeGroup> &groups) const {
  Machine m = *this;
  const NodeGroup &first = groups.front();
  m.device = first.device;
  m.devicesPerNode = first.devicesPerNode;
  m.tray = first.tray;
  m.nodes = first.nodes;
  m.numa = first.numa;
  m.nics = first.nics;
  m.intra = first.intra;
  m.pricePerHour = first.pricePerHour;
  m.moreNodes.assign(groups.begin() + 1, groups.end());
  if (first.device.kind != device.kind) { // the name and the sources are those of the first group
    m.name = first.device.kind;
    m.sources.clear();
  }
  return m;
}

int Machine::numDevices() const {
  int count = devicesPerNode * nodes;
  for (const NodeGroup &group : moreNodes)
    count += group.devicesPerNode * group.nodes;
  return count;
}

double Machine::pricePerHourOf(int64_t ranks) const {
  double sum = 0;
  for (const NodeGroup &group : groups()) {
    int64_t here = std::min<int64_t>(ranks, int64_t(group.devicesPerNode) * group.nodes);
    if (here > 0 && group.pricePerHour <= 0)
      return 0;
    sum += group.pricePerHour * static_cast<double>(here);
    ranks -= here;
  }
  return sum;
}

std::string Machine::check() const {
  for (const NodeGroup &group : groups()) {
    if (group.device.peak.empty())
      return "device.peak: no rate is given; name at least f32";
    if (group.devicesPerNode < 1 || group.nodes < 1)
      return "node.devices and nodes must be at least 1";
    if (group.tray > 0 && group.devicesPerNode % group.tray != 0)
      return "node.tray: " + std::to_string(group.tray) +
             " is no divisor of node.devices = " + std::to_string(group.devicesPerNode) +
             "; a node is a whole number of trays";
    if (group.device.memoryBandwidth <= 0)
      return "device.memory-bandwidth must be more than 0";
  }
  for (size_t i = 1; i < tiers.size(); ++i)
    if (tiers[i].nodes % tiers[i - 1].nodes != 0)
      return "network.tiers: " + std::to_string(tiers[i].nodes) + " nodes of '" + tiers[i].name +
             "' are no multiple of the " + std::to_string(tiers[i - 1].nodes) + " of '" +
             tiers[i - 1].name + "'; list tiers smallest first, each a multiple of the one before";
  return "";
}

namespace {

class Dumper {
public:
  Dumper() { out.precision(17); }
  std::ostringstream out;

  void device(const DeviceKind &d, const std::string &pad) {
    out << pad << "device:\n";
    auto line = [&](const char *key) -> std::ostringstream & {
      out << pad << "  " << key << ": ";
      return out;
    };
    line("kind") << d.kind << "\n";
    line("architecture") << d.architecture << "\n";
    line("memory") << d.memoryBytes << " B\n";
    line("memory-bandwidth") << d.memoryBandwidth / 1e9 << " GB/s\n";
    line("multiprocessors") << d.multiprocessors << "\n";
    line("l2") << d.l2Bytes << " B\n";
    line("launch") << d.launchSeconds << " s\n";
    line("context") << d.contextBytes << " B\n";
    line("peak") << "{";
    const char *comma = "";
    for (auto [type, rate] : d.peak) {
      out << comma << gpucc::name(type) << ": " << rate / 1e12 << " TFLOP/s";
      comma = ", ";
    }
    if (d.tf32Peak > 0)
      out << ", tf32: " << d.tf32Peak / 1e12 << " TFLOP/s";
    if (d.fourBitPeak > 0)
      out << ", f4: " << d.fourBitPeak / 1e12 << " TFLOP/s";
    out << "}\n";
    line("alu") << d.aluPeak / 1e12 << " TFLOP/s\n";
    line("special") << d.specialPeak / 1e12 << " TFLOP/s\n";
    if (d.ownMatrixEfficiency || d.ownMemoryEfficiency) {
      line("efficiency") << "{";
      if (d.ownMatrixEfficiency)
        out << "matrix: " << d.matrixEfficiency << (d.ownMemoryEfficiency ? ", " : "");
      if (d.ownMemoryEfficiency)
        out << "memory: " << d.memoryEfficiency;
      out << "}\n";
    }
  }

  void link(const char *key, const LinkClass &l, const std::string &pad) {
    if (l.kind.empty())
      return;
    out << pad << key << ": {kind: " << l.kind << ", bandwidth: " << l.bandwidth / 1e9
        << " GB/s, latency: " << l.latencySeconds << " s, hop: " << l.hopSeconds
        << " s, efficiency: " << l.efficiency;
    if (l.nvlsBandwidth > 0)
      out << ", nvls: " << l.nvlsBandwidth / 1e9 << " GB/s";
    out << "}\n";
  }

  void group(const NodeGroup &g, const std::string &pad) {
    device(g.device, pad);
    out << pad << "node: {devices: " << g.devicesPerNode << ", numa: " << g.numa
        << ", nics: " << g.nics;
    if (g.tray > 0)
      out << ", tray: " << g.tray;
    out << "}\n"
        << pad << "nodes: " << g.nodes << "\n"
        << pad << "price-per-hour: " << g.pricePerHour << "\n";
  }
};

} // namespace

std::string Machine::dump() const {
  Dumper d;
  d.out << "name: " << name << "\n";
  d.group(groups().front(), "");
  d.out << "links:\n";
  d.link("intra", intra, "  ");
  d.link("inter", inter, "  ");
  if (!tiers.empty()) {
    d.out << "network:\n  tiers:\n";
    for (const NetworkTier &t : tiers)
      d.out << "    - {name: " << t.name << ", nodes: " << t.nodes
            << ", oversubscription: " << t.oversubscription << ", hop: " << t.hopSeconds << " s}\n";
  }
  if (mixed())
    d.out << "more-nodes:\n";
  for (const NodeGroup &g : moreNodes) {
    d.out << "  -\n";
    d.group(g, "    ");
    d.link("intra", g.intra, "    ");
  }
  if (!sources.empty())
    d.out << "sources:\n";
  for (const std::string &source : sources)
    d.out << "  - \"" << source << "\"\n";
  return d.out.str();
}

} // namespace gpucc::cost
