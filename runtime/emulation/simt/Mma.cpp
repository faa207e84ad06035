//===- Mma.cpp - mma.sync on the CPU --------------------------------------===//
//
// Fragment layouts of the PTX ISA, g = lane / 4, t = lane % 4:
//   16-bit, m16n8k16:  a0 (g, 2t..)  a1 (g+8, 2t..)  a2 (g, 2t+8..)  a3 (g+8, 2t+8..)
//                      b0 (k = 2t.., n = g)   b1 (k = 2t+8.., n = g)
//   tf32, m16n8k8:     a0 (g, t)  a1 (g+8, t)  a2 (g, t+4)  a3 (g+8, t+4);  b0 (t, g)  b1 (t+4, g)
//   d0 d1 (g, 2t..)  d2 d3 (g+8, 2t..)
// Products are exact in float; they are added in ascending k, one legal order of many: hardware
// adds in another one, so contracts are compared within a tolerance.
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <cstring>

using namespace gpucc::rt::simt;

namespace {
struct MmaArgument { // simt::mma_arg of device.h
  int kind;          // 0 f16, 1 bf16, 2 tf32
  float d[4];
  unsigned a[4], b[2];
};

float fromBits(unsigned u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

/// The 16-bit element in the low half of `u`.
float half(int kind, unsigned u) {
  u &= 0xffff;
  if (kind == 1)
    return fromBits(u << 16);
  const unsigned sign = (u & 0x8000) << 16, exponent = u >> 10 & 31, mantissa = u & 0x3ff;
  if (exponent == 31)
    return fromBits(sign | 0x7f800000 | mantissa << 13);
  if (exponent)
    return fromBits(sign | (exponent + 112) << 23 | mantissa << 13);
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -small : small;
}
} // namespace

void gpucc::rt::simt::mmaAll(void **lanes, unsigned) {
  alignas(32) float a[16][16], b[16][8], d[16][8];
  auto at = [&](int l) { return static_cast<MmaArgument *>(lanes[l]); };
  const int kind = at(0)->kind, depth = kind == 2 ? 8 : 16;
  for (int l = 0; l < 32; ++l) {
    const MmaArgument &m = *at(l);
    const int g = l / 4, t = l % 4;
    for (int i = 0; i < 4; ++i) {
      const int row = g + i % 2 * 8;
      if (kind == 2) {
        a[row][t + i / 2 * 4] = fromBits(m.a[i] & 0xffffe000u);
      } else {
        a[row][2 * t + i / 2 * 8] = half(kind, m.a[i]);
        a[row][2 * t + i / 2 * 8 + 1] = half(kind, m.a[i] >> 16);
      }
      d[g + i / 2 * 8][2 * t + i % 2] = m.d[i];
    }
    for (int i = 0; i < 2; ++i)
      if (kind == 2) {
        b[t + i * 4][g] = fromBits(m.b[i] & 0xffffe000u);
      } else {
        b[2 * t + i * 8][g] = half(kind, m.b[i]);
        b[2 * t + i * 8 + 1][g] = half(kind, m.b[i] >> 16);
      }
  }
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < depth; ++k)
      for (int j = 0; j < 8; ++j)
        d[i][j] += a[i][k] * b[k][j];
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i)
      at(l)->d[i] = d[l / 4 + i / 2 * 8][2 * (l % 4) + i % 2];
}
