//===- Reduce.h - Reductions of the fake NCCL --------------------*- C++ -*-===//
//
// Elements of all ranks are combined in rank order, floats of 16 bits in float with one rounding at
// the end:  reduce({a, b, c}, ...)[i] = round((a[i] + b[i]) + c[i]).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_FAKENCCL_REDUCE_H
#define GPUCC_RT_EMULATION_FAKENCCL_REDUCE_H

#include <cstddef>
#include <vector>

namespace gpucc::rt::nccl {

/// Bytes of an element of a DataType; 0 for an unknown one.
size_t elementBytes(int type);

/// `count` elements that start `offset` bytes into each input.
std::vector<char> reduce(const std::vector<const char *> &inputs, size_t offset, size_t count,
                         int type, int op);

} // namespace gpucc::rt::nccl

#endif
