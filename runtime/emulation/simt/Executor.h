//===- Executor.h - Run a CUDA kernel's blocks on the CPU --------*- C++ -*-===//
//
// Executes a kernel of a simt image: block after block, one fiber per thread, in an order of warps
// and lanes that a seed chooses among the legal ones. Shared memory starts as NaN patterns between
// red zones. Every access is checked for bounds and alignment, and for races when asked. Example:
//
//   std::string error;
//   auto image = Image::load(bytes.data(), bytes.size(), error);
//   Kernel k;  image->find("softmax", k);
//   MemoryMap memory;  memory.add(x, 4096, "x");  memory.add(y, 4096, "y");
//   void *args[] = {&x, &y};
//   Executor executor;
//   std::vector<Finding> wrong = executor.launch(k, {8}, {256}, 0, args, memory, {.seed = 7});
//
// A launch stops at the first finding that makes going on meaningless (out of bounds, deadlock);
// races are collected. Not thread-safe: one executor per host thread; several executors may run at
// a time.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_EXECUTOR_H
#define GPUCC_RT_EMULATION_SIMT_EXECUTOR_H

#include "Footprint.h"
#include "Image.h"
#include "MemoryMap.h"
#include "Report.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpucc::rt::simt {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct LaunchOptions {
  uint64_t seed = 0;        ///< order of warps and lanes; 0 = ascending
  bool copiesEarly = false; ///< cp.async lands when issued, else when its thread must have waited
  bool races = true;        ///< false: bounds, alignment and barriers only (faster)
  bool footprint = false;   ///< remember which global words were read and written
  unsigned maxFindings = 16;
};

class Executor {
public:
  static constexpr unsigned hookVersion = 1;
  /// The table that Image::load hands to an image.
  static const void *hooks();

  Executor();
  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// Runs the whole grid. Empty result: no rule was broken.
  std::vector<Finding> launch(const Kernel &kernel, Dim3 grid, Dim3 block,
                              size_t dynamicSharedBytes, void **arguments, const MemoryMap &memory,
                              const LaunchOptions &options);

  /// Of the last launch, when asked for.
  const Footprint &footprint() const;
  /// Fiber switches of the last launch, a measure of its work.
  uint64_t switches() const;

  struct State;

private:
  std::unique_ptr<State> state;
};

} // namespace gpucc::rt::simt

#endif
