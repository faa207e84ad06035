//===- LeavesEvaluate.cpp - leaves on the CPU -----------------------------===//
//
//   rng_uniform with offsets (4, 0) is the lower block of the same numbers that the
//   whole tensor has: element (i, j) is drawn at global index (i + 4, j)
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Evaluate.h"

#include <cstring>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

LogicalResult ConstantOp::evaluate(ArrayRef<HostTensor>, MutableArrayRef<HostTensor> results) {
  std::optional<HostTensor> value = toHostTensor(getValue());
  if (!value)
    return emitOpError("cannot be evaluated: its value is neither dense nor a dense resource that "
                       "is loaded");
  std::memcpy(results[0].bytes(), value->bytes(), value->byteSize());
  return success();
}

LogicalResult WeightOp::evaluate(ArrayRef<HostTensor>, MutableArrayRef<HostTensor>) {
  InFlightDiagnostic d = emitOpError("has no value of its own: its bytes lie in a file");
  d.attachNote(getLoc()) << "evaluate the function with a WeightSource "
                            "(gpucc/Reference/Evaluator.h); folding leaves weights alone";
  return d;
}

LogicalResult IotaOp::evaluate(ArrayRef<HostTensor> operands, MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  Around a(y.shape(), getDim());
  int64_t start = operands.empty() ? 0 : operands[0].getInt(0);
  for (int64_t i = 0, n = y.numElements(); i < n; ++i) {
    int64_t value = start + i / a.inner % a.n;
    isFloat(y.dtype()) ? y.setFloat(i, static_cast<double>(value)) : y.setInt(i, value);
  }
  return success();
}

LogicalResult RngUniformOp::evaluate(ArrayRef<HostTensor> operands,
                                     MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  auto step = static_cast<uint64_t>(operands[0].getInt(0));
  ArrayRef<int64_t> global = getGlobalShape();
  size_t rank = global.size();
  SmallVector<int64_t> index(rank, 0);
  for (int64_t i = 0, n = y.numElements(); i < n; ++i) {
    uint64_t linear = 0;
    for (size_t d = 0; d < rank; ++d)
      linear = linear * global[d] + index[d] + operands[d + 1].getInt(0);
    uint32_t word =
        philox(static_cast<uint32_t>(getSeed()), static_cast<uint32_t>(getOrdinal()), step, linear);
    y.setFloat(i, std::ldexp(static_cast<double>(word >> 8), -24));
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < y.shape()[d])
        break;
      index[d] = 0;
    }
  }
  return success();
}
