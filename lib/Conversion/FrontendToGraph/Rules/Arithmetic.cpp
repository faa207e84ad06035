//===- Arithmetic.cpp - functions of one, two and several elements --------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;

template <UnaryKind kind> static LogicalResult unary(Node &n) {
  return n.yield(n.g.unary(kind, n[0]));
}
template <BinaryKind kind> static LogicalResult binary(Node &n) {
  return n.yield(n.g.binary(kind, n[0], n[1]));
}
template <CompareKind kind> static LogicalResult compare(Node &n) {
  return n.yield(n.g.compare(kind, n[0], n[1]));
}

/// The base's type is the result's; an exponent of another type is converted, except that a
/// fractional exponent of an integer base is computed in f64.
static LogicalResult pow(Node &n) {
  Type type = elementOf(n[0]);
  if (type == elementOf(n[1]))
    return binary<BinaryKind::Pow>(n);
  if (!isFloat(n[0]) && isFloat(n[1])) {
    Type wide = n.g.builder.getF64Type();
    Value power = n.g.binary(BinaryKind::Pow, n.g.convert(n[0], wide), n.g.convert(n[1], wide));
    return n.yield(n.g.convert(power, type));
  }
  return n.yield(n.g.binary(BinaryKind::Pow, n[0], n.g.convert(n[1], type)));
}

/// fmod=1: sign of the dividend; fmod=0: sign of the divisor, integers only.
static LogicalResult mod(Node &n) {
  if (n.getInt("fmod", 0) != 0)
    return binary<BinaryKind::Rem>(n);
  if (isFloat(n[0]))
    return n.invalid("fmod is 0, which is defined for integers only; set fmod=1 for " +
                     llvm::Twine("floats"));
  return binary<BinaryKind::Mod>(n);
}

template <BinaryKind kind> static LogicalResult variadic(Node &n) {
  Value result = n[0];
  for (Value next : n.all().drop_front()) {
    if (!next)
      return n.invalid("one of its operands is missing");
    result = n.g.binary(kind, result, next);
  }
  return n.yield(result);
}

static LogicalResult average(Node &n) {
  if (failed(variadic<BinaryKind::Add>(n)))
    return failure();
  return n.yield(n.g.binary(BinaryKind::Div, n.resultValues()[0], n.size()));
}

/// Bits shifted in are zero, for all the unsigned types that the operator takes.
static LogicalResult bitShift(Node &n) {
  StringRef direction = n.getString("direction", "");
  if (direction == "LEFT")
    return binary<BinaryKind::Shl>(n);
  if (direction == "RIGHT")
    return binary<BinaryKind::Shr>(n);
  return n.invalid("direction is '" + direction + "'; LEFT and RIGHT are allowed");
}

static LogicalResult isInf(Node &n) {
  bool positive = n.getInt("detect_positive", 1), negative = n.getInt("detect_negative", 1);
  Value inf = n.g.unary(UnaryKind::IsInf, n[0]);
  Value zero = n.g.splatLike(n[0], 0);
  if (positive && negative)
    return n.yield(inf);
  if (!positive && !negative)
    return n.yield(n.g.splatLike(inf, 0));
  CompareKind side = positive ? CompareKind::Gt : CompareKind::Lt;
  return n.yield(n.g.binary(BinaryKind::And, inf, n.g.compare(side, n[0], zero)));
}

static LogicalResult where(Node &n) { return n.yield(n.g.select(n[0], n[1], n[2])); }

ArrayRef<Entry> gpucc::frontend_to_graph::arithmeticRules() {
  static const Entry rules[] = {
      {"Abs", 6, latest, 1, unary<UnaryKind::Abs>},
      {"Neg", 6, latest, 1, unary<UnaryKind::Neg>},
      {"Sign", 9, latest, 1, unary<UnaryKind::Sign>},
      {"Exp", 6, latest, 1, unary<UnaryKind::Exp>},
      {"Log", 6, latest, 1, unary<UnaryKind::Log>},
      {"Sqrt", 6, latest, 1, unary<UnaryKind::Sqrt>},
      {"Reciprocal", 6, latest, 1, unary<UnaryKind::Reciprocal>},
      {"Erf", 9, latest, 1, unary<UnaryKind::Erf>},
      {"Sin", 7, latest, 1, unary<UnaryKind::Sin>},
      {"Cos", 7, latest, 1, unary<UnaryKind::Cos>},
      {"Tan", 7, latest, 1, unary<UnaryKind::Tan>},
      {"Asin", 7, latest, 1, unary<UnaryKind::Asin>},
      {"Acos", 7, latest, 1, unary<UnaryKind::Acos>},
      {"Atan", 7, latest, 1, unary<UnaryKind::Atan>},
      {"Sinh", 9, latest, 1, unary<UnaryKind::Sinh>},
      {"Cosh", 9, latest, 1, unary<UnaryKind::Cosh>},
      {"Asinh", 9, latest, 1, unary<UnaryKind::Asinh>},
      {"Acosh", 9, latest, 1, unary<UnaryKind::Acosh>},
      {"Atanh", 9, latest, 1, unary<UnaryKind::Atanh>},
      {"Floor", 6, latest, 1, unary<UnaryKind::Floor>},
      {"Ceil", 6, latest, 1, unary<UnaryKind::Ceil>},
      {"Round", 11, latest, 1, unary<UnaryKind::RoundEven>},
      {"Not", 1, latest, 1, unary<UnaryKind::Not>},
      {"BitwiseNot", 18, latest, 1, unary<UnaryKind::Not>},
      {"IsNaN", 9, latest, 1, unary<UnaryKind::IsNan>},
      {"IsInf", 10, latest, 1, isInf},
      {"Add", 7, latest, 2, binary<BinaryKind::Add>},
      {"Sub", 7, latest, 2, binary<BinaryKind::Sub>},
      {"Mul", 7, latest, 2, binary<BinaryKind::Mul>},
      {"Div", 7, latest, 2, binary<BinaryKind::Div>},
      {"Pow", 7, latest, 2, pow},
      {"Mod", 10, latest, 2, mod},
      {"And", 7, latest, 2, binary<BinaryKind::And>},
      {"Or", 7, latest, 2, binary<BinaryKind::Or>},
      {"Xor", 7, latest, 2, binary<BinaryKind::Xor>},
      {"BitwiseAnd", 18, latest, 2, binary<BinaryKind::And>},
      {"BitwiseOr", 18, latest, 2, binary<BinaryKind::Or>},
      {"BitwiseXor", 18, latest, 2, binary<BinaryKind::Xor>},
      {"BitShift", 11, latest, 2, bitShift},
      {"Equal", 7, latest, 2, compare<CompareKind::Eq>},
      {"Less", 7, latest, 2, compare<CompareKind::Lt>},
      {"LessOrEqual", 12, latest, 2, compare<CompareKind::Le>},
      {"Greater", 7, latest, 2, compare<CompareKind::Gt>},
      {"GreaterOrEqual", 12, latest, 2, compare<CompareKind::Ge>},
      {"Max", 6, latest, 1, variadic<BinaryKind::Max>},
      {"Min", 6, latest, 1, variadic<BinaryKind::Min>},
      {"Sum", 6, latest, 1, variadic<BinaryKind::Add>},
      {"Mean", 6, latest, 1, average},
      {"Where", 9, latest, 3, where},
  };
  return rules;
}
