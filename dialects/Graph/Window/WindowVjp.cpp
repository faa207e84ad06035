//===- WindowVjp.cpp - derivatives of pooling -----------------------------===//
//
//   pool max x  ->  pool_grad max x, g;   pool_grad avg g  ->  pool avg
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc::graph;

LogicalResult PoolOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] = PoolGradOp::create(builder, getLoc(), getKind(), getX(), resultGrads[0],
                                         getWindow(), getStrides(), getPadsLow(), getPadsHigh(),
                                         getExtraHigh(), getDilations(), getCountIncludePad());
  return success();
}

/// The gradient of a pool does not depend on x (almost everywhere) and is linear in `grad`: for an
/// average its adjoint is the average itself.
LogicalResult PoolGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[1] || !resultGrads[0])
    return success();
  if (getKind() == PoolKind::Max) {
    InFlightDiagnostic d = emitOpError("of max cannot be differentiated again: its adjoint picks "
                                       "the gradient at each window's greatest element, which no "
                                       "op of graph expresses");
    d.attachNote(getLoc()) << "second derivatives through max pooling are not supported; avg is";
    return d;
  }
  operandGrads[1] = PoolOp::create(builder, getLoc(), getKind(), resultGrads[0], getWindow(),
                                   getStrides(), getPadsLow(), getPadsHigh(), getExtraHigh(),
                                   getDilations(), getCountIncludePad());
  return success();
}
