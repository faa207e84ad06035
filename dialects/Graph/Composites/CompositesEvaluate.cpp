//===- CompositesEvaluate.cpp - composites on the CPU ---------------------===//
//
// By their decompositions, in f64, rounded once (Decomposition.h).
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Decomposition.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

#define GPUCC_EVALUATE_BY_DECOMPOSITION(Op)                                                        \
  LogicalResult Op::evaluate(ArrayRef<HostTensor> operands, MutableArrayRef<HostTensor> results) { \
    return evaluateByDecomposition(*this, operands, results);                                      \
  }
GPUCC_EVALUATE_BY_DECOMPOSITION(SoftmaxOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(LayerNormOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(RmsNormOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(BatchNormOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(GeluOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(SiluOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(AttentionOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(RopeOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(CrossEntropyOp)
GPUCC_EVALUATE_BY_DECOMPOSITION(DropoutOp)
#undef GPUCC_EVALUATE_BY_DECOMPOSITION
