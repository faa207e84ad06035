//===- PlanText.h - a plan file as text -------------------------*- C++ -*-===//
#ifndef GPUCC_TOOLS_GPUCC_PLANTEXT_H
#define GPUCC_TOOLS_GPUCC_PLANTEXT_H

#include "gpucc/Facts/Text.h"
#include <cstdint>
#include <string>
#include <vector>

namespace gpucc::rt::plan {
struct Plan;
}

namespace gpucc::tool {

struct PlanTextOptions {
  bool kernels = false, memory = false;
  std::string json;
};

/// Prints summary, programs and commands, or only the tables asked for. The exit code.
int printPlan(const std::string &path, const PlanTextOptions &options);

/// A verified plan in memory.
class PlanFile {
public:
  /// 0, or the exit code after an error on stderr.
  int open(const std::string &path);
  const rt::plan::Plan &plan() const;
  /// The bytes of blob `index`, read from the file; empty when they cannot be.
  std::string blob(uint32_t index) const;

private:
  std::string path;
  uint64_t blobOffset = 0;
  std::vector<char> bytes;
};

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_PLANTEXT_H
