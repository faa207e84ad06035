//===- HwlocXml.cpp - lstopo's XML ----------------------------------------===//
//
// topology > object (type) nested: Machine, Package, NUMANode, Bridge, PCIDev (pci_busid, pci_type
// "0302 [10de:2330] ...", pci_link_speed in GB/s), OSDev below a PCIDev (name "cuda0", "mlx5_0").
// hwloc 2 lists the NUMANode as a child of the package whose bridges follow beside it.
//
//===----------------------------------------------------------------------===//
#include "Importers.h"
#include <cstring>

namespace gpucc::cost::topology {

namespace {

class HwlocReader {
public:
  explicit HwlocReader(Importer &in) : in(in) {}

  void read(pugi::xml_node topology) {
    in.result.format = "lstopo";
    for (pugi::xml_node object : topology.children("object"))
      walk(object, {}, -1);
    size_t n = gpus.size();
    in.result.gpuPaths.assign(n, std::vector<Path>(n));
    in.result.nicPaths.assign(n, std::vector<Path>(nics.size()));
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j)
        in.result.gpuPaths[i][j] = i == j ? Path{PathKind::Self} : treePath(gpus[i], gpus[j]);
      for (size_t k = 0; k < nics.size(); ++k)
        in.result.nicPaths[i][k] = treePath(gpus[i], nics[k]);
    }
  }

private:
  /// NUMA node of the objects below: the one listed as a child of `object`.
  static int numaOf(pugi::xml_node object, int otherwise) {
    for (pugi::xml_node child : object.children("object"))
      if (std::strcmp(child.attribute("type").value(), "NUMANode") == 0)
        return child.attribute("os_index").as_int(otherwise);
    return otherwise;
  }

  void walk(pugi::xml_node object, TreePlace place, int numa) {
    std::string type = object.attribute("type").value();
    if (type.empty()) {
      in.fail(object, "object.type: found nothing, allowed hwloc's types; save lstopo's XML again");
      return;
    }
    if (place.way.size() > 64) {
      in.fail(object,
              "found objects nested more than 64 deep, allowed 64; the file is no topology");
      return;
    }
    if (type == "PCIDev") {
      device(object, place, numa);
      return;
    }
    numa = type == "NUMANode" ? object.attribute("os_index").as_int(numa) : numaOf(object, numa);
    place.way.push_back(next++);
    // "0-1" is the host's bridge into PCI, "1-1" a port; a port with several below is a switch.
    bool bridge = type == "Bridge";
    bool host = bridge && object.attribute("bridge_type").value()[0] == '0';
    place.isCpu.push_back(type == "Package" || type == "NUMANode" || type == "Group" || host);
    int ports = 0;
    for (pugi::xml_node child : object.children("object"))
      ports += std::strcmp(child.attribute("type").value(), "Bridge") == 0;
    place.isSwitch.push_back(bridge && !host && ports > 1);
    for (pugi::xml_node child : object.children("object"))
      walk(child, place, numa);
  }

  void device(pugi::xml_node object, const TreePlace &place, int numa) {
    std::string kind = object.attribute("pci_type").value();
    bool gpu = kind.compare(0, 4, "0302") == 0 ||
               (kind.compare(0, 4, "0300") == 0 && kind.find("[10de:") != std::string::npos);
    bool nic = kind.compare(0, 4, "0200") == 0 || kind.compare(0, 4, "0207") == 0;
    if (!gpu && !nic)
      return;
    Endpoint e;
    e.busId = object.attribute("pci_busid").value();
    e.numa = numa;
    e.name = gpu ? "GPU" + std::to_string(gpus.size()) : "NIC" + std::to_string(nics.size());
    for (pugi::xml_node info : object.children("info"))
      if (std::strcmp(info.attribute("name").value(), "PCIDevice") == 0)
        e.model = info.attribute("value").value();
    for (pugi::xml_node os : object.children("object"))
      if (nic && std::strcmp(os.attribute("type").value(), "OSDev") == 0)
        e.name = os.attribute("name").value();
    // GB/s of the link: 15.75 is generation 3 x16, 31.5 generation 4 x16 or 3 x32.
    double speed = object.attribute("pci_link_speed").as_double();
    if (gpu && speed > 0) {
      e.width = 16;
      e.generation = speed > 60 ? 5 : speed > 30 ? 4 : speed > 15 ? 3 : 0;
      if (!e.generation) // less than x16 of generation 3: fewer lanes of it
        e.generation = 3, e.width = speed > 7 ? 8 : speed > 3.5 ? 4 : 1;
    }
    (gpu ? gpus : nics).push_back(place);
    (gpu ? in.result.gpus : in.result.nics).push_back(e);
  }

  Importer &in;
  int next = 0;
  std::vector<TreePlace> gpus, nics;
};

} // namespace

void readHwloc(Importer &in, pugi::xml_node topology) { HwlocReader(in).read(topology); }

} // namespace gpucc::cost::topology
