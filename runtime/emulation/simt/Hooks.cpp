//===- Hooks.cpp - What threads do together: barriers, warps, shared memory -===//

#include "State.h"

#include <cstring>

using namespace gpucc::rt::simt;

static bool sameSite(const char *a, const char *b) { return a == b || strcmp(a, b) == 0; }

void Executor::State::barrier(const char *site, const void *pc) {
  current->site = site;
  current->pc = pc;
  if (waiting && !sameSite(barrierSite, site)) {
    reportStuck(FindingKind::DivergentBarrier, "threads of one block wait at different barriers, " +
                                                   placeOf(barrierPc) + " and " + placeOf(pc));
    abort();
  }
  barrierSite = site;
  barrierPc = pc;
  if (waiting + 1 == live) {
    for (Warp &warp : warps) {
      warp.ready |= warp.atBarrier;
      warp.atBarrier = 0;
    }
    waiting = 0;
    ++barrierEpoch;
    return;
  }
  ++waiting;
  current->warp->ready &= ~(1u << current->lane);
  current->warp->atBarrier |= 1u << current->lane;
  leave();
}

void Executor::State::collective(unsigned mask, const char *site, Combine fn, void *argument,
                                 const void *pc) {
  Lane *lane = current;
  Warp &warp = *lane->warp;
  const unsigned bit = 1u << lane->lane;
  lane->site = site;
  lane->pc = pc;
  lane->argument = argument;
  mask &= warp.exist;
  std::string wrong;
  if (!(mask & bit))
    wrong = "the calling lane is not in the mask";
  else if (mask & warp.done)
    wrong = "the mask names lanes that have returned";
  else if ((warp.atCollective & mask) && !sameSite(warp.site, site))
    wrong =
        std::string("lanes of one warp wait at different operations, ") + warp.site + " and here";
  else if ((warp.atCollective & mask) && warp.mask != mask)
    wrong = "lanes of one warp name different masks";
  if (!wrong.empty()) {
    report(FindingKind::BadCollective,
           std::string(site) + ": " + wrong +
               "; all lanes of the mask must reach the same operation",
           pc);
    abort();
  }
  warp.site = site;
  warp.pc = pc;
  warp.mask = mask;
  if (((warp.atCollective | bit) & mask) != mask) {
    warp.atCollective |= bit;
    warp.ready &= ~bit;
    return leave();
  }
  const unsigned first = lane->linear - lane->lane;
  if (fn) {
    void *arguments[32];
    for (unsigned l = 0; l < 32; ++l)
      arguments[l] = mask >> l & 1 ? laneAt(first + l)->argument : nullptr;
    fn(arguments, mask);
  } else
    ++warp.epoch; // __syncwarp: the one warp operation that orders memory
  warp.atCollective &= ~mask;
  warp.ready |= mask;
}

void *Executor::State::sharedArray(const void *key, size_t bytes, size_t align, const char *name) {
  for (const SharedArray &array : shared)
    if (array.key == key)
      return array.begin;
  size_t at = (sharedUsed + redZoneBytes + align - 1) / align * align;
  if (at + bytes + redZoneBytes > sharedArenaBytes) {
    report(FindingKind::BadLaunch,
           std::string("shared array '") + name + "' of " + std::to_string(bytes) +
               " bytes does not fit a block",
           nullptr);
    abort();
  }
  sharedUsed = at + bytes;
  memset(sharedArena + at, 0xff, bytes);
  shared.push_back({key, sharedArena + at, bytes, name});
  return sharedArena + at;
}

void Executor::State::access(const void *p, size_t bytes, unsigned flags, unsigned align,
                             const void *pc) {
  constexpr unsigned write = 2, atomic = 4;
  const auto address = reinterpret_cast<uintptr_t>(p);
  if (address & (align - 1)) {
    report(FindingKind::Misaligned,
           std::string(flags & write ? "writes " : "reads ") + std::to_string(bytes) +
               " bytes at " + describe(address) + ", which is no multiple of " +
               std::to_string(align) + "; use narrower vectors or pad the rows",
           pc);
    abort();
  }
  const auto arena = reinterpret_cast<uintptr_t>(sharedArena);
  const bool isShared = address - arena < sharedArenaBytes;
  if (isShared) {
    const SharedArray *array = arrayOf(address);
    const auto begin = array ? reinterpret_cast<uintptr_t>(array->begin) : 0;
    if (!array || address < begin || address + bytes > begin + array->bytes) {
      report(FindingKind::OutOfBounds,
             std::string(flags & write ? "writes " : "reads ") + std::to_string(bytes) +
                 " bytes at " + describe(address),
             pc);
      abort();
    }
  } else if (address < rangeLow || address + bytes > rangeHigh) {
    const auto stack = reinterpret_cast<uintptr_t>(stacks);
    if (address - stack < maxThreads * stackBytes || kernel->image->contains(p))
      return; // another thread's locals inside a warp operation, or the kernel's constants
    uintptr_t base = 0;
    const MemoryMap::Range *range = memory->below(address, base);
    if (!range || address + bytes > base + range->bytes) {
      report(FindingKind::OutOfBounds,
             std::string(flags & write ? "writes " : "reads ") + std::to_string(bytes) +
                 " bytes at " + memory->describe(address),
             pc);
      abort();
    }
    rangeLow = base;
    rangeHigh = base + range->bytes;
  }
  const bool writes = flags & write;
  if (options.footprint && !isShared) {
    if (writes)
      footprint.note(address, bytes, /*write=*/true);
    if (flags & 1)
      footprint.note(address, bytes, /*write=*/false);
  }
  if (!options.races)
    return;
  // Plain read-modify-write is judged as a read, then a write.
  if ((flags & 1) && !(flags & atomic)) {
    Shadow::Conflict c = shadow.access(address, bytes, false, false, isShared, now(pc));
    if (c.verdict != Shadow::Fine)
      reportConflict(c, bytes, false, pc);
  }
  if (writes) {
    Shadow::Conflict c =
        shadow.access(address, bytes, true, (flags & atomic) != 0, isShared, now(pc));
    if (c.verdict != Shadow::Fine)
      reportConflict(c, bytes, true, pc);
  }
}

void Executor::State::asyncCopy(void *to, const void *from, unsigned bytes, unsigned valid,
                                const void *pc) {
  const auto target = reinterpret_cast<uintptr_t>(to);
  if ((target | reinterpret_cast<uintptr_t>(from)) & (bytes - 1)) {
    const bool first = target & (bytes - 1);
    report(FindingKind::Misaligned,
           "cp.async of " + std::to_string(bytes) + " bytes " + (first ? "to " : "from ") +
               (first ? describe(target) : describe(reinterpret_cast<uintptr_t>(from))) +
               ", which is no multiple of " + std::to_string(bytes),
           pc);
    abort();
  }
  if (valid > bytes) {
    report(FindingKind::BadCollective,
           "cp.async of " + std::to_string(bytes) + " bytes with " + std::to_string(valid) +
               " valid ones",
           pc);
    abort();
  }
  if (valid)
    access(from, valid, 1, 1, pc);
  const bool races = options.races;
  options.races = false; // bounds only: the write is judged as a copy in flight
  access(to, bytes, 2, bytes, pc);
  options.races = races;
  if (races) {
    Shadow::Conflict c = shadow.beginCopy(target, bytes, now(pc));
    if (c.verdict != Shadow::Fine)
      reportConflict(c, bytes, true, pc);
  }
  Lane::Copy copy{static_cast<char *>(to), static_cast<const char *>(from), bytes, valid, pc};
  if (options.copiesEarly) {
    memcpy(copy.to, copy.from, valid);
    memset(copy.to + valid, 0, bytes - valid);
  }
  current->copies.push_back(copy);
}

void Executor::State::asyncWait(unsigned pending) {
  Lane &lane = *current;
  if (lane.groups.size() <= pending)
    return;
  const size_t done = lane.groups.size() - pending;
  size_t count = 0;
  for (size_t g = 0; g < done; ++g)
    count += lane.groups[g];
  for (size_t i = 0; i < count; ++i) {
    const Lane::Copy &copy = lane.copies[i];
    if (!options.copiesEarly) {
      memcpy(copy.to, copy.from, copy.valid);
      memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
    }
    if (options.races)
      shadow.finishCopy(reinterpret_cast<uintptr_t>(copy.to), copy.bytes, now(copy.pc));
  }
  lane.copies.erase(lane.copies.begin(), lane.copies.begin() + static_cast<ptrdiff_t>(count));
  lane.groups.erase(lane.groups.begin(), lane.groups.begin() + static_cast<ptrdiff_t>(done));
}

static void asyncCommit() {
  Lane &lane = *self();
  unsigned before = 0;
  for (unsigned n : lane.groups)
    before += n;
  lane.groups.push_back(static_cast<unsigned>(lane.copies.size()) - before);
}

/// simt_hook_table of device.h, which this translation unit does not include because it redefines
/// words of the CUDA language.
struct HookTable {
  unsigned version;
  void (*barrier)(const char *, const void *);
  void (*collective)(unsigned, const char *, Combine, void *, const void *);
  void *(*sharedArray)(const void *, size_t, size_t, const char *);
  void (*access)(const void *, size_t, unsigned, unsigned, const void *);
  void (*asyncCopy)(void *, const void *, unsigned, unsigned, const void *);
  void (*asyncCommit)();
  void (*asyncWait)(unsigned);
  void (*mma)(void **, unsigned);
};

const void *Executor::hooks() {
  static const HookTable table = {
      hookVersion,
      [](const char *site, const void *pc) { self()->state->barrier(site, pc); },
      [](unsigned mask, const char *site, Combine fn, void *argument, const void *pc) {
        self()->state->collective(mask, site, fn, argument, pc);
      },
      [](const void *key, size_t bytes, size_t align, const char *name) {
        return self()->state->sharedArray(key, bytes, align, name);
      },
      [](const void *p, size_t bytes, unsigned flags, unsigned align, const void *pc) {
        self()->state->access(p, bytes, flags, align, pc);
      },
      [](void *to, const void *from, unsigned bytes, unsigned valid, const void *pc) {
        self()->state->asyncCopy(to, from, bytes, valid, pc);
      },
      asyncCommit,
      [](unsigned pending) { self()->state->asyncWait(pending); },
      mmaAll,
  };
  return &table;
}
