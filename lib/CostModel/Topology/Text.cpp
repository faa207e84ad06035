//===- Text.cpp - the table, and the machine of a topology ----------------===//
#include "gpucc/CostModel/Topology.h"
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

namespace gpucc::cost {

namespace {

std::string cell(const Path &p) {
  return p.kind == PathKind::NvLink ? "NV" + std::to_string(p.links) : name(p.kind);
}

void endpointRow(std::ostringstream &out, const Endpoint &e) {
  char line[256];
  std::string pcie = e.width > 0 || e.generation > 0
                         ? "gen " + std::to_string(std::max(e.generation, e.mostGeneration)) +
                               " x" + std::to_string(e.width)
                         : "-";
  std::snprintf(line, sizeof line, "%-10.10s %-28.28s %-18.18s %4s  %-10s", e.name.c_str(),
                e.model.empty() ? "-" : e.model.c_str(), e.busId.empty() ? "-" : e.busId.c_str(),
                e.numa < 0 ? "-" : std::to_string(e.numa).c_str(), pcie.c_str());
  out << line;
  if (e.memoryBytes > 0)
    out << " " << static_cast<long long>(e.memoryBytes / 1048576.0) << " MiB";
  if (e.clockMhz > 0)
    out << "  " << e.clockMhz << " MHz";
  if (e.gigabits > 0)
    out << "  " << e.gigabits << " Gb/s";
  out << "\n";
}

std::string gigabytes(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f GB/s", rate / 1e9);
  return text;
}

void order(std::ostringstream &out, const Topology &t, const char *what,
           const std::vector<int> &gpus, double slowest) {
  out << what;
  for (size_t i = 0; i < gpus.size() && i < 16; ++i)
    out << " " << t.gpus[static_cast<size_t>(gpus[i])].name;
  if (gpus.size() > 16)
    out << " ... " << t.gpus[static_cast<size_t>(gpus.back())].name;
  out << ": slowest step " << gigabytes(slowest) << " a direction\n";
}

} // namespace

std::string topologyTable(const Topology &t) {
  std::ostringstream out;
  out << t.gpus.size() << " GPUs, " << t.nics.size() << " network cards (" << t.format << ")\n\n";
  out << "name       model                        bus                numa  PCIe\n";
  for (const Endpoint &g : t.gpus)
    endpointRow(out, g);
  for (const Endpoint &n : t.nics)
    endpointRow(out, n);
  if (t.pathsKnown()) {
    auto column = [&](const std::string &text) {
      char padded[32];
      std::snprintf(padded, sizeof padded, "%-8.8s", text.c_str());
      out << padded;
    };
    out << "\n";
    column("");
    for (const Endpoint &g : t.gpus)
      column(g.name);
    for (const Endpoint &n : t.nics)
      column(n.name);
    out << "\n";
    for (size_t i = 0; i < t.gpus.size(); ++i) {
      column(t.gpus[i].name);
      for (const Path &p : t.gpuPaths[i])
        column(cell(p));
      for (const Path &p : t.nicPaths[i])
        column(cell(p));
      out << "\n";
    }
    RingAndTree r = ringAndTree(t);
    if (!r.ring.empty()) {
      out << "\n";
      order(out, t, "ring ", r.ring, r.slowest);
      order(out, t, "chain", r.chain, r.chainSlowest);
    }
  }
  for (const GivenGraph &g : t.given) {
    out << "\n"
        << g.pattern << ", " << g.channels << " channels, " << g.intraGBs << " GB/s inside ("
        << g.intraType << "), " << g.interGBs << " GB/s between nodes, per channel\n";
    for (size_t c = 0; c < g.orders.size(); ++c) {
      out << "  channel " << c << ":";
      for (int gpu : g.orders[c])
        out << " GPU" << gpu;
      out << "\n";
    }
  }
  return out.str();
}

/// Built-in machine whose device carries the model's name.
static std::string builtinOf(std::string model, double memoryBytes) {
  std::transform(model.begin(), model.end(), model.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  auto has = [&](const char *part) { return model.find(part) != std::string::npos; };
  if (has("GB300"))
    return "gb300-nvl72";
  if (has("GB200"))
    return "gb200-nvl72";
  if (has("B300"))
    return "b300";
  if (has("B200"))
    return "b200";
  if (has("GH200"))
    return "gh200";
  if (has("H200"))
    return "h200";
  if (has("H800"))
    return "h800";
  if (has("H100"))
    return memoryBytes > 90e9 ? "h100-96gb" : "h100";
  if (has("A800"))
    return "a800";
  if (has("A100"))
    return has("PCIE")                             ? "a100-pcie"
           : memoryBytes > 0 && memoryBytes < 60e9 ? "a100-40gb"
                                                   : "a100-80gb";
  if (has("V100"))
    return memoryBytes > 0 && memoryBytes < 20e9 ? "v100-16gb" : "v100";
  if (has("L40S"))
    return "l40s";
  if (has("L4"))
    return "l4";
  if (has("T4"))
    return "t4";
  if (has("4090"))
    return "rtx4090";
  if (has("SM_100"))
    return "b200";
  if (has("SM_90"))
    return "h100";
  if (has("SM_80"))
    return "a100-80gb";
  if (has("SM_70"))
    return "v100";
  return "";
}

MachineOrError machineOfTopology(const Topology &t) {
  const Endpoint &first = t.gpus.front();
  std::string base = builtinOf(first.model, first.memoryBytes);
  if (base.empty())
    return t.origin + ": found " +
           (first.model.empty() ? "no model name of the GPUs (" + t.format + " has none)"
                                : "the model '" + first.model + "'") +
           ", allowed one of the built-in devices; give the output of nvidia-smi -q -x, or write a "
           "machine.yaml by hand (docs/machines.md)";
  Machine m = std::get<Machine>(loadMachine(base));
  m.name = base + "-node";
  m.devicesPerNode = static_cast<int>(t.gpus.size());
  m.nodes = 1;
  m.nics = static_cast<int>(t.nics.size());
  int numa = 0;
  for (const Endpoint &g : t.gpus)
    numa = std::max(numa, g.numa + 1);
  m.numa = std::max(1, numa);
  RingAndTree r = ringAndTree(t);
  if (r.slowest > 0 && !r.ring.empty()) {
    bool nvlink = false;
    for (const auto &row : t.gpuPaths)
      for (const Path &p : row)
        nvlink |= p.kind == PathKind::NvLink;
    m.intra.bandwidth = r.slowest;
    if (!nvlink)
      m.intra.kind = "pcie", m.intra.hopSeconds = 5.7e-6, m.intra.efficiency = 0.5,
      m.intra.nvlsBandwidth = 0;
  }
  m.sources = {"device: built-in " + base, "node and links: " + t.format + " of " + t.origin};
  return m;
}

} // namespace gpucc::cost
