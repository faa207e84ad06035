//===- Machine.cpp - machine.yaml in and out ------------------------------===//
//
// The schema is the sequence of `take*` calls in `readMachine`: a key that no call asks for is an
// error too, so that a misspelt key is never ignored. Line numbers are those of the YAML text.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Machine.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <yaml-cpp/yaml.h>

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

std::string Machine::check() const {
  if (device.peak.empty())
    return "device.peak: no rate is given; name at least f32";
  if (devicesPerNode < 1 || nodes < 1)
    return "node.devices and nodes must be at least 1";
  return "";
}

namespace {

struct Unit {
  const char *name;
  double factor;
};
struct Quantity {
  const char *what;
  const char *example;
  std::vector<Unit> units;
};

const Quantity bytesQuantity{"a size with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB)",
                             "80 GB",
                             {{"B", 1},
                              {"KB", 1e3},
                              {"MB", 1e6},
                              {"GB", 1e9},
                              {"TB", 1e12},
                              {"KiB", 1024.0},
                              {"MiB", 1048576.0},
                              {"GiB", 1073741824.0},
                              {"TiB", 1099511627776.0}}};
const Quantity rateQuantity{"a bandwidth with a unit (MB/s, GB/s, TB/s, Gb/s)",
                            "450 GB/s",
                            {{"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {"Gb/s", 1e9 / 8}}};
const Quantity timeQuantity{"a time with a unit (ns, us, ms, s)",
                            "3 us",
                            {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
const Quantity flopsQuantity{"a rate with a unit (GFLOP/s, TFLOP/s, PFLOP/s)",
                             "989 TFLOP/s",
                             {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}}};

/// Reads a mapping key by key and remembers the first mistake.
class Reader {
public:
  Reader(std::string origin) : origin(std::move(origin)) {}
  std::string error;

  void fail(const YAML::Node &at, const std::string &path, const std::string &found,
            const std::string &allowed, const std::string &remedy) {
    if (!error.empty())
      return;
    std::ostringstream out;
    out << origin << ":" << at.Mark().line + 1 << ": " << path << ": found " << found
        << ", allowed " << allowed << "; " << remedy;
    error = out.str();
  }

  /// The mapping under `key`; an empty node when absent and not `required`.
  YAML::Node map(const YAML::Node &parent, const std::string &path, const std::string &key,
                 bool required) {
    YAML::Node node = child(parent, path, key, required, "a mapping");
    if (node.IsDefined() && !node.IsNull() && !node.IsMap()) {
      fail(node, join(path, key), "something else", "a mapping of keys", "write key: value lines");
      return YAML::Node();
    }
    return node;
  }

  double number(const YAML::Node &parent, const std::string &path, const std::string &key,
                const Quantity *quantity, std::optional<double> otherwise, double least = 0) {
    std::string allowed = quantity ? quantity->what : "a number";
    YAML::Node node = child(parent, path, key, !otherwise.has_value(), allowed);
    if (!node.IsDefined() || node.IsNull())
      return otherwise.value_or(0);
    std::string text = node.IsScalar() ? node.Scalar() : "";
    const char *begin = text.c_str();
    char *end = nullptr;
    double value = std::strtod(begin, &end);
    std::string unit(end);
    unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                   : unit.find_first_not_of(' '));
    double factor = quantity ? 0 : 1;
    for (const Unit &candidate : quantity ? quantity->units : std::vector<Unit>())
      if (unit == candidate.name)
        factor = candidate.factor;
    if (end == begin || factor == 0 || (!quantity && !unit.empty()) || !std::isfinite(value) ||
        value < least) {
      std::ostringstream bound;
      bound << allowed << " of at least " << least;
      fail(node, join(path, key), "'" + text + "'", bound.str(),
           std::string("write e.g. ") + (quantity ? quantity->example : "8"));
      return otherwise.value_or(0);
    }
    return value * factor;
  }

  std::string text(const YAML::Node &parent, const std::string &path, const std::string &key) {
    YAML::Node node = child(parent, path, key, true, "a name");
    if (node.IsDefined() && node.IsScalar())
      return node.Scalar();
    fail(parent, join(path, key), "no name", "a name", "write " + key + ": some-name");
    return "";
  }

  /// Every key of `node` must be one of `known`.
  void onlyKeys(const YAML::Node &node, const std::string &path,
                const std::vector<std::string> &known) {
    if (!node.IsDefined() || !node.IsMap())
      return;
    for (const auto &entry : node) {
      std::string key = entry.first.as<std::string>("");
      if (std::find(known.begin(), known.end(), key) != known.end())
        continue;
      std::string list;
      for (const std::string &k : known)
        list += (list.empty() ? "" : ", ") + k;
      fail(entry.first, join(path, key), "an unknown key", list, "correct or remove the key");
    }
  }

  static std::string join(const std::string &path, const std::string &key) {
    return path.empty() ? key : path + "." + key;
  }

private:
  YAML::Node child(const YAML::Node &parent, const std::string &path, const std::string &key,
                   bool required, const std::string &allowed) {
    YAML::Node node;
    if (parent.IsDefined() && parent.IsMap())
      for (const auto &entry : parent)
        if (entry.first.as<std::string>("") == key)
          node.reset(entry.second);
    if (required && (!node.IsDefined() || node.IsNull()))
      fail(parent, join(path, key), "nothing", allowed, "add the key " + key);
    return node;
  }

  std::string origin;
};

/// Peaks by operand type; "tf32" (f32 operands on tensor cores) is not a type of its own.
std::map<DType, double> readPeaks(Reader &reader, const YAML::Node &device, double &tf32) {
  std::map<DType, double> peaks;
  YAML::Node node = reader.map(device, "device", "peak", true);
  if (!node.IsDefined() || !node.IsMap())
    return peaks;
  for (const auto &entry : node) {
    std::string key = entry.first.as<std::string>("");
    double rate = reader.number(node, "device.peak", key, &flopsQuantity, std::nullopt);
    std::optional<DType> type = parseDType(key);
    if (key == "tf32")
      tf32 = rate;
    else if (!type)
      reader.fail(entry.first, "device.peak." + key, "an unknown type",
                  "f64, f32, tf32, f16, bf16, f8E4M3, f8E5M2, i8", "correct the type's name");
    else
      peaks[*type] = rate;
  }
  return peaks;
}

LinkClass readLink(Reader &reader, const YAML::Node &links, const std::string &key, bool required) {
  LinkClass link;
  YAML::Node node = reader.map(links, "links", key, required);
  if (!node.IsDefined() || !node.IsMap())
    return link;
  std::string path = "links." + key;
  reader.onlyKeys(node, path, {"kind", "bandwidth", "latency", "hop", "efficiency"});
  link.kind = reader.text(node, path, "kind");
  link.bandwidth = reader.number(node, path, "bandwidth", &rateQuantity, std::nullopt);
  link.latencySeconds = reader.number(node, path, "latency", &timeQuantity, 1e-5);
  link.hopSeconds = reader.number(node, path, "hop", &timeQuantity, 3e-6);
  link.efficiency = reader.number(node, path, "efficiency", nullptr, 0.8, 0.01);
  return link;
}

Machine readMachine(Reader &reader, const YAML::Node &root) {
  Machine m;
  reader.onlyKeys(root, "",
                  {"name", "device", "node", "nodes", "links", "sources", "price-per-hour"});
  m.name = reader.text(root, "", "name");
  YAML::Node device = reader.map(root, "", "device", true);
  reader.onlyKeys(device, "device",
                  {"kind", "memory", "memory-bandwidth", "multiprocessors", "launch", "context",
                   "peak", "alu", "special", "efficiency"});
  DeviceKind &d = m.device;
  d.kind = reader.text(device, "device", "kind");
  d.memoryBytes = reader.number(device, "device", "memory", &bytesQuantity, std::nullopt);
  d.memoryBandwidth =
      reader.number(device, "device", "memory-bandwidth", &rateQuantity, std::nullopt);
  d.multiprocessors = static_cast<int>(
      reader.number(device, "device", "multiprocessors", nullptr, std::nullopt, 1));
  d.launchSeconds = reader.number(device, "device", "launch", &timeQuantity, 3e-6);
  d.contextBytes = reader.number(device, "device", "context", &bytesQuantity, 0.0);
  d.peak = readPeaks(reader, device, d.tf32Peak);
  double f32 = d.peak.count(DType::F32) ? d.peak[DType::F32] : 0;
  d.aluPeak = reader.number(device, "device", "alu", &flopsQuantity, f32);
  d.specialPeak = reader.number(device, "device", "special", &flopsQuantity, d.aluPeak / 16);
  YAML::Node efficiency = reader.map(device, "device", "efficiency", false);
  reader.onlyKeys(efficiency, "device.efficiency", {"matrix", "memory"});
  d.matrixEfficiency = reader.number(efficiency, "device.efficiency", "matrix", nullptr, 0.7, 0.01);
  d.memoryEfficiency =
      reader.number(efficiency, "device.efficiency", "memory", nullptr, 0.75, 0.01);
  YAML::Node node = reader.map(root, "", "node", true);
  reader.onlyKeys(node, "node", {"devices"});
  m.devicesPerNode =
      static_cast<int>(reader.number(node, "node", "devices", nullptr, std::nullopt, 1));
  m.nodes = static_cast<int>(reader.number(root, "", "nodes", nullptr, 1.0, 1));
  m.pricePerHour = reader.number(root, "", "price-per-hour", nullptr, 0.0);
  bool needsIntra = m.devicesPerNode > 1, needsInter = m.nodes > 1;
  YAML::Node links = reader.map(root, "", "links", needsIntra || needsInter);
  reader.onlyKeys(links, "links", {"intra", "inter"});
  m.intra = readLink(reader, links, "intra", needsIntra);
  m.inter = readLink(reader, links, "inter", needsInter);
  for (const auto &entry : root)
    if (entry.first.as<std::string>("") == "sources" && entry.second.IsSequence())
      for (const auto &source : entry.second)
        m.sources.push_back(source.as<std::string>(""));
  return m;
}

} // namespace

MachineOrError parseMachine(const std::string &text, const std::string &origin) {
  try {
    YAML::Node root = YAML::Load(text);
    if (!root.IsMap())
      return origin + ":1: found no mapping, allowed a machine description; start from a built-in "
                      "one (h100-8)";
    Reader reader(origin);
    Machine machine = readMachine(reader, root);
    if (!reader.error.empty())
      return reader.error;
    std::string problem = machine.check();
    if (!problem.empty())
      return origin + ": " + problem;
    return machine;
  } catch (const YAML::Exception &e) {
    std::ostringstream out;
    out << origin << ":" << e.mark.line + 1 << ": found text that is not YAML (" << e.msg
        << "); allowed a YAML mapping; check indentation and brackets on that line";
    return out.str();
  }
}

MachineOrError loadMachine(const std::string &nameOrPath) {
  std::string base = nameOrPath;
  int nodes = 1;
  size_t x = base.rfind('x');
  if (x != std::string::npos && x + 1 < base.size() &&
      std::all_of(base.begin() + static_cast<std::ptrdiff_t>(x) + 1, base.end(),
                  [](char c) { return c >= '0' && c <= '9'; }) &&
      builtinMachines().count(base.substr(0, x)) && base.size() - x < 6) {
    nodes = std::stoi(base.substr(x + 1));
    base = base.substr(0, x);
  }
  auto it = builtinMachines().find(base);
  if (it != builtinMachines().end() && nodes >= 1) {
    MachineOrError result = parseMachine(it->second, base);
    if (Machine *machine = std::get_if<Machine>(&result)) {
      machine->nodes = nodes;
      machine->name = nameOrPath;
    }
    return result;
  }
  std::ifstream file(nameOrPath);
  if (!file) {
    std::string known;
    for (const auto &[name, text] : builtinMachines())
      known += (known.empty() ? "" : ", ") + name;
    return "--machine: found '" + nameOrPath +
           "', which is neither a readable file nor built in; " +
           "allowed a machine.yaml or one of " + known + " (xN for N nodes, e.g. h100-8x4)";
  }
  std::stringstream text;
  text << file.rdbuf();
  return parseMachine(text.str(), nameOrPath);
}

std::string Machine::dump() const {
  std::ostringstream out;
  out.precision(17);
  out << "name: " << name << "\ndevice:\n  kind: " << device.kind
      << "\n  memory: " << device.memoryBytes
      << " B\n  memory-bandwidth: " << device.memoryBandwidth / 1e9
      << " GB/s\n  multiprocessors: " << device.multiprocessors
      << "\n  launch: " << device.launchSeconds << " s\n  context: " << device.contextBytes
      << " B\n  peak: {";
  bool first = true;
  for (auto [type, rate] : device.peak) {
    out << (first ? "" : ", ") << gpucc::name(type) << ": " << rate / 1e12 << " TFLOP/s";
    first = false;
  }
  if (device.tf32Peak > 0)
    out << ", tf32: " << device.tf32Peak / 1e12 << " TFLOP/s";
  out << "}\n  alu: " << device.aluPeak / 1e12
      << " TFLOP/s\n  special: " << device.specialPeak / 1e12
      << " TFLOP/s\n  efficiency: {matrix: " << device.matrixEfficiency
      << ", memory: " << device.memoryEfficiency << "}\nnode: {devices: " << devicesPerNode
      << "}\nnodes: " << nodes << "\nprice-per-hour: " << pricePerHour << "\nlinks:\n";
  auto link = [&](const char *key, const LinkClass &l) {
    if (l.kind.empty())
      return;
    out << "  " << key << ": {kind: " << l.kind << ", bandwidth: " << l.bandwidth / 1e9
        << " GB/s, latency: " << l.latencySeconds << " s, hop: " << l.hopSeconds
        << " s, efficiency: " << l.efficiency << "}\n";
  };
  link("intra", intra);
  link("inter", inter);
  out << "sources:\n";
  for (const std::string &source : sources)
    out << "  - " << source << "\n";
  return out.str();
}

} // namespace gpucc::cost
