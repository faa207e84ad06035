//===- LeavesVjp.cpp - derivatives of leaves ------------------------------===//
//
// Leaves have no operand that a float flows in from: nothing to pass on.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc::graph;

#define GPUCC_NO_GRADIENT(Op)                                                                      \
  LogicalResult Op::buildVjp(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,                         \
                             MutableArrayRef<Value>) {                                             \
    return success();                                                                              \
  }
GPUCC_NO_GRADIENT(ConstantOp)
GPUCC_NO_GRADIENT(WeightOp)
GPUCC_NO_GRADIENT(IotaOp)
GPUCC_NO_GRADIENT(RngUniformOp)
#undef GPUCC_NO_GRADIENT
