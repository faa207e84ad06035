//===- Machine.h - what a plan runs on --------------------------*- C++ -*-===//
//
// What: the numbers of machine.yaml as plain values: one kind of device, how many per node, how
// many nodes, and the two classes of links. Everything the cost model knows about hardware is here.
//
// Example (shortened; the built-in files in `builtinMachines()` are complete):
//
//     name: h100-8
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
  double memoryBytes = 0;
  double memoryBandwidth = 0; ///< bytes per second
  int multiprocessors = 1;
  double launchSeconds = 0;     ///< fixed device time of one kernel inside a CUDA Graph
  std::map<DType, double> peak; ///< FLOP per second of the matrix unit, by operand type
  double tf32Peak = 0;          ///< f32 operands rounded to tf32 on matrix units; 0: none
  double aluPeak = 0;           ///< FLOP per second of the vector unit, f32
  double specialPeak = 0;       ///< exp, sqrt, division per second
  double matrixEfficiency = 0.7;
  double memoryEfficiency = 0.75;
  double contextBytes = 0; ///< driver, library and communicator memory that no plan can use

  /// Peak for a type; the nearest wider float when the device has no unit for it.
  double matrixPeak(DType type) const;
};

/// A class of links. `bandwidth` is per device and direction; `efficiency` what a ring reaches.
struct LinkClass {
  std::string kind;
  double bandwidth = 0;      ///< bytes per second
  double latencySeconds = 0; ///< per collective
  double hopSeconds = 0;     ///< per step of a ring or tree
  double efficiency = 0.8;
};

struct Machine {
  std::string name;
  DeviceKind device;
  int devicesPerNode = 1;
  int nodes = 1;
  LinkClass intra, inter;           ///< inside a node, between nodes
  double pricePerHour = 0;          ///< of one device; 0: not given
  std::vector<std::string> sources; ///< where the numbers come from

  int numDevices() const { return devicesPerNode * nodes; }
  std::string check() const;
  std::string dump() const; ///< machine.yaml that parses to an equal machine
};

/// A machine or the message that says place, found, allowed and remedy.
using MachineOrError = std::variant<Machine, std::string>;

/// `origin` names the text in messages (a file name).
MachineOrError parseMachine(const std::string &text, const std::string &origin);
/// A built-in name ("h100-8", "a100-80gb-8", "v100-8", optionally with "xN" nodes: "h100-8x4") or a
/// path of a machine.yaml.
MachineOrError loadMachine(const std::string &nameOrPath);

/// Names of the built-in machines and their texts.
const std::map<std::string, std::string> &builtinMachines();

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_MACHINE_H
