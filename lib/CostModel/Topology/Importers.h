//===- Importers.h - one reader per format ----------------------*- C++ -*-===//
//
// What: the readers behind `parseTopology` (Detect.cpp chooses). Each fills `Importer::result` and
// reports the first mistake with the line it stands in.
//
// Example: "t.xml:2: cpu.numaid: found 'x', allowed a whole number; correct the attribute".
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_COSTMODEL_TOPOLOGY_IMPORTERS_H
#define GPUCC_LIB_COSTMODEL_TOPOLOGY_IMPORTERS_H

#include "gpucc/CostModel/Topology.h"
#include <pugixml.hpp>

namespace gpucc::cost::topology {

/// Remembers the first mistake with its line.
class Importer {
public:
  Importer(const std::string &text, const std::string &origin) : text(text), origin(origin) {
    result.origin = origin;
  }
  Topology result;
  std::string error;

  void fail(int line, const std::string &what);
  void fail(pugi::xml_node at, const std::string &what) { fail(lineOf(at.offset_debug()), what); }
  int lineOf(ptrdiff_t offset) const;
  /// The attribute as a whole number; a missing one is `otherwise`, text that is none an error.
  int number(pugi::xml_node node, const char *attribute, int otherwise);

  const std::string &text, &origin;
};

void readMatrix(Importer &in);
void readNcclSystem(Importer &in, pugi::xml_node system);
void readNcclGraphs(Importer &in, pugi::xml_node graphs);
void readSmiLog(Importer &in, pugi::xml_node log);
void readHwloc(Importer &in, pugi::xml_node topology);

/// A place in a tree of PCIe devices: the way from the root.
struct TreePlace {
  std::vector<int> way; ///< indices of the ancestors, root first
  std::vector<char> isCpu, isSwitch;
};
/// PIX, PXB, PHB or SYS from the nearest common ancestor.
Path treePath(const TreePlace &a, const TreePlace &b);

} // namespace gpucc::cost::topology
#endif // GPUCC_LIB_COSTMODEL_TOPOLOGY_IMPORTERS_H
