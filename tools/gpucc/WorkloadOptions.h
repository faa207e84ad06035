//===- WorkloadOptions.h - workload, machine, layout on a command line -----===//
//
// What `gpucc simulate` and `gpucc plan` share: names or files of a workload and a machine, the
// number of GPUs, pins. Errors are complete sentences for the terminal.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_GPUCC_WORKLOADOPTIONS_H
#define GPUCC_TOOLS_GPUCC_WORKLOADOPTIONS_H

#include "Output.h"
#include "gpucc/Workload/Layout.h"

#include <CLI/CLI.hpp>
#include <set>

namespace gpucc::tool {

struct WorkloadOptions {
  std::string workloadName, machineName = "h100", layoutFile;
  std::vector<std::string> pinTexts;
  int64_t gpus = 0, globalBatch = 0, sequence = 0;
  double pricePerHour = 0; ///< of one GPU; 0: the machine's

  workload::Workload workload;
  cost::Machine machine;
  workload::Layout layout;      ///< as it was before `load`, then the file, then pins
  std::set<std::string> pinned; ///< keys that the file or a pin gave

  bool someMayRun =
      false; ///< of a mixed machine, some kinds of nodes having the precision is enough

  /// `planInstead`: a plan file may take the workload's place.
  void declare(CLI::App &app, bool planInstead = false);
  /// Loads everything; empty when fine.
  std::string load();
  /// The widest 16-bit precision of the machine, f32 where it has none.
  static workload::Precision usualPrecision(const cost::Machine &machine);
  std::string loadMachine(int64_t ranks); ///< only that; `ranks` without --gpus
};

/// A number above 0 (or 0) up to `most`, neither infinite nor nan.
CLI::Validator finitePositive(bool orZero = false, double most = 1e15);

/// Says what is wrong on stderr; returns the exit code of bad input.
int refuse(const std::string &problem);

} // namespace gpucc::tool
#endif // GPUCC_TOOLS_GPUCC_WORKLOADOPTIONS_H
