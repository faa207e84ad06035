//===- Build.h - graph ops in one word each ---------------------*- C++ -*-===//
//
// Decompositions, derivatives and rewrites read like formulas:
//
//   GraphBuilder g(builder, loc);
//   Value e = g.exp(g.sub(x, g.broadcastOver(g.reduce(Max, x, {1}), x, {1})));
//
// Types follow from the operands. Ops that would change nothing (a reshape to
// the same shape, a convert to the same type) give back their operand.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_BUILD_H
#define GPUCC_GRAPH_BUILD_H

#include "dialects/Graph/Infer.h"

namespace gpucc::graph {

class GraphBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Ints = llvm::ArrayRef<int64_t>;

  GraphBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  // Leaves. A value is rounded into the element type.
  Value splat(mlir::RankedTensorType type, double value);
  /// A splat with the type of `x`.
  Value like(Value x, double value) { return splat(tensorOf(x), value); }
  Value scalarI64(int64_t value);
  Value iota(mlir::RankedTensorType type, int64_t dim);

  // Pointwise.
  Value unary(UnaryKind kind, Value x) { return UnaryOp::create(builder, loc, kind, x); }
  Value binary(BinaryKind kind, Value a, Value b) {
    return BinaryOp::create(builder, loc, kind, a, b);
  }
  Value neg(Value x) { return unary(UnaryKind::Neg, x); }
  Value exp(Value x) { return unary(UnaryKind::Exp, x); }
  Value log(Value x) { return unary(UnaryKind::Log, x); }
  Value rsqrt(Value x) { return unary(UnaryKind::Rsqrt, x); }
  Value tanh(Value x) { return unary(UnaryKind::Tanh, x); }
  Value erf(Value x) { return unary(UnaryKind::Erf, x); }
  Value logistic(Value x) { return unary(UnaryKind::Logistic, x); }
  Value add(Value a, Value b) { return binary(BinaryKind::Add, a, b); }
  Value sub(Value a, Value b) { return binary(BinaryKind::Sub, a, b); }
  Value mul(Value a, Value b) { return binary(BinaryKind::Mul, a, b); }
  Value div(Value a, Value b) { return binary(BinaryKind::Div, a, b); }
  Value mul(Value a, double b) { return mul(a, like(a, b)); }
  Value add(Value a, double b) { return add(a, like(a, b)); }
  Value compare(CompareKind kind, Value a, Value b) {
    return CompareOp::create(builder, loc, kind, a, b);
  }
  Value compare(CompareKind kind, Value a, double b) { return compare(kind, a, like(a, b)); }
  Value select(Value condition, Value a, Value b) {
    return SelectOp::create(builder, loc, condition, a, b);
  }
  Value convert(Value x, Type element);
  /// x in f32, or unchanged when its floats are that wide already.
  Value widen(Value x);

  // Reductions and contractions.
  Value reduce(ReductionKind kind, Value x, Ints dims);
  Value sum(Value x, Ints dims) { return reduce(ReductionKind::Sum, x, dims); }
  Value contract(Value lhs, Value rhs, Ints lhsBatch, Ints rhsBatch, Ints lhsContract,
                 Ints rhsContract, Type out = {});

  // Movement.
  Value reshape(Value x, Ints shape);
  Value transpose(Value x, Ints permutation);
  Value broadcast(Value x, Ints shape, Ints dims);
  /// A scalar to the shape of `like`.
  Value broadcastScalar(Value x, Ints shape) { return broadcast(x, shape, {}); }
  /// Puts back the dimensions `dims` that a reduction of `like` removed.
  Value broadcastOver(Value reduced, Value like, Ints dims);
  /// Elements [start, start + size) of one dimension.
  Value sliceDim(Value x, int64_t dim, int64_t start, int64_t size);
  Value slice(Value x, Ints start, Ints sizes, Ints strides, mlir::ValueRange offsets = {});
  Value padZero(Value x, Ints low, Ints high, Ints interior);
  Value concat(mlir::ValueRange inputs, int64_t dim) {
    return ConcatOp::create(builder, loc, inputs, dim);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// True when `v` is made by a constant (or a broadcast, convert or reshape of one) whose elements
/// are all 0.
bool isZero(mlir::Value v);

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_BUILD_H
