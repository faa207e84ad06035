//===- Machine.h - what a plan runs on --------------------------*- C++ -*-===//
//
// What: the numbers of machine.yaml as plain values: kinds of devices, how many per node, how many
// nodes, the links inside and between nodes. Everything the cost model knows about hardware is
// here. The built-in ones are the files of lib/CostModel/data/machines.
//
// Example (shortened; the built-in files are complete):
//
//     name: h100
//     device:
//       kind: h100-sxm
//       memory: 80 GB
//       memory-bandwidth: 3350 GB/s
//       multiprocessors: 132
//       launch: 3 us
//       peak: {bf16: 989 TFLOP/s, f32: 67 TFLOP/s}
//     node: {devices: 8}
//     links:
//       intra: {kind: nvlink, bandwidth: 450 GB/s, latency: 8.4 us, hop: 3.4 us, efficiency: 0.82}
//
// A mistake is reported as "machine.yaml:7: device.memory: found '80', allowed a size with a unit
// ...; write e.g. 80 GB".
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_MACHINE_H
#define GPUCC_COSTMODEL_MACHINE_H

#include "gpucc/Facts/DType.h"
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace gpucc::cost {

/// Rates are dense datasheet peaks; `matrixEfficiency` and `memoryEfficiency` are the shares that a
/// large, aligned kernel reaches.
struct DeviceKind {
  std::string kind;
  std::string architecture; ///< volta, turing, ampere, ada, hopper, blackwell: its constants
  double memoryBytes = 0;
  double memoryBandwidth = 0; ///< bytes per second
  int multiprocessors = 1;
  double l2Bytes = 0;
  double launchSeconds = 0;     ///< fixed device time of one kernel inside a CUDA Graph
  std::map<DType, double> peak; ///< FLOP per second of the matrix unit, by operand type
  double tf32Peak = 0;          ///< f32 operands rounded to tf32 on matrix units; 0: none
  double fourBitPeak = 0;       ///< 4-bit floats; 0: none
  double aluPeak = 0;           ///< FLOP per second of the vector unit, f32
  double specialPeak = 0;       ///< exp, sqrt, division per second
  double matrixEfficiency = 0.7;
  double memoryEfficiency = 0.75;
  bool ownMatrixEfficiency = false; ///< given by the file, not by the calibration
  bool ownMemoryEfficiency = false;
  double contextBytes = 0; ///< driver, library and communicator memory that no plan can use

  /// Peak for a type; the nearest wider float when the device has no unit for it.
  double matrixPeak(DType type) const;
  bool operator==(const DeviceKind &) const = default;
};

/// A class of links. `bandwidth` is per device and direction; `efficiency` what a ring reaches.
struct LinkClass {
  std::string kind;
  double bandwidth = 0;      ///< bytes per second
  double latencySeconds = 0; ///< per collective
  double hopSeconds = 0;     ///< per step of a ring or tree
  double efficiency = 0.8;
  double nvlsBandwidth = 0; ///< bus bandwidth when the switch reduces (NVLS); 0: it cannot
  bool operator==(const LinkClass &) const = default;
};

/// One level of switches above the nodes: groups of `nodes` nodes keep the full rate among
/// themselves; what leaves the group shares 1/oversubscription of it.
struct NetworkTier {
  std::string name;
  int nodes = 1;
  double oversubscription = 1;
  double hopSeconds = 0; ///< added to a step that crosses it
};

/// Nodes of one kind. A mixed machine has several.
struct NodeGroup {
  DeviceKind device;
  int devicesPerNode = 1;
  int tray = 0; ///< devices that a job takes together; 0: the whole node
  int nodes = 1;
  int numa = 1;
  int nics = 0;
  LinkClass intra;
  double pricePerHour = 0; ///< of one device; 0: not given
};

struct Machine {
  std::string name;
  DeviceKind device; ///< of the first (usually only) group of nodes, as the fields below
  int devicesPerNode = 1;
  int tray = 0; ///< devices that a job takes together; 0: the whole node
  int nodes = 1;
  int numa = 1;                     ///< NUMA domains of a node
  int nics = 0;                     ///< network cards of a node; 0: not said
  LinkClass intra, inter;           ///< inside a node, between nodes
  double pricePerHour = 0;          ///< of one device; 0: not given
  std::vector<NetworkTier> tiers;   ///< smallest first
  std::vector<NodeGroup> moreNodes; ///< nodes of other kinds
  std::vector<std::string> sources; ///< where the numbers come from

  int numDevices() const;
  /// Of `ranks` devices; groups of a mixed machine in their order. 0: a price is missing.
  double pricePerHourOf(int64_t ranks) const;
  bool mixed() const { return !moreNodes.empty(); }
  /// All groups, the first one first.
  std::vector<NodeGroup> groups() const;
  /// The same network between other nodes, at least one group.
  Machine withGroups(const std::vector<NodeGroup> &groups) const;
  std::string check() const;
  std::string dump() const; ///< machine.yaml that parses to an equal machine
};

/// A machine or the message that says place, found, allowed and remedy.
using MachineOrError = std::variant<Machine, std::string>;

/// `origin` names the text in messages (a file name).
MachineOrError parseMachine(const std::string &text, const std::string &origin);
/// A built-in name ("h100", "a100-80gb"; "h100-8" is the same; "h100x4": four nodes) or a path of a
/// machine.yaml. `gpus` > 0: as many nodes as that takes (a part of one node when fewer; equal parts
/// of several where nodes have trays: 256 of gb200-nvl72 are 64 of each of four racks).
MachineOrError loadMachine(const std::string &nameOrPath, int gpus = 0);

/// Names of the built-in machines and their texts.
const std::map<std::string, std::string> &builtinMachines();

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_MACHINE_H
