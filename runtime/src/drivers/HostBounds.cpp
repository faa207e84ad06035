//===- HostBounds.cpp - ReLU and clip in place, which keep NaN
//----------------------------------===//
#include "drivers/HostBounds.h"

#include "drivers/ParallelFor.h"

#include <algorithm>
#include <numeric>

using namespace gpucc::rt;

bool gpucc::rt::losesNaN(const plan::PostOp &op) {
  return op.kind() == plan::PostOpKind::clip ||
         (op.kind() == plan::PostOpKind::relu && op.alpha() == 0);
}

Bounds::Bounds(const plan::PostOp &op, DType dtype, const Extents &shape, const Extents &steps)
    : isRelu(op.kind() == plan::PostOpKind::relu), low(op.alpha()), high(op.beta()), dtype(dtype) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return steps[a] < steps[b]; });
  for (size_t d : order) {
    if (shape[d] == 1)
      continue;
    if (extents.empty() && steps[d] == run) {
      run *= shape[d];
      continue;
    }
    extents.push_back(shape[d]);
    strides.push_back(steps[d]);
    runs *= shape[d];
  }
}

int64_t Bounds::offsetOf(int64_t index) const {
  int64_t offset = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    offset += index % extents[d] * strides[d];
    index /= extents[d];
  }
  return offset;
}

// The widest vectors that the CPU has, chosen when the library is loaded; not under a sanitizer, which
// may not be ready by then.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define GPUCC_RT_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GPUCC_RT_WIDEST
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef GPUCC_RT_WIDEST
#define GPUCC_RT_WIDEST
#endif
#endif

// The comparisons are false for NaN, which therefore stays.
GPUCC_RT_WIDEST static void relu(float *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    values[i] = values[i] <= 0 ? 0 : values[i];
}

GPUCC_RT_WIDEST static void clip(float *values, int64_t count, float low, float high) {
  for (int64_t i = 0; i < count; ++i) {
    float raised = values[i] < low ? low : values[i];
    values[i] = high < raised ? high : raised;
  }
}

void Bounds::applyTo(float *values, int64_t count) const {
  if (isRelu)
    relu(values, count);
  else
    clip(values, count, low, high);
}

void Bounds::applyTo(char *data, int64_t count) const {
  if (dtype == DType::f32)
    return applyTo(reinterpret_cast<float *>(data), count);
  constexpr int64_t piece = 256;
  float wide[piece];
  for (int64_t i = 0; i < count; i += piece) {
    uint64_t n = std::min(piece, count - i);
    char *at = data + i * (dtypeBits(dtype) / 8);
    castElements(dtype, at, DType::f32, wide, n);
    applyTo(wide, n);
    castElements(DType::f32, wide, dtype, at, n);
  }
}

void Bounds::apply(char *data, int threads) const {
  constexpr int64_t grain = 16384;
  parallelFor(run * runs, grain, threads, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t inside = begin % run, count = std::min(run - inside, end - begin);
      applyTo(data + (offsetOf(begin / run) + inside) * (dtypeBits(dtype) / 8), count);
      begin += count;
    }
  });
}
