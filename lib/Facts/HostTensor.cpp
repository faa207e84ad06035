//===- HostTensor.cpp - a dense tensor in host memory ---------------------===//
#include "gpucc/Facts/HostTensor.h"

#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace gpucc;

namespace {
int64_t product(const std::vector<int64_t> &shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

/// Layout of an IEEE-like format of at most 16 bits.
struct Format {
  int exponentBits, mantissaBits;
  bool hasInf; // f8E4M3 (fn) has no infinity: all ones is NaN
};
Format formatOf(DType type) {
  switch (type) {
  case DType::F16:
    return {5, 10, true};
  case DType::BF16:
    return {8, 7, true};
  case DType::F8E5M2:
    return {5, 2, true};
  default:
    assert(type == DType::F8E4M3 && "not a small float");
    return {4, 3, false};
  }
}

template <typename T> T load(const void *p, int64_t i) {
  T v;
  std::memcpy(&v, static_cast<const char *>(p) + i * sizeof(T), sizeof(T));
  return v;
}
template <typename T> void store(void *p, int64_t i, T v) {
  std::memcpy(static_cast<char *>(p) + i * sizeof(T), &v, sizeof(T));
}
} // namespace

double gpucc::decodeFloat(DType type, uint64_t bits) {
  Format f = formatOf(type);
  int bias = (1 << (f.exponentBits - 1)) - 1;
  uint64_t mantissa = bits & ((1u << f.mantissaBits) - 1);
  int exponent = static_cast<int>(bits >> f.mantissaBits) & ((1 << f.exponentBits) - 1);
  bool negative = bits >> (f.mantissaBits + f.exponentBits) & 1;
  int top = (1 << f.exponentBits) - 1;
  double v;
  if (exponent == top && f.hasInf)
    v = mantissa ? std::nan("") : HUGE_VAL;
  else if (exponent == top && mantissa == (1u << f.mantissaBits) - 1)
    v = std::nan("");
  else if (exponent == 0)
    v = std::ldexp(static_cast<double>(mantissa), 1 - bias - f.mantissaBits);
  else
    v = std::ldexp(static_cast<double>(mantissa | (1u << f.mantissaBits)),
                   exponent - bias - f.mantissaBits);
  return negative ? -v : v;
}

uint64_t gpucc::encodeFloat(DType type, double value) {
  Format f = formatOf(type);
  int bias = (1 << (f.exponentBits - 1)) - 1, top = (1 << f.exponentBits) - 1;
  uint64_t sign = static_cast<uint64_t>(std::signbit(value)) << (f.exponentBits + f.mantissaBits);
  uint64_t infinity = static_cast<uint64_t>(top) << f.mantissaBits;
  uint64_t nan = f.hasInf ? infinity | (1u << (f.mantissaBits - 1))
                          : infinity | ((1u << f.mantissaBits) - 1);
  if (std::isnan(value))
    return sign | nan;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | (f.hasInf ? infinity : nan);
  if (magnitude == 0)
    return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place; nearbyint rounds halves to even.
  double scaled = std::nearbyint(std::ldexp(magnitude, f.mantissaBits - exponent));
  auto mantissa = static_cast<uint64_t>(scaled);
  uint64_t hidden = 1u << f.mantissaBits;
  if (mantissa == hidden << 1) {
    mantissa = hidden;
    ++exponent;
  }
  uint64_t bits = mantissa < hidden
                      ? mantissa
                      : (static_cast<uint64_t>(exponent + bias) << f.mantissaBits) |
                            (mantissa - hidden);
  uint64_t largest = f.hasInf ? infinity - 1 : nan - 1;
  if (bits > largest)
    return sign | (f.hasInf ? infinity : nan);
  return sign | bits;
}

HostTensor::HostTensor(DType type, std::vector<int64_t> shape)
    : type(type), dims(std::move(shape)), count(product(dims)) {
  size_t size = static_cast<size_t>(std::max<int64_t>(byteSize(), 1));
  owner = std::shared_ptr<void>(std::calloc(1, size), std::free);
  data = owner.get();
}

HostTensor::HostTensor(DType type, std::vector<int64_t> shape, void *bytes,
                       std::shared_ptr<void> keepAlive)
    : type(type), dims(std::move(shape)), count(product(dims)), data(bytes),
      owner(std::move(keepAlive)) {}

HostTensor HostTensor::scalarFloat(DType type, double value) {
  HostTensor t(type, {});
  t.setFloat(0, value);
  return t;
}

HostTensor HostTensor::scalarInt(DType type, int64_t value) {
  HostTensor t(type, {});
  t.setInt(0, value);
  return t;
}

double HostTensor::getFloat(int64_t i) const {
  assert(i >= 0 && i < count && "index out of range");
  switch (type) {
  case DType::F64:
    return load<double>(data, i);
  case DType::F32:
    return load<float>(data, i);
  case DType::F16:
  case DType::BF16:
    return decodeFloat(type, load<uint16_t>(data, i));
  case DType::F8E4M3:
  case DType::F8E5M2:
    return decodeFloat(type, load<uint8_t>(data, i));
  case DType::U64:
    return static_cast<double>(load<uint64_t>(data, i));
  default:
    return static_cast<double>(getInt(i));
  }
}

void HostTensor::setFloat(int64_t i, double v) {
  assert(i >= 0 && i < count && "index out of range");
  switch (type) {
  case DType::F64:
    return store<double>(data, i, v);
  case DType::F32:
    return store<float>(data, i, static_cast<float>(v));
  case DType::F16:
  case DType::BF16:
    return store<uint16_t>(data, i, static_cast<uint16_t>(encodeFloat(type, v)));
  case DType::F8E4M3:
  case DType::F8E5M2:
    return store<uint8_t>(data, i, static_cast<uint8_t>(encodeFloat(type, v)));
  case DType::I1:
    return store<uint8_t>(data, i, v != 0);
  default:
    // Out-of-range conversions are undefined in C++: saturate, NaN becomes 0.
    if (std::isnan(v))
      return setInt(i, 0);
    if (v >= 9223372036854775808.0)
      return setInt(i, type == DType::U64 ? (v >= 18446744073709551616.0
                                                 ? -1
                                                 : static_cast<int64_t>(static_cast<uint64_t>(v)))
                                          : INT64_MAX);
    return setInt(i, v <= -9223372036854775808.0 ? INT64_MIN : static_cast<int64_t>(v));
  }
}

int64_t HostTensor::getInt(int64_t i) const {
  assert(i >= 0 && i < count && "index out of range");
  switch (type) {
  case DType::I64:
  case DType::U64:
    return load<int64_t>(data, i);
  case DType::I32:
    return load<int32_t>(data, i);
  case DType::I16:
    return load<int16_t>(data, i);
  case DType::I8:
    return load<int8_t>(data, i);
  case DType::U32:
    return load<uint32_t>(data, i);
  case DType::U16:
    return load<uint16_t>(data, i);
  case DType::U8:
  case DType::I1:
    return load<uint8_t>(data, i);
  case DType::I4: {
    int v = load<uint8_t>(data, i / 2) >> (i % 2 * 4) & 15;
    return v >= 8 ? v - 16 : v;
  }
  case DType::U4:
    return load<uint8_t>(data, i / 2) >> (i % 2 * 4) & 15;
  default:
    return static_cast<int64_t>(getFloat(i));
  }
}

void HostTensor::setInt(int64_t i, int64_t v) {
  assert(i >= 0 && i < count && "index out of range");
  switch (type) {
  case DType::I64:
  case DType::U64:
    return store<int64_t>(data, i, v);
  case DType::I32:
  case DType::U32:
    return store<uint32_t>(data, i, static_cast<uint32_t>(v));
  case DType::I16:
  case DType::U16:
    return store<uint16_t>(data, i, static_cast<uint16_t>(v));
  case DType::I8:
  case DType::U8:
    return store<uint8_t>(data, i, static_cast<uint8_t>(v));
  case DType::I1:
    return store<uint8_t>(data, i, v != 0);
  case DType::I4:
  case DType::U4: {
    auto byte = load<uint8_t>(data, i / 2);
    int shift = i % 2 * 4;
    byte = static_cast<uint8_t>((byte & ~(15 << shift)) | ((v & 15) << shift));
    return store<uint8_t>(data, i / 2, byte);
  }
  default:
    return setFloat(i, static_cast<double>(v));
  }
}

HostTensor HostTensor::clone() const {
  HostTensor t(type, dims);
  std::memcpy(t.data, data, static_cast<size_t>(byteSize()));
  return t;
}

HostTensor HostTensor::reshaped(std::vector<int64_t> shape) const {
  assert(product(shape) == count && "reshape keeps the number of elements");
  HostTensor t = *this;
  t.dims = std::move(shape);
  return t;
}

bool HostTensor::identical(const HostTensor &other) const {
  return type == other.type && dims == other.dims &&
         std::memcmp(data, other.data, static_cast<size_t>(byteSize())) == 0;
}

std::vector<int64_t> HostTensor::stridesOf(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}
