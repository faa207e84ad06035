//===- PlanSource.h - a plan from a file, or compiled on the way -*- C++ -*-===//
#ifndef GPUCC_TOOLS_GPUCC_PLANSOURCE_H
#define GPUCC_TOOLS_GPUCC_PLANSOURCE_H

#include "CompileOptions.h"
#include "gpucc_rt/RankGroup.h"

namespace gpucc::tool {

/// A file in the folder of temporary files, removed with the object.
class TemporaryFile {
public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();
  /// 0, or 2 after an error on stderr.
  int create();
  const std::string &path() const { return file; }

private:
  std::string file;
};

/// Opens `flags.options.model`: a plan as it is; a model is compiled into a temporary plan, which
/// is removed with this object.
class PlanSource {
public:
  /// 0, or the exit code after an error on stderr.
  int open(CompileFlags &flags);
  const gpucc_rt::Plan &plan() const { return opened; }
  /// Where its file lies; a temporary one goes with this object.
  const std::string &path() const { return file; }

private:
  TemporaryFile temporary;
  std::string file;
  gpucc_rt::Plan opened;
};

/// Prints the runtime's error; the exit code for it (3 when this machine cannot, else 2).
int failed(const gpucc_rt::Status &status);

/// 2 after an error when `asked` ranks (0: not asked) are not those of the plan.
int checkRanks(int64_t asked, const gpucc_rt::Plan &plan);

/// "FILE.npz" or "random:SEED" as arrays for the plan's inputs and labels.
int loadInputs(const gpucc_rt::Plan &plan, uint32_t profile, const std::string &inputs,
               std::vector<gpucc_rt::Array> &arrays);

/// All outputs and metrics.
int readOutputs(gpucc_rt::RankGroup &group, std::vector<gpucc_rt::Array> &arrays);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_PLANSOURCE_H
