//===- Names.h - models and devices as published tables call them -*- C++ -*-===//
//
// What: from the words of a row ("Qwen3_30B_a3B", "A100-SXM-80GB") to a built-in workload and a
// built-in machine. The first pattern that occurs counts.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_NAMES_H
#define GPUCC_BENCH_COSTMODEL_NAMES_H

#include <cstdint>
#include <string>

namespace gpucc::bench {

/// Of a model that a table only names; empty: not known.
std::string workloadOf(const std::string &lowerName);

/// A built-in workload of the family of a model that is not built in: its kinds of layers, not its
/// sizes, which the row has to state.
std::string familyLike(const std::string &lowerName);

/// GPT sizes that a table gives by name only (their papers' tables).
struct Sizes {
  const char *pattern;
  int64_t layers, hidden, heads, vocab;
};
const Sizes *sizesOf(const std::string &lowerName);

/// Architectures that the workload description does not cover (state-space layers, convolutions).
bool isOutside(const std::string &lowerName);

/// Built-in machine of a device's name; empty: none.
std::string machineOf(const std::string &type);

std::string lower(std::string text);
inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_NAMES_H
