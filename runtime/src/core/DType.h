//===- DType.h - Element types: sizes, names, conversion
//----------------------------------------===//
//
//   dtypeBytes(DType::bf16, 10) == 20      dtypeBytes(DType::i4, 3) == 2 (two per byte)
//   castElements(DType::f32, x, DType::bf16, y, 10)   round to nearest, ties to even
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_CORE_DTYPE_H
#define GPUCC_RT_CORE_DTYPE_H

#include "plan_generated.h"

#include <cstdint>

namespace gpucc::rt {

using plan::DType;

/// Bits of one element (i1 is stored in a byte).
unsigned dtypeBits(DType type);
inline uint64_t dtypeBytes(DType type, uint64_t elements) {
  return (elements * dtypeBits(type) + 7) / 8;
}
const char *dtypeName(DType type);
bool dtypeIsFloat(DType type);

float f16ToFloat(uint16_t bits);
uint16_t floatToF16(float value);
inline float bf16ToFloat(uint16_t bits) {
  uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  __builtin_memcpy(&value, &word, 4);
  return value;
}
uint16_t floatToBf16(float value);

/// Can castElements convert between the two? (Everything but the 4- and 8-bit floats and 4-bit
/// integers, which only copy.)
bool canCast(DType from, DType to);
void castElements(DType from, const void *source, DType to, void *destination, uint64_t count);

} // namespace gpucc::rt

#endif // GPUCC_RT_CORE_DTYPE_H
