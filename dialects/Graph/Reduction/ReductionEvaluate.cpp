//===- ReductionEvaluate.cpp - reductions on the CPU ----------------------===//
//
// Elements are combined in row-major order in double (or 64-bit integers) and
// rounded once, so a sum of 3000 ones in f16 is 3000.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Evaluate.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

/// Folds every element of x into the element of y that its kept dimensions name.
template <typename T, typename Combine>
static void reduceInto(const std::vector<T> &x, std::vector<T> &y, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> reduced, Combine combine) {
  size_t rank = shape.size();
  SmallVector<int64_t> strides(rank, 0), index(rank, 0);
  int64_t stride = 1, at = 0;
  for (size_t d = rank; d-- > 0;)
    if (!llvm::is_contained(reduced, static_cast<int64_t>(d))) {
      strides[d] = stride;
      stride *= shape[d];
    }
  for (const T &v : x) {
    y[at] = combine(y[at], v);
    for (size_t d = rank; d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d])
        break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

LogicalResult ReduceOp::evaluate(ArrayRef<HostTensor> operands,
                                 MutableArrayRef<HostTensor> results) {
  const HostTensor &x = operands[0];
  HostTensor &y = results[0];
  ReductionKind kind = getKind();
  if (isFloat(x.dtype())) {
    // A sum begins with -0, which changes no summand; that of nothing is 0.
    bool ofNothing = kind == ReductionKind::Sum && x.numElements() == 0;
    std::vector<double> out(y.numElements(), ofNothing ? 0.0 : identityFloat(kind));
    reduceInto(toDoubles(x), out, x.shape(), getDims(),
               [kind](double a, double b) { return combineFloat(kind, a, b); });
    fromDoubles(out, y);
    return success();
  }
  std::vector<int64_t> out(y.numElements(), identityInt(kind, x.dtype()));
  reduceInto(toInts(x), out, x.shape(), getDims(),
             [&](int64_t a, int64_t b) { return combineInt(kind, x.dtype(), a, b); });
  fromInts(out, y);
  return success();
}

/// Index of the element that wins row (o, i).
template <typename T, typename Better, typename IsNan>
static int64_t winner(const std::vector<T> &x, const Around &a, int64_t o, int64_t i, bool last,
                      Better better, IsNan isNan) {
  int64_t best = 0;
  for (int64_t j = 0; j < a.n; ++j) {
    T v = x[(o * a.n + j) * a.inner + i], top = x[(o * a.n + best) * a.inner + i];
    if (isNan(top) && !(last && isNan(v)))
      continue; // the first NaN wins, or the last
    if (isNan(v) || better(v, top) || (last && v == top))
      best = j;
  }
  return best;
}

LogicalResult ArgReduceOp::evaluate(ArrayRef<HostTensor> operands,
                                    MutableArrayRef<HostTensor> results) {
  const HostTensor &x = operands[0];
  Around a(x.shape(), getDim());
  bool greatest = getKind() == ReductionKind::Max, last = getSelectLast();
  auto fill = [&](const auto &values, auto better, auto isNan) {
    for (int64_t o = 0; o < a.outer; ++o)
      for (int64_t i = 0; i < a.inner; ++i)
        results[0].setInt(o * a.inner + i, winner(values, a, o, i, last, better, isNan));
  };
  if (isFloat(x.dtype())) {
    fill(
        toDoubles(x), [=](double v, double top) { return greatest ? v > top : v < top; },
        [](double v) { return std::isnan(v); });
    return success();
  }
  bool plain = isUnsigned(x.dtype());
  fill(
      toInts(x),
      [=](int64_t v, int64_t top) {
        bool less = plain ? static_cast<uint64_t>(v) < static_cast<uint64_t>(top) : v < top;
        return greatest ? !less && v != top : less;
      },
      [](int64_t) { return false; });
  return success();
}

/// Running combination along one dimension; `exclusive` yields what came before.
template <typename T, typename Combine>
static std::vector<T> scanAlong(const std::vector<T> &x, const Around &a, T identity,
                                bool exclusive, bool reverse, Combine combine) {
  std::vector<T> y(x.size());
  for (int64_t o = 0; o < a.outer; ++o)
    for (int64_t i = 0; i < a.inner; ++i) {
      T sum = identity;
      for (int64_t j = 0; j < a.n; ++j) {
        int64_t at = (o * a.n + (reverse ? a.n - 1 - j : j)) * a.inner + i;
        T next = combine(sum, x[at]);
        y[at] = exclusive ? sum : next;
        sum = next;
      }
    }
  return y;
}

LogicalResult ScanOp::evaluate(ArrayRef<HostTensor> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = operands[0];
  Around a(x.shape(), getDim());
  ReductionKind kind = getKind();
  if (isFloat(x.dtype())) {
    // An exclusive sum starts at +0.
    double identity = kind == ReductionKind::Sum ? 0.0 : identityFloat(kind);
    fromDoubles(scanAlong(toDoubles(x), a, identity, getExclusive(), getReverse(),
                          [kind](double p, double v) { return combineFloat(kind, p, v); }),
                results[0]);
    return success();
  }
  fromInts(scanAlong(toInts(x), a, identityInt(kind, x.dtype()), getExclusive(), getReverse(),
                     [&](int64_t p, int64_t v) { return combineInt(kind, x.dtype(), p, v); }),
           results[0]);
  return success();
}
