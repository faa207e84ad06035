//===- Facts.h - helpers for getFacts ---------------------------*- C++ -*-===//
//
//   memoryFacts(add of two tensor<4xf32>, 1) = 32 bytes read, 16 written, 4 alu flops
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_FACTS_H
#define GPUCC_GRAPH_FACTS_H

#include "dialects/Graph/Infer.h"
#include "gpucc/Facts/OpFacts.h"

namespace gpucc::graph {

/// Number of elements of a tensor value.
inline double elements(mlir::Value v) { return static_cast<double>(tensorOf(v).getNumElements()); }

/// Bytes of a tensor value.
inline double bytes(mlir::Value v) {
  mlir::RankedTensorType t = tensorOf(v);
  return static_cast<double>(byteSize(*toDType(t.getElementType()), t.getNumElements()));
}

/// Every operand read once, every result written once, `alu` operations per element of result 0.
inline OpFacts memoryFacts(mlir::Operation *op, double alu = 0) {
  OpFacts f;
  for (mlir::Value v : op->getOperands())
    f.bytesRead += bytes(v);
  for (mlir::Value v : op->getResults())
    f.bytesWritten += bytes(v);
  f.aluFlops = alu * elements(op->getResult(0));
  return f;
}

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_FACTS_H
