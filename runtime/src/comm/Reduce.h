//===- Reduce.h - Elementwise reduction of several arrays
//---------------------------------------===//
//
// Member order, so the result does not depend on who arrives when: out[i] = ((in0[i] + in1[i]) +
// in2[i]) + ... 16-bit floats accumulate in f32 and are rounded once.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_COMM_REDUCE_H
#define GPUCC_RT_COMM_REDUCE_H

#include "core/DType.h"

#include <vector>

namespace gpucc::rt {

/// Reduces elements [begin, end) of all inputs and writes them to [begin, end) of all outputs. An
/// output may be its own member's input.
void reduceArrays(DType type, plan::ReduceKind kind, const std::vector<const char *> &inputs,
                  const std::vector<char *> &outputs, uint64_t begin, uint64_t end);

} // namespace gpucc::rt

#endif // GPUCC_RT_COMM_REDUCE_H
