//===- Compare.h - are two arrays equal enough ------------------*- C++ -*-===//
//
// The error of an element y' against y is |y' - y| / max(|y|, floor * max|Y|):
// relative, but elements near zero are measured against the size of the tensor.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_GPUCC_COMPARE_H
#define GPUCC_TOOLS_GPUCC_COMPARE_H

#include "gpucc/Facts/HostTensor.h"
#include "gpucc_rt/Arrays.h"

namespace gpucc::tool {

struct Difference {
  double error = 0;   ///< greatest, infinity when shapes differ or NaN meets a number
  int64_t index = -1; ///< of the worst element (row-major)
  double found = 0, expected = 0;
  std::string problem; ///< not empty: shapes or types do not fit
};

Difference compare(const HostTensor &found, const HostTensor &expected, double floor = 1e-2);

/// The same bytes.
HostTensor toHostTensor(const gpucc_rt::Array &array);

/// Where the element with this row-major index stands in a tensor of this shape.
std::vector<int64_t> coordinates(int64_t index, const std::vector<int64_t> &shape);

/// "[1, 2, 0]": the index in a tensor of this shape.
std::string place(int64_t index, const std::vector<int64_t> &shape);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_COMPARE_H
