//===- RunTimes.h - which commands take the time ----------------*- C++ -*-===//
#ifndef GPUCC_TOOLS_GPUCC_RUNTIMES_H
#define GPUCC_TOOLS_GPUCC_RUNTIMES_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpucc::tool {

/// Prints the `most` longest commands of a step, from a trace that RankGroup saved after `runs`
/// runs.
void printTimes(const std::string &traceFile, uint64_t runs, size_t most = 20);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_RUNTIMES_H
