//===- Numbers.h - Test values of the three element types --------*- C++ -*-===//
//
// The 16-bit conversions here are written from the formats' definitions (IEEE 754 binary16,
// bfloat16 = the upper half of binary32), independent of gk.cuh.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_EMULATION_NUMBERS_H
#define GPUCC_TEST_EMULATION_NUMBERS_H

#include "KernelFixture.h"

#include <cmath>
#include <cstring>

namespace gpucc::test {

inline float bf16ToFloat(uint16_t x) {
  uint32_t u = uint32_t(x) << 16;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
inline double f16ToDouble(uint16_t x) {
  const int exponent = x >> 10 & 31, mantissa = x & 1023;
  const double sign = x >> 15 ? -1.0 : 1.0;
  if (exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  return exponent ? sign * std::ldexp(1024 + mantissa, exponent - 25)
                  : sign * std::ldexp(mantissa, -24);
}
/// Nearest of a finite format's neighbours, ties to the even pattern; `decode` is increasing in
/// |x|.
template <class Decode> uint16_t nearest(double x, uint16_t infinity, Decode decode) {
  if (x != x)
    return 0x7fff;
  const auto sign = static_cast<uint16_t>(std::signbit(x) ? 0x8000 : 0);
  x = std::fabs(x);
  uint16_t low = 0, high = infinity; // decode(low) <= x
  while (high - low > 1) {
    const auto mid = static_cast<uint16_t>((low + high) / 2);
    (decode(mid) <= x ? low : high) = mid;
  }
  // The step above the largest finite value counts as one more of the same size.
  const double below = decode(low),
               above = high == infinity ? below + (below - decode(static_cast<uint16_t>(low - 1)))
                                        : decode(high);
  if (x >= above)
    return sign | infinity;
  const double toLow = x - below, toHigh = above - x;
  const bool up = toHigh < toLow || (toHigh == toLow && (low & 1));
  return static_cast<uint16_t>(sign | (up ? high : low));
}
inline uint16_t doubleToF16(double x) { return nearest(x, 0x7c00, f16ToDouble); }
inline uint16_t doubleToBf16(double x) { return nearest(x, 0x7f80, bf16ToFloat); }

/// Values in [-2, 2) of element type gk_f16, gk_bf16 or float.
class Values {
public:
  Values(rt::simt::MemoryMap &memory, const char *name, const std::string &type, size_t count,
         unsigned seed)
      : values(count), bits(memory, name, type == "float" ? 0 : count),
        floats(memory, name, type == "float" ? count : 0), isFloat(type == "float") {
    for (size_t i = 0; i < count; ++i) {
      uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ z >> 27) * 0x94d049bb133111ebull;
      const auto x = static_cast<float>(static_cast<int64_t>(z >> 40) - (1 << 23)) / (1 << 22);
      if (isFloat)
        floats[i] = values[i] = x;
      else if (type == "gk_f16") {
        bits[i] = doubleToF16(x);
        values[i] = static_cast<float>(f16ToDouble(bits[i]));
      } else {
        bits[i] = doubleToBf16(x);
        values[i] = bf16ToFloat(bits[i]);
      }
    }
  }
  const void *data() const {
    return isFloat ? static_cast<const void *>(floats.data) : static_cast<const void *>(bits.data);
  }
  float operator[](size_t i) const { return values[i]; }

private:
  std::vector<float> values;
  Buffer<uint16_t> bits;
  Buffer<float> floats;
  bool isFloat;
};

} // namespace gpucc::test

#endif
