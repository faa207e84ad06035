//===- Reduce.cpp - Elementwise reduction of several arrays
//-------------------------------------===//
#include "comm/Reduce.h"

#include <algorithm>
#include <cstring>

using namespace gpucc::rt;

namespace {
/// How an element type is read, accumulated and written.
template <typename T> struct Plain {
  using Storage = T;
  using Sum = T;
  static Sum load(Storage x) { return x; }
  static Storage store(Sum x) { return x; }
};
struct Half {
  using Storage = uint16_t;
  using Sum = float;
  static Sum load(Storage x) { return f16ToFloat(x); }
  static Storage store(Sum x) { return floatToF16(x); }
};
struct Brain {
  using Storage = uint16_t;
  using Sum = float;
  static Sum load(Storage x) { return bf16ToFloat(x); }
  static Storage store(Sum x) { return floatToBf16(x); }
};
/// Booleans: sum is "or".
struct Bool {
  using Storage = uint8_t;
  using Sum = uint32_t;
  static Sum load(Storage x) { return x != 0; }
  static Storage store(Sum x) { return x != 0; }
};

/// Signed sums wrap, as on devices.
template <typename T> T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <typename Type>
void reduce(plan::ReduceKind kind, const std::vector<const char *> &inputs,
            const std::vector<char *> &outputs, uint64_t begin, uint64_t end) {
  using Storage = typename Type::Storage;
  using Sum = typename Type::Sum;
  constexpr uint64_t block = 512; // accumulators stay in the L1 cache
  Sum sums[block];
  for (uint64_t start = begin; start < end; start += block) {
    uint64_t n = std::min(block, end - start);
    for (size_t m = 0; m < inputs.size(); ++m) {
      const auto *in = reinterpret_cast<const Storage *>(inputs[m]) + start;
      for (uint64_t i = 0; i < n; ++i) {
        Sum x = Type::load(in[i]);
        if (m == 0)
          sums[i] = x;
        else if (kind == plan::ReduceKind::max)
          sums[i] = x > sums[i] || x != x ? x : sums[i];
        else if (kind == plan::ReduceKind::min)
          sums[i] = x < sums[i] || x != x ? x : sums[i];
        else
          sums[i] = add(sums[i], x);
      }
    }
    if (kind == plan::ReduceKind::mean)
      for (uint64_t i = 0; i < n; ++i)
        sums[i] = static_cast<Sum>(sums[i] / static_cast<Sum>(inputs.size()));
    for (char *output : outputs) {
      auto *out = reinterpret_cast<Storage *>(output) + start;
      for (uint64_t i = 0; i < n; ++i)
        out[i] = Type::store(sums[i]);
    }
  }
}
} // namespace

void gpucc::rt::reduceArrays(DType type, plan::ReduceKind kind,
                             const std::vector<const char *> &inputs,
                             const std::vector<char *> &outputs, uint64_t begin, uint64_t end) {
  switch (type) {
  case DType::f64:
    return reduce<Plain<double>>(kind, inputs, outputs, begin, end);
  case DType::f32:
    return reduce<Plain<float>>(kind, inputs, outputs, begin, end);
  case DType::f16:
    return reduce<Half>(kind, inputs, outputs, begin, end);
  case DType::bf16:
    return reduce<Brain>(kind, inputs, outputs, begin, end);
  case DType::i64:
    return reduce<Plain<int64_t>>(kind, inputs, outputs, begin, end);
  case DType::i32:
    return reduce<Plain<int32_t>>(kind, inputs, outputs, begin, end);
  case DType::i16:
    return reduce<Plain<int16_t>>(kind, inputs, outputs, begin, end);
  case DType::i8:
    return reduce<Plain<int8_t>>(kind, inputs, outputs, begin, end);
  case DType::u64:
    return reduce<Plain<uint64_t>>(kind, inputs, outputs, begin, end);
  case DType::u32:
    return reduce<Plain<uint32_t>>(kind, inputs, outputs, begin, end);
  case DType::u16:
    return reduce<Plain<uint16_t>>(kind, inputs, outputs, begin, end);
  case DType::u8:
    return reduce<Plain<uint8_t>>(kind, inputs, outputs, begin, end);
  case DType::i1:
    return reduce<Bool>(kind, inputs, outputs, begin, end);
  default:
    return; // refused by the verifier
  }
}
