//===- Report.cpp - Findings as sentences ---------------------------------===//

#include "Report.h"
#include "State.h"

#include <algorithm>
#include <map>

using namespace gpucc::rt::simt;

const char *gpucc::rt::simt::name(FindingKind kind) {
  switch (kind) {
  case FindingKind::Race:
    return "race";
  case FindingKind::PendingCopy:
    return "copy in flight";
  case FindingKind::Uninitialized:
    return "read of unwritten shared memory";
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::Misaligned:
    return "misaligned access";
  case FindingKind::DivergentBarrier:
    return "divergent barrier";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::BadCollective:
    return "illegal warp operation";
  case FindingKind::BadLaunch:
    return "illegal launch";
  }
  return "finding";
}

static std::string text(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string MemoryMap::describe(uintptr_t address) const {
  uintptr_t base = 0;
  const Range *range = below(address, base);
  char hex[32];
  snprintf(hex, sizeof(hex), "0x%zx", static_cast<size_t>(address));
  if (!range)
    return std::string("global address ") + hex + ", below every allocation";
  return "global " + (range->name.empty() ? std::string("allocation") : "'" + range->name + "'") +
         " + " + std::to_string(address - base) + ", which has " + std::to_string(range->bytes) +
         " bytes";
}

const SharedArray *Executor::State::arrayOf(uintptr_t address) const {
  const SharedArray *best = nullptr; // the last array that begins at or below, or the first one
  for (const SharedArray &array : shared)
    if (!best || reinterpret_cast<uintptr_t>(array.begin) <= address)
      best = &array;
  return best;
}

std::string Executor::State::describe(uintptr_t address) const {
  if (address - reinterpret_cast<uintptr_t>(sharedArena) >= sharedArenaBytes)
    return memory->describe(address);
  const SharedArray *array = arrayOf(address);
  if (!array)
    return "shared memory outside every array";
  const auto begin = reinterpret_cast<uintptr_t>(array->begin);
  return std::string("shared '") + array->name + "' + " +
         std::to_string(static_cast<ptrdiff_t>(address - begin)) + ", which has " +
         std::to_string(array->bytes) + " bytes";
}

std::string Executor::State::placeOf(const void *pc) const {
  return pc ? kernel->image->place(kernel->image->offsetOf(pc)) : std::string("an unknown line");
}

void Executor::State::report(FindingKind kind, const std::string &what, const void *pc) {
  if (findings.size() >= options.maxFindings)
    return;
  std::string who = "kernel '" + kernel->name + "', block " + text(blockIdx);
  if (current)
    who += ": thread " + std::to_string(current->linear) + " " + text(current->threadIdx);
  findings.push_back(
      {kind, std::string(name(kind)) + " at " + placeOf(pc) + ": " + who + " " + what});
}

void Executor::State::reportConflict(const Shadow::Conflict &c, size_t bytes, bool write,
                                     const void *pc) {
  const uint64_t pair = uint64_t(kernel->image->offsetOf(pc)) << 32 | c.other.pc;
  if (std::find(seen.begin(), seen.end(), pair) != seen.end())
    return;
  seen.push_back(pair);
  std::string what = std::string(write ? "writes " : "reads ") + std::to_string(bytes) +
                     " bytes around " + describe(c.address);
  if (c.verdict == Shadow::Unwritten)
    return report(FindingKind::Uninitialized,
                  what +
                      ", which no thread of the block has written; look for a missing copy, wait "
                      "or barrier before it",
                  pc);
  const std::string other = "thread " + std::to_string(c.other.thread) +
                            (c.otherBlock ? " of another block" : "") + " at " +
                            kernel->image->place(c.other.pc);
  if (c.verdict == Shadow::Pending)
    return report(FindingKind::PendingCopy,
                  what + ", which a cp.async of " + other +
                      " may still be filling; wait for fewer groups (gk_cp_wait) before it",
                  pc);
  report(FindingKind::Race,
         what + ", which " + other + (c.otherWrites ? " wrote" : " read") +
             (c.otherBlock ? "; blocks are not ordered inside a launch: use atomics or two launches"
                           : " with no barrier between; put __syncthreads() between the two lines"),
         pc);
}

void Executor::State::reportStuck(FindingKind kind, const std::string &what) {
  // Ranges of threads by where they wait: "0-39 at kernel.cu:12, 40-63 at kernel.cu:15".
  std::string list;
  unsigned from = 0;
  auto siteOf = [&](unsigned i) -> std::string {
    Lane &lane = *laneAt(i);
    if (lane.warp->done >> lane.lane & 1)
      return "have returned";
    const bool waits = (lane.warp->atBarrier | lane.warp->atCollective) >> lane.lane & 1;
    if (!waits && &lane != current)
      return "are still running";
    return "wait at " + (lane.pc ? placeOf(lane.pc) : std::string(lane.site));
  };
  std::map<const void *, std::string> known; // a symbolizer run per place, not per thread
  auto cached = [&](unsigned i) {
    Lane &lane = *laneAt(i);
    const bool plain = (lane.warp->atBarrier | lane.warp->atCollective) >> lane.lane & 1;
    if (!plain || !lane.pc)
      return siteOf(i);
    std::string &s = known[lane.pc];
    if (s.empty())
      s = siteOf(i);
    return s;
  };
  for (unsigned i = 1; i <= threads; ++i) {
    if (i < threads && cached(i) == cached(from))
      continue;
    list += (list.empty() ? "" : ", ") + std::string("threads ") + std::to_string(from) + "-" +
            std::to_string(i - 1) + " " + cached(from);
    from = i;
  }
  if (findings.size() < options.maxFindings)
    findings.push_back({kind, std::string(name(kind)) + ": kernel '" + kernel->name + "', block " +
                                  text(blockIdx) + ": " + what + ": " + list +
                                  "; every thread of the block must reach the same barrier"});
}
