//===- CompileOptions.h - flags that compile, run, check and show share -*- C++ -*-===//
#ifndef GPUCC_TOOLS_GPUCC_COMPILEOPTIONS_H
#define GPUCC_TOOLS_GPUCC_COMPILEOPTIONS_H

#include "gpucc/Pipelines/Options.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace gpucc::tool {

/// The flags as typed; `finish` checks them and fills `options`.
struct CompileFlags {
  CompileOptions options;
  TrainSpec train;
  std::vector<std::string> profiles;
  std::string target = "host", pins;
  bool training = false;
  std::vector<const CLI::Option *> trainingOptions, all;
  int64_t ranks = 0; ///< 0: not given

  /// 0, or 2 after an error on stderr.
  int finish();
  /// The model is a plan, made already: of these flags only those that `allowed` knows by name mean
  /// something. 0, or 2 after an error on stderr.
  int refuseForPlan(const std::function<bool(const std::string &)> &allowed) const;

private:
  int finishProfiles();
};

/// Declares the flags on `app`.
std::shared_ptr<CompileFlags> addCompileFlags(CLI::App &app);

/// "error: ..." on stderr; the exit code.
int fail(int code, const std::string &message);

/// A progress line on stderr when it is a terminal.
void progress(const std::string &line);

/// Where there is no CUDA driver, plans run on the emulated device: adds its architecture, simt.
void useEmulationIfNeeded(CompileOptions &options);

/// True when the file begins as a plan does.
bool isPlanFile(const std::string &path);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_COMPILEOPTIONS_H
