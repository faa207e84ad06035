//===- Topology.h - what is wired to what in one node -----------*- C++ -*-===//
//
// What: GPUs, network cards and the paths between them, read from what people have: the table of
// `nvidia-smi topo -m`, NCCL's topology and graph XML, `nvidia-smi -q -x`, hwloc's `lstopo` XML.
// From it: a table, warnings, the ring and tree that collectives will use, a drawing, a machine.
//
// Example, the first lines of a table:
//
//             GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity
//     GPU0     X      NV18    PIX     0-47            0
//     GPU1    NV18     X      SYS     0-47            0
//
// GPU1's only card is on the far NUMA node (SYS): a warning.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_TOPOLOGY_H
#define GPUCC_COSTMODEL_TOPOLOGY_H

#include "gpucc/CostModel/Machine.h"

namespace gpucc::cost {

/// Nearest first, as NVIDIA names them. NV: NVLink; PIX: one PCIe switch; PXB: several; PHB: the
/// host bridge; NODE: bridges of one NUMA node; SYS: between NUMA nodes.
enum class PathKind { Self, NvLink, Pix, Pxb, Phb, Node, Sys, Unknown };
const char *name(PathKind kind);

struct Path {
  PathKind kind = PathKind::Unknown;
  int links = 0; ///< NVLinks
  bool operator==(const Path &) const = default;
};

struct Endpoint {
  std::string name; ///< "GPU0", "NIC0", "mlx5_0"
  std::string busId, model;
  int numa = -1;                          ///< -1: not said
  int width = 0, mostWidth = 0;           ///< PCIe lanes now and at most; 0: not said
  int generation = 0, mostGeneration = 0; ///< of PCIe
  int clockMhz = 0;                       ///< highest SM clock allowed
  double memoryBytes = 0;
  double gigabits = 0; ///< of a network card, per second
};

/// A ring or tree that NCCL said it will use (its graph file).
struct GivenGraph {
  std::string pattern; ///< "ring", "tree", ...
  int channels = 0;
  double intraGBs = 0, interGBs = 0; ///< per channel
  std::string intraType;
  std::vector<std::vector<int>> orders; ///< GPUs of each channel
};

struct Topology {
  std::string origin, format;
  std::vector<Endpoint> gpus, nics;
  std::vector<std::vector<Path>> gpuPaths; ///< [gpu][gpu]
  std::vector<std::vector<Path>> nicPaths; ///< [gpu][nic]
  std::vector<GivenGraph> given;
  bool pathsKnown() const { return !gpuPaths.empty(); }
};

using TopologyOrError = std::variant<Topology, std::string>;
/// Tells the format by its first characters. Mistakes name line, found, allowed, remedy.
TopologyOrError parseTopology(const std::string &text, const std::string &origin);

/// One line each: what is wrong, what it costs, what to do.
std::vector<std::string> topologyWarnings(const Topology &topology);

/// Bytes per second of a path between two GPUs: links times the rate of one link, or PCIe.
double pathBandwidth(const Topology &topology, Path path);

/// The ring whose slowest step is fastest (exact to 10 GPUs, then greedy), and the chain that a
/// tree runs inside a node: the ring without its slowest step.
struct RingAndTree {
  std::vector<int> ring, chain;
  double slowest = 0, chainSlowest = 0; ///< bytes per second
};
RingAndTree ringAndTree(const Topology &topology);

std::string topologyTable(const Topology &topology);
std::string topologySvg(const Topology &topology);
/// The built-in machine of the GPUs' model with this node's size, cards and links; or why not.
MachineOrError machineOfTopology(const Topology &topology);

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_TOPOLOGY_H
