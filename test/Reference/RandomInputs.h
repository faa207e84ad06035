//===- RandomInputs.h - inputs and comparison for random programs ---------*- C++ -*-===//
//
//   auto arguments = randomArguments(function, seed);
//   sprinkle(arguments, seed);                       // NaN, infinities, zeros of both signs
//   EXPECT_EQ(difference(expected, found), "") << "seed " << seed;
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_REFERENCE_RANDOMINPUTS_H
#define GPUCC_TEST_REFERENCE_RANDOMINPUTS_H

#include "gpucc/Facts/HostTensor.h"
#include "llvm/ADT/SmallVector.h"

#include <cmath>
#include <string>

namespace gpucc::test {

/// Some elements become NaN, an infinity or a zero.
inline void sprinkle(llvm::SmallVectorImpl<HostTensor> &arguments, uint64_t seed) {
  const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
  uint64_t state = seed * 2654435761u + 1;
  for (HostTensor &tensor : arguments) {
    if (!isFloat(tensor.dtype()))
      continue;
    tensor = tensor.clone();
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if ((state >> 33) % 7 == 0)
        tensor.setFloat(i, special[(state >> 40) % 5]);
    }
  }
}

/// Integers exactly, floats relative to the largest element: a pass may round elsewhere (a mean
/// as a product with 1/n, statistics of a raised norm). "" when they are equal.
inline std::string difference(const HostTensor &a, const HostTensor &b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return "another type";
  double largest = 1e-3;
  for (int64_t i = 0; i < a.numElements(); ++i)
    if (double v = std::fabs(a.getFloat(i)); std::isfinite(v))
      largest = std::max(largest, v);
  for (int64_t i = 0; i < a.numElements(); ++i) {
    double x = a.getFloat(i), y = b.getFloat(i);
    bool same = isFloat(a.dtype()) ? x == y || (std::isnan(x) && std::isnan(y)) ||
                                         std::fabs(x - y) <= 1e-4 * largest
                                   : a.getInt(i) == b.getInt(i);
    if (!same)
      return "element " + std::to_string(i) + ": " + std::to_string(x) + " and " +
             std::to_string(y);
  }
  return "";
}

} // namespace gpucc::test

#endif // GPUCC_TEST_REFERENCE_RANDOMINPUTS_H
