//===- Reduce.cpp - Reductions of the fake NCCL ---------------------------===//

#include "Reduce.h"
#include "comm/NcclApi.h"

#include <cstdint>
#include <cstring>

using namespace gpucc::rt;
using namespace gpucc::rt::nccl;

size_t nccl::elementBytes(int type) {
  switch (type) {
  case int8:
  case uint8:
    return 1;
  case float16:
  case bfloat16:
    return 2;
  case int32:
  case uint32:
  case float32:
    return 4;
  case int64:
  case uint64:
  case float64:
    return 8;
  default:
    return 0;
  }
}

namespace {
template <class T> T combine(T a, T b, int op) {
  switch (op) {
  case product:
    return static_cast<T>(a * b);
  case maximum:
    return b > a ? b : a;
  case minimum:
    return b < a ? b : a;
  default:
    return static_cast<T>(a + b);
  }
}

/// T: how elements are stored; A: how they are combined.
template <class T, class A, class Load, class Store>
void reduceAs(const std::vector<const char *> &inputs, size_t offset, size_t count, int op,
              char *out, Load load, Store store) {
  for (size_t i = 0; i < count; ++i) {
    T element;
    memcpy(&element, inputs[0] + offset + i * sizeof(T), sizeof(T));
    A total = load(element);
    for (size_t r = 1; r < inputs.size(); ++r) {
      memcpy(&element, inputs[r] + offset + i * sizeof(T), sizeof(T));
      total = combine<A>(total, load(element), op);
    }
    if (op == average)
      total = static_cast<A>(total / static_cast<A>(inputs.size()));
    element = store(total);
    memcpy(out + i * sizeof(T), &element, sizeof(T));
  }
}
template <class T>
void reducePlain(const std::vector<const char *> &inputs, size_t offset, size_t count, int op,
                 char *out) {
  auto same = [](T x) { return x; };
  reduceAs<T, T>(inputs, offset, count, op, out, same, same);
}

float fromBf16(uint16_t x) {
  const uint32_t bits = uint32_t(x) << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
uint16_t toBf16(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  if (f != f)
    return 0x7fff;
  return static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
} // namespace

std::vector<char> nccl::reduce(const std::vector<const char *> &inputs, size_t offset, size_t count,
                               int type, int op) {
  std::vector<char> out(count * elementBytes(type));
  switch (type) {
  case int8:
    reducePlain<int8_t>(inputs, offset, count, op, out.data());
    break;
  case uint8:
    reducePlain<uint8_t>(inputs, offset, count, op, out.data());
    break;
  case int32:
    reducePlain<int32_t>(inputs, offset, count, op, out.data());
    break;
  case uint32:
    reducePlain<uint32_t>(inputs, offset, count, op, out.data());
    break;
  case int64:
    reducePlain<int64_t>(inputs, offset, count, op, out.data());
    break;
  case uint64:
    reducePlain<uint64_t>(inputs, offset, count, op, out.data());
    break;
  case float32:
    reducePlain<float>(inputs, offset, count, op, out.data());
    break;
  case float64:
    reducePlain<double>(inputs, offset, count, op, out.data());
    break;
  case bfloat16:
    reduceAs<uint16_t, float>(inputs, offset, count, op, out.data(), fromBf16, toBf16);
    break;
  case float16:
    reduceAs<uint16_t, float>(
        inputs, offset, count, op, out.data(),
        [](uint16_t x) {
          _Float16 h;
          memcpy(&h, &x, 2);
          return static_cast<float>(h);
        },
        [](float f) {
          const auto h = static_cast<_Float16>(f);
          uint16_t x;
          memcpy(&x, &h, 2);
          return x;
        });
    break;
  }
  return out;
}
