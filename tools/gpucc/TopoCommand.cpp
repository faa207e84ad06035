//===- TopoCommand.cpp - gpucc topo --------------------------------------===//
//
// What a node is made of, what is wrong with it, the ring and chain that collectives will use, a
// drawing, and a machine file for the planner.
//
//===----------------------------------------------------------------------===//
#include "Commands.h"
#include "WorkloadOptions.h"
#include "gpucc/CostModel/Collectives.h"
#include "gpucc/CostModel/Topology.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace gpucc;
using namespace gpucc::tool;
using namespace gpucc::cost;

namespace {

struct Arguments {
  std::string file, svg, machine, json;
  bool list = false;
};

/// What a command prints; empty when it is not there or fails.
std::string outputOf(const char *command) {
  std::string text;
  FILE *pipe = popen(command, "r");
  if (!pipe)
    return "";
  char buffer[4096];
  while (size_t n = fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, n);
  return pclose(pipe) == 0 ? text : "";
}

/// This machine: paths from the table, models and links from the XML.
TopologyOrError thisMachine() {
  std::string table = outputOf("nvidia-smi topo -m 2>/dev/null");
  std::string xml = outputOf("nvidia-smi -q -x 2>/dev/null");
  if (table.empty() || xml.empty())
    return std::string(
        "found no FILE and no nvidia-smi on this machine, allowed gpucc topo FILE "
        "with the saved output of nvidia-smi topo -m, nvidia-smi -q -x, lstopo, or "
        "NCCL's topology file; or the name of a built-in machine (gpucc topo --list)");
  TopologyOrError paths = parseTopology(table, "nvidia-smi topo -m");
  TopologyOrError devices = parseTopology(xml, "nvidia-smi -q -x");
  if (std::holds_alternative<std::string>(paths) || std::holds_alternative<std::string>(devices))
    return paths;
  Topology &t = std::get<Topology>(paths);
  const Topology &d = std::get<Topology>(devices);
  for (size_t i = 0; i < t.gpus.size() && i < d.gpus.size(); ++i) {
    int numa = t.gpus[i].numa;
    std::string name = t.gpus[i].name;
    t.gpus[i] = d.gpus[i];
    t.gpus[i].numa = numa;
    t.gpus[i].name = name;
  }
  return paths;
}

/// A node of a machine description, all pairs alike.
Topology ofMachine(const Machine &m) {
  Topology t;
  t.origin = m.name;
  t.format = "machine " + m.name;
  if (m.numDevices() > m.devicesPerNode) {
    char text[160];
    std::snprintf(text, sizeof text,
                  ", %d nodes of %d devices (%d in all), one is shown; between nodes %s, %.3g GB/s "
                  "per device",
                  m.nodes, m.devicesPerNode, m.numDevices(), m.inter.kind.c_str(),
                  m.inter.bandwidth / 1e9);
    t.format += text;
  }
  bool nvlink = m.intra.kind.starts_with("nvlink");
  double rate = m.device.architecture == "blackwell" ? 50e9 : 25e9;
  Path between = nvlink ? Path{PathKind::NvLink, static_cast<int>(m.intra.bandwidth / rate + 0.5)}
                        : Path{PathKind::Phb, 0};
  size_t n = static_cast<size_t>(m.devicesPerNode), cards = static_cast<size_t>(m.nics);
  for (size_t i = 0; i < n; ++i) {
    Endpoint e;
    e.name = "GPU" + std::to_string(i);
    e.model = m.device.kind;
    e.numa = static_cast<int>(i * static_cast<size_t>(m.numa) / n);
    e.memoryBytes = m.device.memoryBytes;
    t.gpus.push_back(e);
    t.gpuPaths.push_back(std::vector<Path>(n, between));
    t.gpuPaths.back()[i] = {PathKind::Self, 0};
    t.nicPaths.push_back(std::vector<Path>(cards, Path{PathKind::Node, 0}));
    for (size_t k = 0; k < cards; ++k)
      if (k * n / cards == i)
        t.nicPaths.back()[k] = {PathKind::Pix, 0};
  }
  for (size_t k = 0; k < cards; ++k) {
    Endpoint e;
    e.name = "NIC" + std::to_string(k);
    e.gigabits = m.inter.bandwidth * 8e-9 * m.devicesPerNode / m.nics;
    t.nics.push_back(e);
  }
  return t;
}

TopologyOrError load(const std::string &file) {
  if (file.empty())
    return thisMachine();
  bool yaml = file.ends_with(".yaml") || file.ends_with(".yml");
  std::ifstream stream(file);
  if (!stream || yaml) {
    MachineOrError machine = loadMachine(file);
    if (Machine *m = std::get_if<Machine>(&machine))
      return ofMachine(*m);
    return std::get<std::string>(machine);
  }
  std::stringstream text;
  text << stream.rdbuf();
  return parseTopology(text.str(), file);
}

nlohmann::json jsonOf(const Topology &t, const std::vector<std::string> &warnings) {
  nlohmann::json json = {{"format", t.format}, {"warnings", warnings}};
  for (const Endpoint &g : t.gpus)
    json["gpus"].push_back({{"name", g.name},
                            {"model", g.model},
                            {"numa", g.numa},
                            {"pcie_width", g.width},
                            {"pcie_generation", g.generation}});
  for (const Endpoint &n : t.nics)
    json["nics"].push_back({{"name", n.name}, {"numa", n.numa}});
  RingAndTree r = ringAndTree(t);
  json["ring"] = r.ring;
  json["chain"] = r.chain;
  json["ring_bytes_per_second"] = r.slowest;
  return json;
}

/// When the planner's collectives change algorithm on this node.
void printSwitches(const Topology &t) {
  MachineOrError machine = machineOfTopology(t);
  Machine *m = std::get_if<Machine>(&machine);
  if (!m || t.gpus.size() < 2)
    return;
  std::printf("\nall-reduce of all %zu GPUs, from bytes on:\n", t.gpus.size());
  for (const SwitchPoint &p : switchPoints(*m, {static_cast<int64_t>(t.gpus.size()), 1}))
    std::printf("  %12.0f  %s %s\n", p.bytes, name(p.algorithm), name(p.protocol));
}

int run(const Arguments &arguments) {
  if (arguments.list) {
    for (const auto &[name, text] : builtinMachines()) {
      Machine m = std::get<Machine>(loadMachine(name));
      std::printf("%-14s %3d x %-24s %7.0f MiB  %5.0f TFLOP/s f16  %s\n", name.c_str(),
                  m.devicesPerNode, m.device.kind.c_str(), m.device.memoryBytes / 1048576.0,
                  m.device.matrixPeak(DType::F16) / 1e12, m.intra.kind.c_str());
    }
    return 0;
  }
  TopologyOrError loaded = load(arguments.file);
  if (std::string *wrong = std::get_if<std::string>(&loaded)) {
    std::fprintf(stderr, "gpucc topo: %s\n", wrong->c_str());
    return 2;
  }
  const Topology &t = std::get<Topology>(loaded);
  std::vector<std::string> warnings = topologyWarnings(t);
  std::printf("%s", topologyTable(t).c_str());
  printSwitches(t);
  std::printf("\n%zu warning%s\n", warnings.size(), warnings.size() == 1 ? "" : "s");
  for (const std::string &w : warnings)
    std::printf("  warning: %s\n", w.c_str());
  if (!arguments.machine.empty()) {
    MachineOrError machine = machineOfTopology(t);
    if (std::string *wrong = std::get_if<std::string>(&machine)) {
      std::fprintf(stderr, "gpucc topo: %s\n", wrong->c_str());
      return 2;
    }
    if (int code = writeText(arguments.machine, std::get<Machine>(machine).dump()))
      return code;
  }
  int code = arguments.svg.empty() ? 0 : writeText(arguments.svg, topologySvg(t));
  if (!code && !arguments.json.empty())
    code = writeText(arguments.json, jsonOf(t, warnings).dump(2) + "\n");
  return code;
}

} // namespace

Command tool::addTopo(CLI::App &app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("file", arguments->file,
                 "output of nvidia-smi topo -m or -q -x, NCCL topology or graph XML, lstopo XML, a "
                 "machine.yaml or a built-in name; none: this machine");
  app.add_option("--svg", arguments->svg, "write a drawing");
  app.add_option("--machine", arguments->machine, "write a machine.yaml for the planner");
  app.add_option("--json", arguments->json, "write the same as JSON (-: to stdout)");
  app.add_flag("--list", arguments->list, "list the built-in machines");
  app.footer("\nexamples\n  nvidia-smi topo -m > node.txt; gpucc topo node.txt --svg node.svg\n"
             "  gpucc topo h100                                 a built-in node\n"
             "  gpucc topo nccl-topo.xml --machine node.yaml    for gpucc plan -m node.yaml");
  return [arguments] { return run(*arguments); };
}
