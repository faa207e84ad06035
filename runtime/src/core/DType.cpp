//===- DType.cpp - Element types: sizes, names, conversion
//--------------------------------------===//
#include "core/DType.h"

#include <cmath>
#include <cstring>

using namespace gpucc::rt;

unsigned gpucc::rt::dtypeBits(DType type) {
  switch (type) {
  case DType::f64:
  case DType::i64:
  case DType::u64:
    return 64;
  case DType::f32:
  case DType::i32:
  case DType::u32:
    return 32;
  case DType::f16:
  case DType::bf16:
  case DType::i16:
  case DType::u16:
    return 16;
  case DType::i4:
  case DType::u4:
    return 4;
  case DType::f8e4m3:
  case DType::f8e5m2:
  case DType::i8:
  case DType::u8:
  case DType::i1:
    return 8;
  }
  return 8;
}

const char *gpucc::rt::dtypeName(DType type) { return plan::EnumNameDType(type); }

bool gpucc::rt::dtypeIsFloat(DType type) { return type <= DType::f8e5m2; }

float gpucc::rt::f16ToFloat(uint16_t bits) {
  uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 0) { // zero and subnormals: mantissa * 2^-24
    float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  uint32_t word = sign | (exponent == 31 ? 0x7F800000u : (exponent + 112) << 23) | mantissa << 13;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

uint16_t gpucc::rt::floatToF16(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  uint16_t sign = static_cast<uint16_t>((word >> 16) & 0x8000);
  uint32_t magnitude = word & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return sign | 0x7E00; // NaN
  if (magnitude >= 0x477FF000)
    return sign | 0x7C00;       // rounds to infinity
  if (magnitude < 0x38800000) { // subnormal: the nearest multiple of 2^-24
    float scaled = std::nearbyint(std::ldexp(std::fabs(value), 24));
    return sign | static_cast<uint16_t>(scaled);
  }
  uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return sign | static_cast<uint16_t>((rounded >> 13) - (112 << 10));
}

uint16_t gpucc::rt::floatToBf16(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  if ((word & 0x7FFFFFFF) > 0x7F800000)
    return static_cast<uint16_t>((word >> 16) | 0x40); // quiet NaN
  return static_cast<uint16_t>((word + 0x7FFF + ((word >> 16) & 1)) >> 16);
}

bool gpucc::rt::canCast(DType from, DType to) {
  auto plain = [](DType t) {
    return t != DType::f8e4m3 && t != DType::f8e5m2 && t != DType::i4 && t != DType::u4;
  };
  return from == to || (plain(from) && plain(to));
}

namespace {
/// One element as the widest type of its class.
template <typename Wide> Wide load(DType type, const char *p) {
  auto as = [&](auto zero) {
    std::memcpy(&zero, p, sizeof(zero));
    return static_cast<Wide>(zero);
  };
  uint16_t half;
  switch (type) {
  case DType::f64:
    return as(double());
  case DType::f32:
    return as(float());
  case DType::f16:
    std::memcpy(&half, p, 2);
    return static_cast<Wide>(f16ToFloat(half));
  case DType::bf16:
    std::memcpy(&half, p, 2);
    return static_cast<Wide>(bf16ToFloat(half));
  case DType::i64:
    return as(int64_t());
  case DType::i32:
    return as(int32_t());
  case DType::i16:
    return as(int16_t());
  case DType::i8:
    return as(int8_t());
  case DType::u64:
    return as(uint64_t());
  case DType::u32:
    return as(uint32_t());
  case DType::u16:
    return as(uint16_t());
  case DType::u8:
  case DType::i1:
    return as(uint8_t());
  default:
    return Wide();
  }
}

template <typename Wide> void store(DType type, char *p, Wide value) {
  auto as = [&](auto narrow) { std::memcpy(p, &narrow, sizeof(narrow)); };
  switch (type) {
  case DType::f64:
    return as(static_cast<double>(value));
  case DType::f32:
    return as(static_cast<float>(value));
  case DType::f16:
    return as(floatToF16(static_cast<float>(value)));
  case DType::bf16:
    return as(floatToBf16(static_cast<float>(value)));
  case DType::i64:
    return as(static_cast<int64_t>(value));
  case DType::i32:
    return as(static_cast<int32_t>(value));
  case DType::i16:
    return as(static_cast<int16_t>(value));
  case DType::i8:
    return as(static_cast<int8_t>(value));
  case DType::u64:
    return as(static_cast<uint64_t>(value));
  case DType::u32:
    return as(static_cast<uint32_t>(value));
  case DType::u16:
    return as(static_cast<uint16_t>(value));
  case DType::u8:
    return as(static_cast<uint8_t>(value));
  case DType::i1:
    return as(static_cast<uint8_t>(value != Wide()));
  default:
    return;
  }
}

/// A float beyond the integer's range is undefined in C++; hardware and ONNX saturate, NaN gives 0.
int64_t toInteger(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= 9223372036854775807.0)
    return INT64_MAX;
  if (value <= -9223372036854775808.0)
    return INT64_MIN;
  return static_cast<int64_t>(value);
}
} // namespace

/// The common pairs, in loops that vectorise. False for all others.
static bool castHalf(DType from, const void *source, DType to, void *destination, uint64_t count) {
  auto loop = [&](auto in, auto out, auto convert) {
    for (uint64_t i = 0; i < count; ++i)
      out[i] = convert(in[i]);
    return true;
  };
  const auto *half = static_cast<const uint16_t *>(source);
  const auto *wide = static_cast<const float *>(source);
  auto *halfOut = static_cast<uint16_t *>(destination);
  auto *wideOut = static_cast<float *>(destination);
  if (from == DType::bf16 && to == DType::f32)
    return loop(half, wideOut, [](uint16_t x) { return bf16ToFloat(x); });
  if (from == DType::f32 && to == DType::bf16)
    return loop(wide, halfOut, [](float x) { return floatToBf16(x); });
  if (from == DType::f16 && to == DType::f32)
    return loop(half, wideOut, [](uint16_t x) { return f16ToFloat(x); });
  if (from == DType::f32 && to == DType::f16)
    return loop(wide, halfOut, [](float x) { return floatToF16(x); });
  return false;
}

void gpucc::rt::castElements(DType from, const void *source, DType to, void *destination,
                             uint64_t count) {
  const auto *in = static_cast<const char *>(source);
  auto *out = static_cast<char *>(destination);
  if (count == 0)
    return;
  if (from == to) {
    std::memcpy(out, in, dtypeBytes(from, count));
    return;
  }
  if (castHalf(from, source, to, destination, count))
    return;
  unsigned inBytes = dtypeBits(from) / 8, outBytes = dtypeBits(to) / 8;
  if (dtypeIsFloat(from)) {
    for (uint64_t i = 0; i < count; ++i) {
      double value = load<double>(from, in + i * inBytes);
      if (dtypeIsFloat(to))
        store<double>(to, out + i * outBytes, value);
      else if (to == DType::i1)
        out[i] = value != 0;
      else
        store<int64_t>(to, out + i * outBytes, toInteger(value));
    }
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (from == DType::u64)
      store<uint64_t>(to, out + i * outBytes, load<uint64_t>(from, in + i * inBytes));
    else
      store<int64_t>(to, out + i * outBytes, load<int64_t>(from, in + i * inBytes));
  }
}
