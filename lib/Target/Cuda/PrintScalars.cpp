//===- PrintScalars.cpp - arithmetic as C++ -------------------------------===//
#include "lib/Target/Cuda/Printer.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc::cuda;

//===----------------------------------------------------------------------===//
// Types and literals
//===----------------------------------------------------------------------===//
std::string Printer::type(Type t) {
  if (t.isF32())
    return "float";
  if (t.isF64())
    return "double";
  if (t.isBF16())
    return "gk_bf16";
  if (t.isF16())
    return "gk_f16";
  if (t.isInteger(1))
    return "bool";
  if (t.isIndex())
    return wideIndex ? "gk_i64" : "int";
  if (t.isInteger(32))
    return "int";
  if (auto v = dyn_cast<VectorType>(t))
    return "gk_vec<" + vectorType(v) + ">";
  return "gk_i" + std::to_string(t.getIntOrFloatBitWidth());
}

std::string Printer::unsignedType(Type t) {
  if (t.isIndex())
    return wideIndex ? "gk_u64" : "gk_u32";
  return t.isInteger(1) ? "bool" : "gk_u" + std::to_string(t.getIntOrFloatBitWidth());
}

std::string Printer::literal(TypedAttr attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    int64_t v = integer.getValue().getSExtValue();
    if (v == std::numeric_limits<int64_t>::min())
      return "gk_bitcast<gk_i64>(0x8000000000000000ull)";
    if (v == std::numeric_limits<int32_t>::min())
      return "(-2147483647 - 1)";
    return std::to_string(v) + (llvm::isInt<32>(v) ? "" : "ll");
  }
  auto number = cast<FloatAttr>(attr);
  APFloat v = number.getValue();
  Type t = number.getType();
  std::string hex = "0x" + llvm::utohexstr(v.bitcastToAPInt().getZExtValue(), /*LowerCase=*/true);
  if (t.isBF16() || t.isF16())
    return type(t) + "{" + hex + "}";
  if (t.isF32() && v.isInfinity())
    return v.isNegative() ? "-gk_inf()" : "gk_inf()";
  if (!v.isFinite())
    return t.isF32() ? "gk_nan()" : "gk_bitcast<double>(" + hex + "ull)";
  char text[64];
  snprintf(text, sizeof text, t.isF32() ? "%.9g" : "%.17g", v.convertToDouble());
  std::string s = text;
  if (s.find_first_of(".e") == std::string::npos)
    s += ".0";
  return t.isF32() ? s + "f" : s;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//
void Printer::binary(Operation *op, const char *symbol) {
  define(op, name(op->getOperand(0)) + " " + symbol + " " + name(op->getOperand(1)));
}
void Printer::call(Operation *op, const std::string &function) {
  std::string arguments;
  for (Value v : op->getOperands())
    arguments += (arguments.empty() ? "" : ", ") + name(v);
  define(op, function + "(" + arguments + ")");
}
void Printer::unsignedBinary(Operation *op, const char *symbol) {
  Type t = op->getResult(0).getType();
  std::string u = "(" + unsignedType(t) + ")";
  define(op, "(" + type(t) + ")(" + u + name(op->getOperand(0)) + " " + symbol + " " + u +
                 name(op->getOperand(1)) + ")");
}
void Printer::wrapping(Operation *op, const char *symbol) {
  // Indices do not overflow.
  if (op->getResult(0).getType().isIndex())
    return binary(op, symbol);
  unsignedBinary(op, symbol);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//
bool Printer::printScalar(Operation *op) {
  if (op->getNumResults() == 0 ||
      llvm::any_of(op->getResultTypes(), [](Type t) { return isa<ShapedType>(t); }))
    return false;
  return printFloat(op) || printInteger(op) || printConversion(op) || printMath(op);
}

bool Printer::printFloat(Operation *op) {
  bool isDouble = op->getOperandTypes().size() && op->getOperand(0).getType().isF64();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::AddFOp) { return binary(op, "+"), true; })
      .Case([&](arith::SubFOp) { return binary(op, "-"), true; })
      .Case([&](arith::MulFOp) { return binary(op, "*"), true; })
      .Case([&](arith::DivFOp) { return binary(op, "/"), true; })
      .Case([&](arith::RemFOp) { return call(op, isDouble ? "fmod" : "fmodf"), true; })
      .Case([&](arith::NegFOp) { return define(op, "-" + name(op->getOperand(0))), true; })
      .Case([&](arith::MaximumFOp) { return call(op, "gk_maximum"), true; })
      .Case([&](arith::MinimumFOp) { return call(op, "gk_minimum"), true; })
      .Case([&](arith::MaxNumFOp) { return call(op, isDouble ? "fmax" : "fmaxf"), true; })
      .Case([&](arith::MinNumFOp) { return call(op, isDouble ? "fmin" : "fminf"), true; })
      .Case([&](arith::CmpFOp compare) { return printCompareFloat(compare), true; })
      .Default([](Operation *) { return false; });
}

bool Printer::printInteger(Operation *op) {
  auto choose = [&](const char *symbol, bool isUnsigned) {
    std::string u = isUnsigned ? "(" + unsignedType(op->getOperand(0).getType()) + ")" : "";
    std::string x = name(op->getOperand(0)), y = name(op->getOperand(1));
    define(op, u + x + " " + symbol + " " + u + y + " ? " + x + " : " + y);
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::AddIOp) { return wrapping(op, "+"), true; })
      .Case([&](arith::SubIOp) { return wrapping(op, "-"), true; })
      .Case([&](arith::MulIOp) { return wrapping(op, "*"), true; })
      .Case([&](arith::DivSIOp) { return binary(op, "/"), true; })
      .Case([&](arith::RemSIOp) { return binary(op, "%"), true; })
      .Case([&](arith::DivUIOp) { return unsignedBinary(op, "/"), true; })
      .Case([&](arith::RemUIOp) { return unsignedBinary(op, "%"), true; })
      .Case([&](arith::AndIOp) { return binary(op, "&"), true; })
      .Case([&](arith::OrIOp) { return binary(op, "|"), true; })
      .Case([&](arith::XOrIOp) { return binary(op, "^"), true; })
      .Case([&](arith::ShLIOp) { return unsignedBinary(op, "<<"), true; })
      .Case([&](arith::ShRUIOp) { return unsignedBinary(op, ">>"), true; })
      .Case([&](arith::ShRSIOp) { return binary(op, ">>"), true; })
      .Case([&](arith::MaxSIOp) { return choose(">", false); })
      .Case([&](arith::MinSIOp) { return choose("<", false); })
      .Case([&](arith::MaxUIOp) { return choose(">", true); })
      .Case([&](arith::MinUIOp) { return choose("<", true); })
      .Case([&](arith::MulUIExtendedOp mul) {
        Type t = mul.getLow().getType();
        std::string x = name(mul.getLhs()), y = name(mul.getRhs()), u = unsignedType(t);
        if (!t.isInteger(32))
          return false;
        line() << "int " << name(mul.getLow()) << " = (int)((" << u << ")" << x << " * (" << u
               << ")" << y << ");\n";
        line() << "int " << name(mul.getHigh()) << " = gk_mulhiu(" << x << ", " << y << ");\n";
        return true;
      })
      .Case([&](arith::SelectOp select) {
        define(op, name(select.getCondition()) + " ? " + name(select.getTrueValue()) + " : " +
                       name(select.getFalseValue()));
        return true;
      })
      .Case([&](arith::CmpIOp compare) { return printCompareInteger(compare), true; })
      .Default([](Operation *) { return false; });
}

bool Printer::printConversion(Operation *op) {
  if (op->getNumOperands() != 1)
    return false;
  Value x = op->getOperand(0);
  Type from = x.getType(), to = op->getResult(0).getType();
  auto cast = [&](const std::string &through) {
    define(op, "(" + type(to) + ")" + through + name(x));
    return true;
  };
  std::string asUnsigned =
      from.isIntOrIndex() && !from.isInteger(1) ? "(" + unsignedType(from) + ")" : "";
  // The 16-bit floats are structs: a cast would set their bits.
  auto toFloat = [&](const std::string &through) {
    if (!to.isF16() && !to.isBF16())
      return cast(through);
    define(op, "gk_to_" + type(to).substr(3) + "((float)" + through + name(x) + ")");
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::ExtFOp) { return from.isF32() ? cast("") : (call(op, "gk_float"), true); })
      .Case([&](arith::TruncFOp) {
        if (to.isF32())
          return cast("");
        return call(op, "gk_to_" + type(to).substr(3)), true;
      })
      .Case([&](arith::BitcastOp) { return call(op, "gk_bitcast<" + type(to) + ">"), true; })
      .Case([&](arith::ExtSIOp) {
        if (from.isInteger(1)) // true is -1
          return define(op, "(" + type(to) + ")-(int)" + name(x)), true;
        return cast("");
      })
      .Case([&](arith::ExtUIOp) { return cast(asUnsigned); })
      .Case([&](arith::TruncIOp) {
        if (to.isInteger(1))
          return define(op, "(" + name(x) + " & 1) != 0"), true;
        return cast("");
      })
      .Case([&](arith::IndexCastOp) { return cast(""); })
      .Case([&](arith::IndexCastUIOp) { return cast(asUnsigned); })
      .Case([&](arith::SIToFPOp) {
        return toFloat(from.isInteger(1) ? "-(int)" : "");
      })
      .Case([&](arith::UIToFPOp) { return toFloat(asUnsigned); })
      .Case([&](arith::FPToSIOp) { return call(op, "gk_fptoint<" + type(to) + ">"), true; })
      .Case([&](arith::FPToUIOp) {
        define(op, "(" + type(to) + ")gk_fptoint<" + unsignedType(to) + ">(" + name(x) + ")");
        return true;
      })
      .Default([](Operation *) { return false; });
}

/// Functions that f32 kernels keep (exact on every target), and the library's for f64.
bool Printer::printMath(Operation *op) {
  bool isDouble = op->getResult(0).getType().isF64();
  auto exact = [&](const char *function) {
    return call(op, isDouble ? function : std::string(function) + "f"), true;
  };
  bool isExact = llvm::TypeSwitch<Operation *, bool>(op)
                     .Case([&](math::FmaOp) { return exact("fma"); })
                     .Case([&](math::SqrtOp) { return exact("sqrt"); })
                     .Case([&](math::AbsFOp) { return exact("fabs"); })
                     .Case([&](math::CopySignOp) { return exact("copysign"); })
                     .Case([&](math::FloorOp) { return exact("floor"); })
                     .Case([&](math::CeilOp) { return exact("ceil"); })
                     .Case([&](math::TruncOp) { return exact("trunc"); })
                     .Case([&](math::RoundEvenOp) { return exact("rint"); })
                     .Case([&](math::AbsIOp abs) {
                       std::string x = name(abs.getOperand()), t = type(abs.getType());
                       define(op, x + " < 0 ? (" + t + ")(0 - (" + unsignedType(abs.getType()) +
                                      ")" + x + ") : " + x);
                       return true;
                     })
                     .Default([](Operation *) { return false; });
  if (isExact || !isDouble)
    return isExact;
  StringRef opName = op->getName().getStringRef();
  if (!opName.consume_front("math."))
    return false;
  StringRef function =
      llvm::StringSwitch<StringRef>(opName)
          .Case("powf", "pow")
          .Cases({"exp", "log", "log1p", "expm1", "tanh", "erf"}, opName)
          .Cases({"sin", "cos", "tan", "asin", "acos", "atan", "atan2"}, opName)
          .Cases({"sinh", "cosh", "asinh", "acosh", "atanh", "exp2", "log2"}, opName)
          .Default("");
  if (function.empty())
    return false;
  call(op, function.str());
  return true;
}

void Printer::printCompareFloat(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  std::string x = name(op.getLhs()), y = name(op.getRhs());
  auto is = [&](const char *symbol) { define(op, x + " " + symbol + " " + y); };
  // NaN counts as true: not the opposite.
  auto isNot = [&](const char *symbol) { define(op, "!(" + x + " " + symbol + " " + y + ")"); };
  switch (op.getPredicate()) {
  case P::AlwaysFalse:
    return define(op, "false");
  case P::AlwaysTrue:
    return define(op, "true");
  case P::OEQ:
    return is("==");
  case P::OGT:
    return is(">");
  case P::OGE:
    return is(">=");
  case P::OLT:
    return is("<");
  case P::OLE:
    return is("<=");
  case P::ONE:
    return define(op, x + " < " + y + " || " + x + " > " + y);
  case P::ORD:
    return define(op, "!gk_unordered(" + x + ", " + y + ")");
  case P::UEQ:
    return define(op, "!(" + x + " < " + y + " || " + x + " > " + y + ")");
  case P::UGT:
    return isNot("<=");
  case P::UGE:
    return isNot("<");
  case P::ULT:
    return isNot(">=");
  case P::ULE:
    return isNot(">");
  case P::UNE:
    return is("!=");
  case P::UNO:
    return define(op, "gk_unordered(" + x + ", " + y + ")");
  }
}

void Printer::printCompareInteger(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  bool isUnsigned =
      predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  const char *symbol = predicate == P::eq                           ? "=="
                       : predicate == P::ne                         ? "!="
                       : predicate == P::slt || predicate == P::ult ? "<"
                       : predicate == P::sle || predicate == P::ule ? "<="
                       : predicate == P::sgt || predicate == P::ugt ? ">"
                                                                    : ">=";
  std::string u = isUnsigned ? "(" + unsignedType(op.getLhs().getType()) + ")" : std::string();
  define(op, u + name(op.getLhs()) + " " + symbol + " " + u + name(op.getRhs()));
}
