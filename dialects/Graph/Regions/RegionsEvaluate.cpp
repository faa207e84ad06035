//===- RegionsEvaluate.cpp - clusters on the CPU, and what they cost ------===//
#include "dialects/Graph/Decomposition.h"
#include "dialects/Graph/Facts.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

/// The body op by op: a cluster means what its ops mean.
LogicalResult ClusterOp::evaluate(ArrayRef<HostTensor> operands,
                                  MutableArrayRef<HostTensor> results) {
  DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] : llvm::zip_equal(getBody().getArguments(), operands))
    values[argument] = tensor;
  if (failed(evaluateBlock(getBody().front(), values)))
    return failure();
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  for (auto [value, result] : llvm::zip_equal(yield.getValues(), results))
    result = values.lookup(value);
  return success();
}

/// Work of the ops inside; only what enters and leaves the cluster touches memory.
OpFacts ClusterOp::getFacts() {
  OpFacts f;
  for (Value v : getInputs())
    f.bytesRead += bytes(v);
  for (Value v : getOutputs())
    f.bytesWritten += bytes(v);
  for (Operation &op : getBody().front().without_terminator()) {
    OpFacts inner = cast<CostOpInterface>(op).getFacts();
    f.matrixFlops += inner.matrixFlops;
    f.aluFlops += inner.aluFlops;
    f.specialFlops += inner.specialFlops;
    if (inner.matrixFlops > 0 && f.m == 0) {
      f.m = inner.m, f.n = inner.n, f.k = inner.k, f.batch = inner.batch;
      f.matrixType = inner.matrixType;
    }
  }
  return f;
}
