//===- Evaluate.h - helpers for evaluation on the CPU -----------*- C++ -*-===//
//
// Operands are decoded into plain buffers once (double for floats, int64_t for
// integers), loops run over those, and results are encoded once: that is what
// "computed in double, rounded once" means.
//
//   std::vector<double> x = toDoubles(operands[0]);
//   for (double &v : x) v = std::exp(v);
//   fromDoubles(x, results[0]);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_EVALUATE_H
#define GPUCC_GRAPH_EVALUATE_H

#include "dialects/Graph/EvaluateKernels.h"
#include "dialects/Graph/Infer.h"

#include <cmath>
#include <vector>

namespace gpucc::graph {

std::vector<double> toDoubles(const HostTensor &t);
/// Rounds to nearest even into `t`, which has as many elements.
void fromDoubles(const std::vector<double> &values, HostTensor &t);
std::vector<int64_t> toInts(const HostTensor &t);
/// Wraps into the width of `t`.
void fromInts(const std::vector<int64_t> &values, HostTensor &t);

/// Copies an N-dimensional block of elements of equal type between strided places; strides and
/// offsets count elements, strides may be 0 or negative.
void copyStrided(const HostTensor &from, int64_t fromOffset, llvm::ArrayRef<int64_t> fromStrides,
                 HostTensor &to, int64_t toOffset, llvm::ArrayRef<int64_t> toStrides,
                 llvm::ArrayRef<int64_t> shape);
/// Copies `count` consecutive elements.
void copyElements(const HostTensor &from, int64_t fromOffset, HostTensor &to, int64_t toOffset,
                  int64_t count);

/// A tensor seen as [outer, n, inner] around one dimension.
struct Around {
  int64_t outer = 1, n = 1, inner = 1;
  Around(llvm::ArrayRef<int64_t> shape, int64_t dim) : n(shape[dim]) {
    for (auto [d, size] : llvm::enumerate(shape))
      (static_cast<int64_t>(d) < dim ? outer : static_cast<int64_t>(d) > dim ? inner : one) *= size;
  }

private:
  int64_t one = 1;
};

/// NaN if either is; -0 is less than +0.
inline double maxNan(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
inline double minNan(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
/// The least value of a type as its combiner's start: -inf or the least integer.
int64_t leastInt(DType type);
int64_t greatestInt(DType type);

/// Folds one element into an accumulator.
double combineFloat(ReductionKind kind, double a, double b);
int64_t combineInt(ReductionKind kind, DType type, int64_t a, int64_t b);
/// What a reduction of nothing gives.
double identityFloat(ReductionKind kind);
int64_t identityInt(ReductionKind kind, DType type);

/// Philox4x32-10 (Salmon et al., SC 2011): word `index % 4` of counter (index / 4, step) under key
/// (seed, ordinal), as graph.rng_uniform uses it.
uint32_t philox(uint32_t seed, uint32_t ordinal, uint64_t step, uint64_t index);

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_EVALUATE_H
