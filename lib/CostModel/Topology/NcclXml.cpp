//===- NcclXml.cpp - NCCL_TOPO_DUMP_FILE and NCCL_GRAPH_DUMP_FILE ---------===//
//
// Topology: system > cpu (numaid) > pci (busid, link_speed, link_width), nested for switches >
// gpu (dev, sm) > nvlink (target, count, tclass); nic > net (name, speed in Mb/s). An nvlink whose
// target class is an NVSwitch (0x068000) reaches every GPU that has such links.
//
// Graph: graphs > graph (pattern, nchannels, speedintra, ...) > channel > gpu (dev) in ring order.
//
//===----------------------------------------------------------------------===//
#include "Importers.h"
#include <cstring>

namespace gpucc::cost::topology {

namespace {

constexpr const char *switchClass = "0x068000";

struct Found {
  TreePlace place;
  int device;
  std::string busId;
  std::vector<std::pair<std::string, int>> links; ///< bus id, count
  int switchLinks = 0;
};

/// "16.0 GT/s PCIe" → 4; "60" in 100 Mb/s per lane units is generation 3.
int generationOf(const std::string &speed) {
  double rate = std::strtod(speed.c_str(), nullptr);
  if (speed.find("GT/s") == std::string::npos)
    return 0;
  return rate >= 63 ? 6 : rate >= 31 ? 5 : rate >= 15 ? 4 : rate >= 7 ? 3 : rate >= 4 ? 2 : 1;
}

class SystemReader {
public:
  explicit SystemReader(Importer &in) : in(in) {}

  void read(pugi::xml_node system) {
    in.result.format = "NCCL topology";
    for (pugi::xml_node cpu : system.children("cpu"))
      walk(cpu, {}, in.number(cpu, "numaid", -1), {});
    paths();
  }

private:
  void walk(pugi::xml_node node, TreePlace place, int numa, pugi::xml_node pci) {
    place.way.push_back(next++);
    place.isCpu.push_back(std::strcmp(node.name(), "cpu") == 0);
    // A pci node with pci children is a switch or bridge.
    place.isSwitch.push_back(std::strcmp(node.name(), "pci") == 0 && node.child("pci"));
    if (place.way.size() > 64) {
      in.fail(node, "found devices nested " + std::to_string(place.way.size()) +
                        " deep, allowed 64; the file is no PCIe tree");
      return;
    }
    for (pugi::xml_node child : node.children()) {
      std::string tag = child.name();
      if (tag == "pci")
        walk(child, place, numa, child);
      else if (tag == "nic")
        walk(child, place, numa, pci);
      else if (tag == "gpu")
        addGpu(child, place, numa, pci);
      else if (tag == "net")
        addNic(child, place, numa, pci);
    }
  }

  void fill(Endpoint &e, pugi::xml_node pci, int numa) {
    e.numa = numa;
    e.busId = pci.attribute("busid").value();
    e.width = in.number(pci, "link_width", 0);
    e.generation = generationOf(pci.attribute("link_speed").value());
  }

  void addGpu(pugi::xml_node node, TreePlace place, int numa, pugi::xml_node pci) {
    if (!pci) {
      in.fail(node, "found a gpu outside of a pci element, allowed cpu > pci > gpu; dump the "
                    "topology again");
      return;
    }
    Endpoint e;
    Found f;
    place.way.pop_back(), place.isCpu.pop_back(), place.isSwitch.pop_back();
    f.place = place;
    f.device = in.number(node, "dev", static_cast<int>(gpus.size()));
    fill(e, pci, numa);
    f.busId = e.busId;
    e.name = "GPU" + std::to_string(f.device);
    if (int sm = in.number(node, "sm", 0))
      e.model = "sm_" + std::to_string(sm);
    for (pugi::xml_node link : node.children("nvlink")) {
      int count = in.number(link, "count", 1);
      if (std::strcmp(link.attribute("tclass").value(), switchClass) == 0)
        f.switchLinks += count;
      else
        f.links.push_back({link.attribute("target").value(), count});
    }
    for (const Endpoint &other : in.result.gpus)
      if (other.name == e.name)
        in.fail(node, "gpu.dev: found " + std::to_string(f.device) +
                          " a second time, allowed every number once; correct dev");
    gpus.push_back(f);
    in.result.gpus.push_back(e);
  }

  void addNic(pugi::xml_node node, TreePlace place, int numa, pugi::xml_node pci) {
    Endpoint e;
    fill(e, pci, numa);
    e.name = node.attribute("name") ? node.attribute("name").value()
                                    : "NIC" + std::to_string(in.result.nics.size());
    e.gigabits = in.number(node, "speed", 0) / 1000.0;
    // pci > nic > net: the card's own elements are no switches.
    size_t own = pci ? 2 : 1;
    size_t keep = place.way.size() > own ? place.way.size() - own : 0;
    place.way.resize(keep), place.isCpu.resize(keep), place.isSwitch.resize(keep);
    nics.push_back(place);
    in.result.nics.push_back(e);
  }

  void paths() {
    size_t n = gpus.size();
    in.result.gpuPaths.assign(n, std::vector<Path>(n));
    in.result.nicPaths.assign(n, std::vector<Path>(nics.size()));
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j)
        in.result.gpuPaths[i][j] = i == j ? Path{PathKind::Self} : between(gpus[i], gpus[j]);
      for (size_t k = 0; k < nics.size(); ++k)
        in.result.nicPaths[i][k] = treePath(gpus[i].place, nics[k]);
    }
  }

  static Path between(const Found &a, const Found &b) {
    int links = std::min(a.switchLinks, b.switchLinks);
    for (const auto &[target, count] : a.links)
      if (target == b.busId)
        links += count;
    return links > 0 ? Path{PathKind::NvLink, links} : treePath(a.place, b.place);
  }

  Importer &in;
  int next = 0;
  std::vector<Found> gpus;
  std::vector<TreePlace> nics;
};

/// NCCL_TOPO_PATTERN_* of src/include/graph.h.
const char *patternName(int pattern) {
  switch (pattern) {
  case 1:
    return "balanced tree";
  case 2:
    return "split tree";
  case 3:
    return "tree";
  case 4:
    return "ring";
  case 5:
    return "nvls";
  case 6:
    return "collnet direct";
  }
  return "unknown";
}

} // namespace

void readNcclSystem(Importer &in, pugi::xml_node system) { SystemReader(in).read(system); }

void readNcclGraphs(Importer &in, pugi::xml_node graphs) {
  in.result.format = "NCCL graphs";
  int most = -1;
  for (pugi::xml_node node : graphs.children("graph")) {
    GivenGraph graph;
    graph.pattern = patternName(in.number(node, "pattern", 0));
    graph.channels = in.number(node, "nchannels", 0);
    graph.intraGBs = node.attribute("speedintra").as_double();
    graph.interGBs = node.attribute("speedinter").as_double();
    graph.intraType = node.attribute("typeintra").value();
    for (pugi::xml_node channel : node.children("channel")) {
      std::vector<int> order;
      for (pugi::xml_node gpu : channel.children("gpu")) {
        int device = in.number(gpu, "dev", -1);
        if (device < 0 || device > 4095) {
          in.fail(gpu, "gpu.dev: found '" + std::string(gpu.attribute("dev").value()) +
                           "', allowed a number from 0 to 4095; dump the graphs again");
          return;
        }
        order.push_back(device);
        most = std::max(most, device);
      }
      graph.orders.push_back(order);
    }
    in.result.given.push_back(graph);
  }
  for (int i = 0; i <= most; ++i) {
    Endpoint e;
    e.name = "GPU" + std::to_string(i);
    in.result.gpus.push_back(e);
  }
}

} // namespace gpucc::cost::topology
