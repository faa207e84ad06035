//===- SearchWay.h - one partial answer of the axis search ------*- C++ -*-===//
//
// A beam search copies its answers often and changes them little: copies share
// blocks of 64 entries until one of them writes.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_DIST_SEARCHWAY_H
#define GPUCC_LIB_TRANSFORMS_DIST_SEARCHWAY_H

#include "gpucc/Transforms/Dist/AxisSearch.h"

#include <memory>

namespace gpucc {

/// A vector whose copies share what they do not change: ways differ in few places.
template <typename T> class SharedVector {
  static constexpr size_t block = 64;
  std::vector<std::shared_ptr<std::vector<T>>> blocks;

public:
  SharedVector() = default;
  SharedVector(size_t size, T value)
      : blocks((size + block - 1) / block, std::make_shared<std::vector<T>>(block, value)) {}
  T operator[](size_t i) const { return (*blocks[i / block])[i % block]; }
  void set(size_t i, T value) {
    auto &b = blocks[i / block];
    if (b.use_count() > 1)
      b = std::make_shared<std::vector<T>>(*b);
    (*b)[i % block] = value;
  }
};

inline uint64_t mix(uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// One way to spread the program up to some op.
struct Way {
  SharedVector<int8_t> state;   ///< per value
  SharedVector<uint32_t> have;  ///< per value: bit set of the states it exists in
  SharedVector<uint8_t> paid;   ///< per value: what of its gradient is counted
  SharedVector<double> prepaid; ///< per value: counted for the reduction that a partial sum needs
  SharedVector<int> choice;     ///< per op
  double bytes = 0, held = 0;   ///< sent; kept on a rank
  double work = 0;              ///< of matrix units, in bytes
  uint64_t look = 0;            ///< hash of the states of the values that are still used

  double score() const { return bytes + work + 1e-4 * held; }
  uint64_t hashOf(int value) const {
    return state[value] == axis::Open
               ? 0
               : mix(mix(static_cast<uint64_t>(value)) ^ (static_cast<uint64_t>(have[value]) << 8) ^
                     static_cast<uint64_t>(state[value]));
  }
  void put(int value, int8_t newState, uint32_t newHave) {
    look ^= hashOf(value);
    state.set(value, newState);
    have.set(value, newHave);
    look ^= hashOf(value);
  }
  void forget(int value) { look ^= hashOf(value); }
};

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_DIST_SEARCHWAY_H
