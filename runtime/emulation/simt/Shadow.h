//===- Shadow.h - Who touched which byte last --------------------*- C++ -*-===//
//
// The race detector's memory. For each word of shared or global memory that a launch touches it
// keeps the last write and the last reads, each with block, barrier epoch, warp epoch, thread and
// place. Two accesses are ordered when they are of one thread, or of one block with a __syncthreads
// between, or of one warp with a __syncwarp between; all else, with a write among them, is a race.
// Example, four accesses of one word in shared memory, barrier epochs in brackets:
//
//   thread 0 writes [1]; thread 40 reads [1]  -> race         (no barrier)
//   thread 0 writes [1]; thread 40 reads [2]  -> ordered;     thread 9 writes [2] -> race with 40
//
// Reads of many threads are folded into one record with the width of the set (lanes, warps,
// blocks): later writes need a barrier against the widest. A cp.async is a write that begins when
// it is issued and ends when its thread waits; any access in between is reported. Words are split
// into bytes on the first narrower access to their page.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_SHADOW_H
#define GPUCC_RT_EMULATION_SIMT_SHADOW_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace gpucc::rt::simt {

/// When and by whom. `block` counts over all launches from 1, so that old records read as absent.
struct Moment {
  uint32_t block = 0, barrier = 0, warp = 0, pc = 0;
  uint16_t thread = 0;
};

class Shadow {
public:
  enum Verdict { Fine, Race, Pending, Unwritten };
  /// What the access collided with, for the report.
  struct Conflict {
    Verdict verdict = Fine;
    Moment other;
    bool otherWrites = false, otherBlock = false;
    uintptr_t address = 0;
  };

  /// Forgets what belongs to earlier launches; blocks from `firstBlock` on are of this one.
  void beginLaunch(uint32_t firstBlock);

  /// Records and judges an access. `shared`: records of other blocks are void, and reading what was
  /// never written is Unwritten.
  Conflict access(uintptr_t address, size_t bytes, bool write, bool atomic, bool shared,
                  const Moment &now);
  /// A cp.async was issued: a write that is pending until `finishCopy`.
  Conflict beginCopy(uintptr_t address, size_t bytes, const Moment &now);
  void finishCopy(uintptr_t address, size_t bytes, const Moment &now);

private:
  enum : uint16_t { Atomic = 1, PendingBit = 2, ManyLanes = 4, ManyWarps = 8, ManyBlocks = 16 };
  struct Record : Moment {
    uint16_t flags = 0;
  };
  struct Cell {
    Record write, read;
  };
  static constexpr size_t pageBytes = 4096;
  struct Page {
    unsigned shift = 2; ///< log2 of the bytes per cell: words, or bytes after a narrower access
    std::vector<Cell> cells = std::vector<Cell>(pageBytes >> 2);
    void split();
  };

  Page &pageOf(uintptr_t address);
  template <class Visit> void cells(uintptr_t address, size_t bytes, Visit &&visit);
  bool live(const Record &r, bool shared, const Moment &now) const {
    return shared ? r.block == now.block : r.block >= first;
  }
  bool judge(Cell &cell, uintptr_t address, bool write, bool atomic, bool shared, const Moment &now,
             Conflict &out) const;
  static bool ordered(const Record &write, const Moment &now);
  static bool readersOrdered(const Record &read, const Moment &now);
  void noteRead(Record &read, bool atomic, bool shared, const Moment &now) const;

  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages;
  uintptr_t lastKey = ~uintptr_t(0);
  Page *lastPage = nullptr;
  uint32_t first = 1;
};

} // namespace gpucc::rt::simt

#endif
