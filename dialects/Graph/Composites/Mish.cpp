//===- Mish.cpp - x * tanh(log(1 + exp(x))) -------------------------------===//
//
// An op in one file, as docs/adding-an-op.md explains. tanh(log(1 + w)) is n / (n + 2) with n = w(w
// + 2); w is cut at exp(20), where the fraction is 1 to the last bit of f64, so that no exp
// overflows and no derivative is NaN.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Decomposition.h"
#include "dialects/Graph/Rules.h"
#include "dialects/Graph/Scalar.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

LogicalResult MishOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<Value> MishOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Value x = g.widen(operands[0]);
  Value w = g.exp(g.binary(BinaryKind::Min, x, g.like(x, 20)));
  Value n = g.mul(w, g.add(w, 2.0));
  return {g.convert(g.mul(x, g.div(n, g.add(n, 2.0))), tensorOf(operands[0]).getElementType())};
}

/// The same for one element, as the code of both targets has it.
SmallVector<Value> MishOp::buildScalarBody(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s(builder, loc);
  Value x = s.widen(args[0]), two = s.constant(x.getType(), 2), top = s.constant(x.getType(), 20);
  Value w = s.unary(UnaryKind::Exp, s.binary(BinaryKind::Min, x, top, false), false);
  Value n = s.mul(w, s.add(w, two));
  return {s.narrow(s.mul(x, s.divFloat(n, s.add(n, two))), args[0].getType())};
}

// The rest follows; say more only where you know better.
ShardingRule MishOp::getShardingRule() { return pointwiseRule(*this); }
OpFacts MishOp::getFacts() { return factsByDecomposition(*this); }
LogicalResult MishOp::evaluate(ArrayRef<HostTensor> in, MutableArrayRef<HostTensor> out) {
  return evaluateByDecomposition(*this, in, out);
}
LogicalResult MishOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  return vjpByDecomposition(*this, builder, resultGrads, needed, operandGrads);
}
