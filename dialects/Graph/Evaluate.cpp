//===- Evaluate.cpp - helpers for evaluation on the CPU -------------------===//
#include "dialects/Graph/Evaluate.h"

#include <cstring>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

std::vector<double> gpucc::graph::toDoubles(const HostTensor &t) {
  int64_t n = t.numElements();
  std::vector<double> values(n);
  if (t.dtype() == DType::F64) {
    std::memcpy(values.data(), t.bytes(), n * sizeof(double));
  } else if (t.dtype() == DType::F32) {
    auto *p = static_cast<const float *>(t.bytes());
    std::copy(p, p + n, values.begin());
  } else {
    for (int64_t i = 0; i < n; ++i)
      values[i] = t.getFloat(i);
  }
  return values;
}

void gpucc::graph::fromDoubles(const std::vector<double> &values, HostTensor &t) {
  int64_t n = t.numElements();
  if (t.dtype() == DType::F64) {
    std::memcpy(t.bytes(), values.data(), n * sizeof(double));
  } else if (t.dtype() == DType::F32) {
    auto *p = static_cast<float *>(t.bytes());
    for (int64_t i = 0; i < n; ++i)
      p[i] = static_cast<float>(values[i]);
  } else {
    for (int64_t i = 0; i < n; ++i)
      t.setFloat(i, values[i]);
  }
}

std::vector<int64_t> gpucc::graph::toInts(const HostTensor &t) {
  std::vector<int64_t> values(t.numElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = t.getInt(i);
  return values;
}

void gpucc::graph::fromInts(const std::vector<int64_t> &values, HostTensor &t) {
  for (size_t i = 0; i < values.size(); ++i)
    t.setInt(i, values[i]);
}

namespace {
/// Calls visit(fromIndex, toIndex) for the start of each innermost row.
template <typename Visit>
void forEachRow(ArrayRef<int64_t> shape, int64_t from, ArrayRef<int64_t> fromStrides, int64_t to,
                ArrayRef<int64_t> toStrides, Visit visit) {
  if (shape.size() <= 1)
    return visit(from, to);
  for (int64_t i = 0; i < shape[0]; ++i)
    forEachRow(shape.drop_front(), from + i * fromStrides[0], fromStrides.drop_front(),
               to + i * toStrides[0], toStrides.drop_front(), visit);
}

template <typename T>
void copyTyped(const HostTensor &from, int64_t fromOffset, ArrayRef<int64_t> fromStrides,
               HostTensor &to, int64_t toOffset, ArrayRef<int64_t> toStrides,
               ArrayRef<int64_t> shape) {
  auto *source = static_cast<const T *>(from.bytes());
  auto *target = static_cast<T *>(to.bytes());
  int64_t n = shape.empty() ? 1 : shape.back();
  int64_t a = shape.empty() ? 0 : fromStrides.back(), b = shape.empty() ? 0 : toStrides.back();
  forEachRow(shape, fromOffset, fromStrides, toOffset, toStrides, [&](int64_t i, int64_t j) {
    for (int64_t k = 0; k < n; ++k)
      target[j + k * b] = source[i + k * a];
  });
}
} // namespace

void gpucc::graph::copyStrided(const HostTensor &from, int64_t fromOffset,
                               ArrayRef<int64_t> fromStrides, HostTensor &to, int64_t toOffset,
                               ArrayRef<int64_t> toStrides, ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return;
  switch (bitWidth(from.dtype())) {
  case 64:
    return copyTyped<uint64_t>(from, fromOffset, fromStrides, to, toOffset, toStrides, shape);
  case 32:
    return copyTyped<uint32_t>(from, fromOffset, fromStrides, to, toOffset, toStrides, shape);
  case 16:
    return copyTyped<uint16_t>(from, fromOffset, fromStrides, to, toOffset, toStrides, shape);
  case 8:
    return copyTyped<uint8_t>(from, fromOffset, fromStrides, to, toOffset, toStrides, shape);
  default: // packed nibbles
    int64_t n = shape.empty() ? 1 : shape.back();
    forEachRow(shape, fromOffset, fromStrides, toOffset, toStrides, [&](int64_t i, int64_t j) {
      for (int64_t k = 0; k < n; ++k)
        to.setInt(j + k * (shape.empty() ? 0 : toStrides.back()),
                  from.getInt(i + k * (shape.empty() ? 0 : fromStrides.back())));
    });
  }
}

void gpucc::graph::copyElements(const HostTensor &from, int64_t fromOffset, HostTensor &to,
                                int64_t toOffset, int64_t count) {
  copyStrided(from, fromOffset, {1}, to, toOffset, {1}, {count});
}

int64_t gpucc::graph::leastInt(DType type) {
  if (isUnsigned(type) || type == DType::I1)
    return 0;
  return static_cast<int64_t>(~uint64_t(0) << (bitWidth(type) - 1));
}

int64_t gpucc::graph::greatestInt(DType type) {
  if (type == DType::I1)
    return 1;
  if (isUnsigned(type))
    return static_cast<int64_t>(~uint64_t(0) >> (64 - bitWidth(type)));
  return ~leastInt(type);
}

double gpucc::graph::combineFloat(ReductionKind kind, double a, double b) {
  switch (kind) {
  case ReductionKind::Sum:
    return a + b;
  case ReductionKind::Prod:
    return a * b;
  case ReductionKind::Max:
    return maxNan(a, b);
  case ReductionKind::Min:
    return minNan(a, b);
  default:
    llvm_unreachable("the verifier admits no such kind for floats");
  }
}

int64_t gpucc::graph::combineInt(ReductionKind kind, DType type, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  bool less = isUnsigned(type) ? ua < ub : a < b;
  switch (kind) {
  case ReductionKind::Sum:
    return static_cast<int64_t>(ua + ub);
  case ReductionKind::Prod:
    return static_cast<int64_t>(ua * ub);
  case ReductionKind::Max:
    return less ? b : a;
  case ReductionKind::Min:
    return less ? a : b;
  case ReductionKind::And:
    return a & b;
  case ReductionKind::Or:
    return a | b;
  }
  llvm_unreachable("all kinds are listed");
}

double gpucc::graph::identityFloat(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
    return -0.0;
  case ReductionKind::Prod:
    return 1;
  default:
    return kind == ReductionKind::Max ? -HUGE_VAL : HUGE_VAL;
  }
}

int64_t gpucc::graph::identityInt(ReductionKind kind, DType type) {
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
    return 0;
  case ReductionKind::Prod:
    return 1;
  case ReductionKind::Max:
    return leastInt(type);
  case ReductionKind::Min:
    return greatestInt(type);
  case ReductionKind::And:
    return -1;
  }
  llvm_unreachable("all kinds are listed");
}

uint32_t gpucc::graph::philox(uint32_t seed, uint32_t ordinal, uint64_t step, uint64_t index) {
  uint64_t block = index / 4;
  uint32_t c[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                   static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)};
  uint32_t k0 = seed, k1 = ordinal;
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * c[0], p1 = uint64_t(0xCD9E8D57) * c[2];
    uint32_t next[4] = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
                        static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    std::copy(next, next + 4, c);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c[index % 4];
}
