//===- ScalarMath.h - f32 functions as arithmetic ---------------*- C++ -*-===//
//
// Each function builds, at the builder's place, the operations that compute it
// for one f32 (or f64 where said). Only +, -, *, fma, comparisons, selects and
// integer operations on bits occur, so every target gives the same bits. (Sine and
// its kin have one branch, too.)
//
//   ScalarMath math(builder, loc, builder.getF32Type());
//   Value y = math.exp(x);    // 0.9 ulp, +inf above 88.72, 0 below -87.33, NaN for NaN
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_KERNEL_SCALARMATH_H
#define GPUCC_LIB_TRANSFORMS_KERNEL_SCALARMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace gpucc {

class ScalarMath {
public:
  ScalarMath(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : b(builder), loc(loc), type(type) {}

  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value atan(mlir::Value x);
  mlir::Value sinh(mlir::Value x);
  mlir::Value cosh(mlir::Value x);
  mlir::Value asinh(mlir::Value x);
  mlir::Value acosh(mlir::Value x);
  mlir::Value atanh(mlir::Value x);
  /// Through log and exp in f64: the error of the product would be multiplied in f32.
  mlir::Value pow(mlir::Value x, mlir::Value y);

  // Sine, cosine and tangent (Trigonometry.cpp), also of vectors.
  /// x = quadrant * π/2 + rest, |rest| <= π/4 and a little. Of the quadrant the low two bits count.
  struct Angle {
    mlir::Value rest, quadrant;
  };
  Angle angle(mlir::Value x);
  mlir::Value sin(Angle a) { return sine(a, /*turned=*/0); }
  mlir::Value cos(Angle a) { return sine(a, /*turned=*/1); }
  mlir::Value tan(Angle a);

private:
  using Value = mlir::Value;
  Value constant(double v);
  Value integer(int64_t v);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value fma(Value x, Value y, Value z);
  Value divide(Value x, Value y);
  Value sqrt(Value x);
  Value log1p(Value x);
  Value halfExp(Value x);
  Value abs(Value x);
  Value copySign(Value x, Value sign);
  Value select(Value condition, Value x, Value y);
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, Value y);
  Value bits(Value x);
  Value fromBits(Value x);
  /// ((c0 x + c1) x + c2) ... by fma.
  Value horner(Value x, llvm::ArrayRef<double> coefficients);
  /// exp without the cases x > 88.72 and NaN.
  Value expCore(Value x);
  Value sine(Angle a, int64_t turned);
  std::pair<Value, Value> sineAndCosine(Value rest);
  Angle nearAngle(Value x);
  Angle farAngle(Value x);
  Value isOdd(Value quadrant);
  /// `element`, as a vector where `type` is one.
  mlir::Type like(mlir::Type element);
  Value wide(uint64_t v); ///< an i64
  /// f64: natural logarithm of a positive finite normal number, relative error below 1e-13.
  Value logPositive64(Value x);
  /// f64: e^x for |x| < 200, relative error below 1e-13.
  Value exp64(Value x);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
};

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_KERNEL_SCALARMATH_H
