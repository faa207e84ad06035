//===- State.h - The executor's fibers, warps and block ----------*- C++ -*-===//
//
// Private to the executor: what one launch keeps while it runs. A lane's stack is 64 KiB, aligned
// to its size; its lowest bytes hold the Lane itself, whose first part is the `simt_thread` of
// device.h that kernels read. Layout:   | Lane ... guard ...            <- stack grows down |
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_STATE_H
#define GPUCC_RT_EMULATION_SIMT_STATE_H

#include "Executor.h"
#include "Shadow.h"

#include <random>

namespace gpucc::rt::simt {

constexpr size_t stackBytes = 64 << 10; // simt::stackBytes of device.h
constexpr unsigned maxThreads = 1024;
constexpr size_t sharedArenaBytes = 512 << 10, redZoneBytes = 64;
constexpr uint64_t stackGuard = 0x5317ac5317ac5317ull;

using Combine = void (*)(void **laneArguments, unsigned mask);

struct Warp;
struct Lane {
  Dim3 threadIdx, blockIdx, blockDim, gridDim; // as simt_thread of device.h
  unsigned lane, linear;
  Executor::State *state;
  Warp *warp;
  void *stackPointer;
  void *argument;   // of the warp operation it waits at
  const char *site; // where it waits
  const void *pc;
  struct Copy {
    char *to;
    const char *from;
    unsigned bytes, valid;
    const void *pc;
  };
  std::vector<Copy> copies;     // issued, oldest first
  std::vector<unsigned> groups; // number of copies in each committed group, oldest first
  uint64_t guard;
};

struct Warp {
  unsigned exist = 0, ready = 0, atBarrier = 0, atCollective = 0, done = 0;
  unsigned mask = 0; // of the collective they wait at
  uint32_t epoch = 1;
  const char *site = nullptr;
  const void *pc = nullptr;
};

struct SharedArray {
  const void *key;
  char *begin;
  size_t bytes;
  const char *name;
};

struct Executor::State {
  // One launch.
  const Kernel *kernel = nullptr;
  void **arguments = nullptr;
  const MemoryMap *memory = nullptr;
  LaunchOptions options;
  std::vector<Finding> findings;
  std::vector<uint64_t> seen; // pairs of places already reported
  std::mt19937_64 random;
  Dim3 block, grid;
  unsigned threads = 0;
  uint64_t switches = 0;
  // One block.
  Lane *current = nullptr;
  void *mainStack = nullptr;
  std::vector<Warp> warps;
  unsigned live = 0, waiting = 0; // threads that have not returned; that wait at the barrier
  const char *barrierSite = nullptr;
  const void *barrierPc = nullptr;
  uint32_t barrierEpoch = 1, blockNumber = 0;
  bool aborted = false;
  Dim3 blockIdx;
  // Memory.
  void *reserved = nullptr;    // what mmap returned
  char *stacks = nullptr;      // maxThreads * stackBytes, aligned to stackBytes
  char *sharedArena = nullptr; // all shared arrays of a block, between red zones
  size_t sharedUsed = 0;
  std::vector<SharedArray> shared;
  Shadow shadow;
  Footprint footprint;
  uintptr_t rangeLow = 1, rangeHigh = 0; // last global allocation hit

  State();
  ~State();

  Lane *laneAt(unsigned linear) {
    return reinterpret_cast<Lane *>(stacks + size_t(linear) * stackBytes);
  }
  Moment now(const void *pc) const;

  // Scheduling (Executor.cpp).
  void runBlock();
  void switchTo(Lane *lane); // null = the main stack
  void leave();              // the current lane cannot go on: another lane of the warp, or main
  unsigned pick(unsigned readyMask);
  void laneReturned();
  [[noreturn]] void abort();

  // What the hooks do (Hooks.cpp).
  void barrier(const char *site, const void *pc);
  void collective(unsigned mask, const char *site, Combine fn, void *argument, const void *pc);
  void *sharedArray(const void *key, size_t bytes, size_t align, const char *name);
  void access(const void *p, size_t bytes, unsigned flags, unsigned align, const void *pc);
  void asyncCopy(void *to, const void *from, unsigned bytes, unsigned valid, const void *pc);
  void asyncWait(unsigned pending);

  // Reports (Report.cpp).
  void report(FindingKind kind, const std::string &what, const void *pc);
  void reportConflict(const Shadow::Conflict &conflict, size_t bytes, bool write, const void *pc);
  void reportStuck(FindingKind kind, const std::string &what);
  std::string placeOf(const void *pc) const;
  std::string describe(uintptr_t address) const;
  const SharedArray *arrayOf(uintptr_t address) const;
};

/// The current lane, from any function that runs on a fiber.
inline Lane *self() {
  return reinterpret_cast<Lane *>(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) &
                                  ~(stackBytes - 1));
}

/// mma.sync over the 32 lanes' simt::mma_arg (Mma.cpp).
void mmaAll(void **lanes, unsigned mask);

} // namespace gpucc::rt::simt

#endif
