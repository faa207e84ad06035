//===- EvaluateKernels.cpp - the evaluator's inner loops ------------------===//
//
// The only loops of the evaluator that take noticeable time; this file is
// compiled with full optimization (CMakeLists.txt) also where the rest is not,
// and therefore includes nothing of MLIR.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/EvaluateKernels.h"

#include <algorithm>

template <typename T>
static void multiplyAddTyped(const T *__restrict a, const T *__restrict b, T *__restrict c,
                             int64_t m, int64_t n, int64_t k) {
  // Blocks of k and n keep the rows of b in the cache.
  constexpr int64_t blockK = 64, blockN = 512;
  for (int64_t n0 = 0; n0 < n; n0 += blockN)
    for (int64_t k0 = 0; k0 < k; k0 += blockK)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t p = k0; p < std::min(k, k0 + blockK); ++p) {
          T factor = a[i * k + p];
          const T *row = b + p * n;
          T *out = c + i * n;
          for (int64_t j = n0; j < std::min(n, n0 + blockN); ++j)
            out[j] += factor * row[j];
        }
}

void gpucc::graph::multiplyAdd(const double *a, const double *b, double *c, int64_t m, int64_t n,
                               int64_t k) {
  multiplyAddTyped(a, b, c, m, n, k);
}

// Wraps: integers are multiplied and added as unsigned ones.
void gpucc::graph::multiplyAdd(const int64_t *a, const int64_t *b, int64_t *c, int64_t m, int64_t n,
                               int64_t k) {
  multiplyAddTyped(reinterpret_cast<const uint64_t *>(a), reinterpret_cast<const uint64_t *>(b),
                   reinterpret_cast<uint64_t *>(c), m, n, k);
}
