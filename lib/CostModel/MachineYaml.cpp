//===- MachineYaml.cpp - machine.yaml and the built-in names --------------===//
//
// The schema is the sequence of reads in `readMachine`; docs/machines.md describes it for users. A
// mixed machine lists its other nodes under `more-nodes`, each in full or `like:` a built-in one.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Calibration.h"
#include "gpucc/CostModel/Machine.h"
#include "gpucc/CostModel/YamlReader.h"
#include "gpucc/Facts/Text.h"
#include <algorithm>
#include <fstream>
#include <sstream>

namespace gpucc::cost {

namespace {

const std::vector<std::string> architectures = {"volta", "turing", "ampere",
                                                "ada",   "hopper", "blackwell"};

/// Peaks by operand type; "tf32" (f32 operands on tensor cores) and "f4" are no types of their own.
void readPeaks(YamlReader &reader, const YAML::Node &device, DeviceKind &d) {
  YAML::Node node = reader.map(device, "device", "peak", true);
  if (!node.IsDefined() || !node.IsMap())
    return;
  if (node.size() == 0)
    reader.fail(node, "device.peak", "no rate", "a rate by element type, at least f32",
                "write e.g. peak: {f32: 10 TFLOP/s}");
  for (const auto &entry : node) {
    std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    double rate = reader.number(node, "device.peak", key, &flopsQuantity, std::nullopt, 1e-6);
    std::optional<DType> type = parseDType(key);
    if (key == "tf32")
      d.tf32Peak = rate;
    else if (key == "f4")
      d.fourBitPeak = rate;
    else if (!type)
      reader.fail(entry.first, "device.peak." + key, "an unknown type",
                  "f64, f32, tf32, f16, bf16, f8E4M3, f8E5M2, f4, i8", "correct the type's name");
    else
      d.peak[*type] = rate;
  }
}

void readEfficiency(YamlReader &reader, const YAML::Node &device, DeviceKind &d) {
  YAML::Node node = reader.map(device, "device", "efficiency", false);
  reader.onlyKeys(node, "device.efficiency", {"matrix", "memory"});
  const Calibration &calibration = Calibration::builtin();
  double none = -1;
  double matrix = reader.number(node, "device.efficiency", "matrix", nullptr, none, 0.01, 1);
  double memory = reader.number(node, "device.efficiency", "memory", nullptr, none, 0.01, 1);
  d.ownMatrixEfficiency = matrix > 0;
  d.ownMemoryEfficiency = memory > 0;
  d.matrixEfficiency = matrix > 0 ? matrix : calibration.matrixEfficiency(d.architecture);
  d.memoryEfficiency = memory > 0 ? memory : calibration("memory-efficiency");
}

DeviceKind readDevice(YamlReader &reader, const YAML::Node &parent) {
  YAML::Node device = reader.map(parent, "", "device", true);
  reader.onlyKeys(device, "device",
                  {"kind", "architecture", "memory", "memory-bandwidth", "multiprocessors", "l2",
                   "launch", "context", "peak", "alu", "special", "efficiency"});
  DeviceKind d;
  d.kind = reader.text(device, "device", "kind");
  d.architecture = reader.choice(device, "device", "architecture", architectures, "ampere");
  d.memoryBytes = reader.number(device, "device", "memory", &bytesQuantity, std::nullopt);
  d.memoryBandwidth =
      reader.number(device, "device", "memory-bandwidth", &rateQuantity, std::nullopt);
  d.multiprocessors = static_cast<int>(
      reader.integer(device, "device", "multiprocessors", std::nullopt, 1, 100000));
  d.l2Bytes = reader.number(device, "device", "l2", &bytesQuantity, 0.0);
  d.launchSeconds = reader.number(device, "device", "launch", &timeQuantity, 3e-6);
  d.contextBytes = reader.number(device, "device", "context", &bytesQuantity, 0.0);
  readPeaks(reader, device, d);
  double f32 = d.peak.count(DType::F32) ? d.peak[DType::F32] : 0;
  d.aluPeak = reader.number(device, "device", "alu", &flopsQuantity, f32);
  d.specialPeak = reader.number(device, "device", "special", &flopsQuantity, d.aluPeak / 16);
  readEfficiency(reader, device, d);
  return d;
}

LinkClass readLink(YamlReader &reader, const YAML::Node &links, const std::string &parent,
                   const std::string &key, bool required) {
  LinkClass link;
  YAML::Node node = reader.map(links, parent, key, required);
  if (!node.IsDefined() || !node.IsMap())
    return link;
  std::string path = YamlReader::join(parent, key);
  reader.onlyKeys(node, path, {"kind", "bandwidth", "latency", "hop", "efficiency", "nvls"});
  link.kind = reader.text(node, path, "kind");
  link.bandwidth = reader.number(node, path, "bandwidth", &rateQuantity, std::nullopt, 1e-3);
  link.latencySeconds = reader.number(node, path, "latency", &timeQuantity, 1e-5);
  link.hopSeconds = reader.number(node, path, "hop", &timeQuantity, 3e-6);
  link.efficiency = reader.number(node, path, "efficiency", nullptr, 0.8, 0.01, 1);
  link.nvlsBandwidth = reader.number(node, path, "nvls", &rateQuantity, 0.0);
  return link;
}

void readCounts(YamlReader &reader, const YAML::Node &parent, NodeGroup &g) {
  YAML::Node node = reader.map(parent, "", "node", true);
  reader.onlyKeys(node, "node", {"devices", "tray", "numa", "nics"});
  g.devicesPerNode =
      static_cast<int>(reader.integer(node, "node", "devices", std::nullopt, 1, 100000));
  g.tray = static_cast<int>(reader.integer(node, "node", "tray", 0, 0, 100000));
  g.numa = static_cast<int>(reader.integer(node, "node", "numa", 1, 1, 1024));
  g.nics = static_cast<int>(reader.integer(node, "node", "nics", 0, 0, 1024));
  g.nodes = static_cast<int>(reader.integer(parent, "", "nodes", 1, 1, 1000000));
  g.pricePerHour = reader.number(parent, "", "price-per-hour", nullptr, 0.0);
}

void readTiers(YamlReader &reader, const YAML::Node &root, Machine &m) {
  YAML::Node network = reader.map(root, "", "network", false);
  reader.onlyKeys(network, "network", {"tiers"});
  YAML::Node list = reader.list(network, "network", "tiers");
  if (!list.IsDefined() || !list.IsSequence())
    return;
  for (const auto &node : list) {
    if (!node.IsMap()) {
      reader.fail(node, "network.tiers", "something else", "a mapping of keys",
                  "write - {name: leaf, nodes: 32, oversubscription: 1}");
      return;
    }
    const std::string path = "network.tiers";
    reader.onlyKeys(node, path, {"name", "nodes", "oversubscription", "hop"});
    NetworkTier tier;
    tier.name = reader.text(node, path, "name");
    tier.nodes = static_cast<int>(reader.integer(node, path, "nodes", std::nullopt, 1, 1000000));
    tier.oversubscription = reader.number(node, path, "oversubscription", nullptr, 1.0, 1);
    tier.hopSeconds = reader.number(node, path, "hop", &timeQuantity, 0.0);
    m.tiers.push_back(tier);
  }
}

/// `like: NAME` takes device, node and links of a built-in machine.
NodeGroup readGroup(YamlReader &reader, const YAML::Node &node) {
  NodeGroup g;
  std::string like = reader.text(node, "more-nodes", "like", "");
  if (like.empty()) {
    reader.onlyKeys(node, "more-nodes", {"device", "node", "nodes", "price-per-hour", "intra"});
    g.device = readDevice(reader, node);
    readCounts(reader, node, g);
    g.intra = readLink(reader, node, "", "intra", g.devicesPerNode > 1);
    return g;
  }
  reader.onlyKeys(node, "more-nodes", {"like", "nodes", "price-per-hour"});
  auto it = builtinMachines().find(like);
  if (it == builtinMachines().end()) {
    reader.fail(node, "more-nodes.like", "'" + like + "'", "the name of a built-in machine",
                "see gpucc topo --list");
    return g;
  }
  MachineOrError parsed = parseMachine(it->second, like);
  g = std::get<Machine>(parsed).groups().front();
  g.nodes = static_cast<int>(reader.integer(node, "more-nodes", "nodes", 1, 1, 1000000));
  g.pricePerHour = reader.number(node, "more-nodes", "price-per-hour", nullptr, g.pricePerHour);
  return g;
}

Machine readMachine(YamlReader &reader, const YAML::Node &root) {
  Machine m;
  reader.onlyKeys(root, "",
                  {"name", "device", "node", "nodes", "links", "network", "more-nodes", "sources",
                   "price-per-hour"});
  m.name = reader.text(root, "", "name");
  NodeGroup first;
  m.device = readDevice(reader, root);
  readCounts(reader, root, first);
  m.devicesPerNode = first.devicesPerNode;
  m.tray = first.tray;
  m.nodes = first.nodes;
  m.numa = first.numa;
  m.nics = first.nics;
  m.pricePerHour = first.pricePerHour;
  YAML::Node more = reader.list(root, "", "more-nodes");
  bool mixed = more.IsDefined() && more.IsSequence() && more.size() > 0;
  bool needsIntra = m.devicesPerNode > 1, needsInter = m.nodes > 1 || mixed;
  YAML::Node links = reader.map(root, "", "links", needsIntra || needsInter);
  reader.onlyKeys(links, "links", {"intra", "inter"});
  m.intra = readLink(reader, links, "links", "intra", needsIntra);
  m.inter = readLink(reader, links, "links", "inter", needsInter);
  readTiers(reader, root, m);
  if (mixed)
    for (const auto &node : more)
      m.moreNodes.push_back(readGroup(reader, node));
  YAML::Node sources = reader.list(root, "", "sources");
  if (sources.IsDefined() && sources.IsSequence())
    for (const auto &source : sources)
      m.sources.push_back(source.IsScalar() ? source.Scalar() : "");
  return m;
}

/// "h100-8x4" → ("h100", 4); "h100-8" and "h100" → ("h100", 1). Empty: no built-in name.
std::pair<std::string, int> builtinName(const std::string &given) {
  auto known = [](std::string base) -> std::string {
    if (!builtinMachines().count(base) && base.size() > 2 && base.ends_with("-8"))
      base.resize(base.size() - 2);
    return builtinMachines().count(base) ? base : "";
  };
  if (std::string base = known(given); !base.empty())
    return {base, 1};
  size_t x = given.rfind('x');
  if (x == std::string::npos || x + 1 >= given.size() || given.size() - x > 6)
    return {"", 0};
  for (size_t i = x + 1; i < given.size(); ++i)
    if (given[i] < '0' || given[i] > '9')
      return {"", 0};
  int nodes = std::stoi(given.substr(x + 1));
  return {nodes >= 1 ? known(given.substr(0, x)) : "", nodes};
}

} // namespace

MachineOrError parseMachine(const std::string &text, const std::string &origin) {
  Machine machine;
  std::string error =
      readYaml(text, origin, "a machine description",
               [&](YamlReader &r, const YAML::Node &root) { machine = readMachine(r, root); });
  if (!error.empty())
    return error;
  std::string problem = machine.check();
  if (!problem.empty())
    return origin + ":1: " + problem;
  return machine;
}

/// The fewest nodes that give `gpus` devices in equal whole trays; 0: no number of nodes does.
static int nodesOfTrays(const Machine &m, int gpus) {
  int first = (gpus + m.devicesPerNode - 1) / m.devicesPerNode;
  for (int n = first; m.tray > 0 && n <= gpus / m.tray; ++n)
    if (gpus % n == 0 && gpus / n % m.tray == 0)
      return n;
  return 0;
}

/// As many nodes as `gpus` devices need, or a part of one node.
static std::string scaleTo(Machine &m, int gpus) {
  if (m.mixed())
    return m.numDevices() == gpus ? ""
                                  : "--gpus: found " + std::to_string(gpus) + ", allowed the " +
                                        std::to_string(m.numDevices()) +
                                        " devices of this mixed machine; edit its file";
  if (gpus < m.devicesPerNode) {
    m.devicesPerNode = gpus;
    m.nodes = 1;
    return "";
  }
  if (int nodes = gpus % m.devicesPerNode ? nodesOfTrays(m, gpus) : 0) {
    m.devicesPerNode = gpus / nodes;
    m.nodes = nodes;
    return "";
  }
  if (gpus % m.devicesPerNode != 0)
    return "--gpus: found " + std::to_string(gpus) + ", allowed fewer than " +
           std::to_string(m.devicesPerNode) + " or a multiple of it (whole nodes of " + m.name +
           (m.tray > 0 ? ", or equal trays of " + std::to_string(m.tray) + " of each" : "") +
           "); ask for " + std::to_string((gpus / m.devicesPerNode + 1) * m.devicesPerNode);
  m.nodes = gpus / m.devicesPerNode;
  return "";
}

MachineOrError loadMachine(const std::string &nameOrPath, int gpus) {
  auto [base, nodes] = builtinName(nameOrPath);
  MachineOrError result;
  if (!base.empty()) {
    result = parseMachine(builtinMachines().at(base), base);
    if (Machine *machine = std::get_if<Machine>(&result)) {
      machine->nodes = nodes;
      machine->name = nameOrPath;
    }
  } else {
    std::ifstream file(nameOrPath);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) {
      std::string known;
      std::vector<std::string> names;
      for (const auto &[name, unused] : builtinMachines()) {
        known += (known.empty() ? "" : ", ") + name;
        names.push_back(name);
      }
      std::string nearest = nearestWord(names, nameOrPath);
      return "--machine: found '" + nameOrPath +
             "', which is neither a readable file nor built in; allowed a machine.yaml or one of " +
             known + " (h100-8 is h100; xN for N nodes, e.g. h100-8x4)" +
             (nearest.empty() ? "" : "; did you mean " + nearest + "?");
    }
    result = parseMachine(text.str(), nameOrPath);
  }
  Machine *machine = std::get_if<Machine>(&result);
  if (machine && gpus > 0)
    if (std::string wrong = scaleTo(*machine, gpus); !wrong.empty())
      return wrong;
  return result;
}

} // namespace gpucc::cost
