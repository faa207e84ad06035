//===- MemoryMap.h - Which global addresses a kernel may touch ---*- C++ -*-===//
//
// The live allocations of a device, sorted by address: the fake driver adds and removes them, the
// executor looks every global access up.
//
//   MemoryMap map;  map.add(p, 4096, "arena");
//   map.contains(p + 4092, 4)  -> true;   map.contains(p + 4094, 4)  -> false
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_MEMORYMAP_H
#define GPUCC_RT_EMULATION_SIMT_MEMORYMAP_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace gpucc::rt::simt {

class MemoryMap {
public:
  struct Range {
    size_t bytes;
    std::string name;
  };

  void add(const void *p, size_t bytes, std::string name = {}) {
    ranges[reinterpret_cast<uintptr_t>(p)] = {bytes, std::move(name)};
  }
  void remove(const void *p) { ranges.erase(reinterpret_cast<uintptr_t>(p)); }

  /// The range that address lies in, or the last one below it, with its base; null if there is
  /// none.
  const Range *below(uintptr_t address, uintptr_t &base) const {
    auto it = ranges.upper_bound(address);
    if (it == ranges.begin())
      return nullptr;
    --it;
    base = it->first;
    return &it->second;
  }
  bool contains(const void *p, size_t bytes) const {
    uintptr_t base = 0, address = reinterpret_cast<uintptr_t>(p);
    const Range *range = below(address, base);
    return range && address + bytes <= base + range->bytes;
  }
  /// "'arena' + 8192 of 4096 bytes", "no allocation is near": for reports.
  std::string describe(uintptr_t address) const;

private:
  std::map<uintptr_t, Range> ranges;
};

} // namespace gpucc::rt::simt

#endif
