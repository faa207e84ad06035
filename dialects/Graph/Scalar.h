//===- Scalar.h - scalar expressions in arith and math ----------*- C++ -*-===//
//
// Bodies of pointwise ops as code generation takes them. Floats narrower than
// 32 bits are widened to f32 and rounded once at the end, so that an op rounds
// as the evaluator does: once.
//
//   ScalarBuilder s(builder, loc);
//   Value x = s.widen(arg);
//   return s.narrow(s.mul(x, s.logistic(x)), arg.getType());      // silu
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_SCALAR_H
#define GPUCC_GRAPH_SCALAR_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gpucc::graph {

class ScalarBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;

  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  static bool isFloat(Value v) { return llvm::isa<mlir::FloatType>(v.getType()); }
  Value constant(Type type, double value);
  Value constantInt(Type type, int64_t value);

  /// f32 instead of narrower floats.
  Value widen(Value x);
  /// Rounds to `type` when that is narrower.
  Value narrow(Value x, Type type);

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value divFloat(Value a, Value b);
  Value logistic(Value x);
  Value select(Value c, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, loc, c, a, b);
  }
  Value cmpf(mlir::arith::CmpFPredicate p, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, p, a, b);
  }
  Value cmpi(mlir::arith::CmpIPredicate p, Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, p, a, b);
  }
  /// Less than, of floats (ordered) or integers.
  Value less(Value a, Value b, bool isUnsigned);

  Value unary(UnaryKind kind, Value x, bool isUnsigned);
  Value binary(BinaryKind kind, Value a, Value b, bool isUnsigned);
  Value compare(CompareKind kind, Value a, Value b, bool isUnsigned);
  /// graph.convert of one element; `to` is signless.
  Value convert(Value x, bool fromUnsigned, Type to, bool toUnsigned);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  Value unaryFloat(UnaryKind kind, Value x);
  Value unaryInt(UnaryKind kind, Value x, bool isUnsigned);
  Value binaryFloat(BinaryKind kind, Value a, Value b);
  Value binaryInt(BinaryKind kind, Value a, Value b, bool isUnsigned);
  Value divideInt(Value a, Value b, bool isUnsigned);
  Value remainderInt(BinaryKind kind, Value a, Value b, bool isUnsigned);
  Value powerInt(Value a, Value b, bool isUnsigned);
  Value shift(BinaryKind kind, Value a, Value b, bool isUnsigned);
  Value floatToInt(Value x, Type to, bool toUnsigned);
};

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_SCALAR_H
