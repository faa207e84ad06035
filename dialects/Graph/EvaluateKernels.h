//===- EvaluateKernels.h - the evaluator's inner loops ----------*- C++ -*-===//
//
// c[m,n] += a[m,k] · b[k,n], row-major; each element is summed over k in
// ascending order. Integers wrap.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_EVALUATEKERNELS_H
#define GPUCC_GRAPH_EVALUATEKERNELS_H

#include <cstdint>

namespace gpucc::graph {
void multiplyAdd(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k);
void multiplyAdd(const int64_t *a, const int64_t *b, int64_t *c, int64_t m, int64_t n, int64_t k);
} // namespace gpucc::graph

#endif // GPUCC_GRAPH_EVALUATEKERNELS_H
