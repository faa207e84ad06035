//===- Footprint.h - Which words of memory something touched ------*- C++ -*-===//
//
// Per page of 4096 bytes one bit per word that was read and one per word that was written. Two
// footprints conflict where one writes what the other reads or writes:
//
//   a.note(p, 64, true);  b.note(p + 60, 4, false);   conflict(page of a, page of b) -> word 15
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_FOOTPRINT_H
#define GPUCC_RT_EMULATION_SIMT_FOOTPRINT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace gpucc::rt::simt {

class Footprint {
public:
  static constexpr size_t pageBytes = 4096, words = 1024;
  struct Page {
    std::array<uint64_t, words / 64> read{}, written{};
  };

  void clear() {
    all.clear();
    lastNumber = ~uintptr_t(0);
  }
  void note(uintptr_t address, size_t bytes, bool write) {
    if (!bytes)
      return;
    for (uintptr_t word = address / 4, last = (address + bytes - 1) / 4; word <= last; ++word) {
      Page &page = pageOf(word / words);
      const size_t bit = word % words;
      (write ? page.written : page.read)[bit / 64] |= uint64_t(1) << bit % 64;
    }
  }
  const std::unordered_map<uintptr_t, Page> &pages() const { return all; }

  /// Index of a word that one of the pages writes and the other touches, or -1.
  static int conflict(const Page &a, const Page &b) {
    for (size_t i = 0; i < words / 64; ++i) {
      const uint64_t both =
          (a.written[i] & (b.read[i] | b.written[i])) | (a.read[i] & b.written[i]);
      if (both)
        return static_cast<int>(i * 64) + __builtin_ctzll(both);
    }
    return -1;
  }

private:
  Page &pageOf(uintptr_t number) {
    if (number != lastNumber) {
      lastPage = &all[number]; // elements of an unordered_map do not move
      lastNumber = number;
    }
    return *lastPage;
  }
  std::unordered_map<uintptr_t, Page> all;
  uintptr_t lastNumber = ~uintptr_t(0);
  Page *lastPage = nullptr;
};

} // namespace gpucc::rt::simt

#endif
