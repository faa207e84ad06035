//===- EightBitFloats.cpp - f8 as bytes -----------------------------------===//
//
// f8E5M2 is the upper byte of an f16; f8E4M3FN has bias 7, no infinities, and all ones as NaN (OCP
// 8-bit floating point specification). Conversions round to nearest even; what is too large becomes
// infinity, or NaN where there is none.
//
//   300.0 → f8E4M3FN: 0x43960000 rounds at bit 20 to 0x43a00000 → (0x43a00000 >> 20) - (120 << 3) =
//   0x7a
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Kernel/EightBitFloats.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::kernel;

bool gpucc::isEightBitFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

namespace {

/// What the two formats differ in.
struct Format {
  int64_t mantissaBits, bias;
  int64_t largest;  ///< bits of the largest finite number
  int64_t overflow; ///< bits of what is above it
  int64_t nan;
};
Format formatOf(Type type) {
  return isa<Float8E5M2Type>(type) ? Format{2, 15, 0x7b, 0x7c, 0x7e}
                                   : Format{3, 7, 0x7e, 0x7f, 0x7f};
}

class Converter {
public:
  Converter(OpBuilder &b, Location loc, Format format) : b(b), loc(loc), f(format) {}

  /// i8 → f32
  Value decode(Value byte) {
    Value x = arith::ExtUIOp::create(b, loc, b.getI32Type(), byte);
    Value magnitude = arith::AndIOp::create(b, loc, x, integer(0x7f));
    Value sign = shiftLeft(arith::AndIOp::create(b, loc, x, integer(0x80)), 24);
    Value normal = arith::AddIOp::create(b, loc, shiftLeft(magnitude, 23 - f.mantissaBits),
                                         integer((127 - f.bias) << 23));
    Value scaled =
        arith::MulFOp::create(b, loc, arith::SIToFPOp::create(b, loc, b.getF32Type(), magnitude),
                              number(std::ldexp(1.0, 1 - f.bias - f.mantissaBits)));
    Value bits = select(less(magnitude, 1 << f.mantissaBits), bitsOf(scaled), normal);
    if (f.overflow != f.nan)
      bits = select(equal(magnitude, f.overflow), integer(0x7f800000), bits);
    Value isNan = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, magnitude,
                                        integer(f.overflow == f.nan ? f.largest : f.overflow));
    bits = select(isNan, integer(0x7fc00000), bits);
    return arith::BitcastOp::create(b, loc, b.getF32Type(),
                                    arith::OrIOp::create(b, loc, bits, sign));
  }

  /// f32 → i8
  Value encode(Value number32) {
    Value u = bitsOf(number32);
    Value sign = arith::AndIOp::create(b, loc, shiftRight(u, 24), integer(0x80));
    Value magnitude = arith::AndIOp::create(b, loc, u, integer(0x7fffffff));
    // Normal: round at the last mantissa bit that stays; halves go to even.
    int64_t dropped = 23 - f.mantissaBits;
    Value odd = arith::AndIOp::create(b, loc, shiftRight(magnitude, dropped), integer(1));
    Value rounded = arith::AddIOp::create(
        b, loc, arith::AddIOp::create(b, loc, magnitude, integer((1 << (dropped - 1)) - 1)), odd);
    Value normal = arith::SubIOp::create(b, loc, shiftRight(rounded, dropped),
                                         integer((127 - f.bias) << f.mantissaBits));
    // Below the least normal number: an addition whose last place is that of the format rounds.
    double magic = std::ldexp(1.0, 23 + 1 - f.bias - f.mantissaBits);
    Value absolute = arith::BitcastOp::create(b, loc, b.getF32Type(), magnitude);
    Value sum = arith::AddFOp::create(b, loc, absolute, number(magic));
    Value small = arith::SubIOp::create(b, loc, bitsOf(sum), bitsOf(number(magic)));
    Value bits = select(less(magnitude, int64_t(127 + 1 - f.bias) << 23), small, normal);
    Value above =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, bits, integer(f.largest));
    bits = select(above, integer(f.overflow), bits);
    Value isNan =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, magnitude, integer(0x7f800000));
    bits = arith::OrIOp::create(b, loc, select(isNan, integer(f.nan), bits), sign);
    return arith::TruncIOp::create(b, loc, b.getI8Type(), bits);
  }

private:
  Value integer(int64_t v) { return arith::ConstantIntOp::create(b, loc, v, 32); }
  Value number(double v) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(v)));
  }
  Value bitsOf(Value v) { return arith::BitcastOp::create(b, loc, b.getI32Type(), v); }
  Value shiftLeft(Value v, int64_t n) { return arith::ShLIOp::create(b, loc, v, integer(n)); }
  Value shiftRight(Value v, int64_t n) { return arith::ShRUIOp::create(b, loc, v, integer(n)); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }
  Value less(Value v, int64_t n) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, v, integer(n));
  }
  Value equal(Value v, int64_t n) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, v, integer(n));
  }

  OpBuilder &b;
  Location loc;
  Format f;
};

/// The type with bytes for 8-bit floats.
Type asBytes(Type type) {
  Type byte = IntegerType::get(type.getContext(), 8);
  if (isEightBitFloat(type))
    return byte;
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && isEightBitFloat(shaped.getElementType()))
    return shaped.clone(byte);
  return type;
}

} // namespace

void gpucc::storeEightBitFloatsAsBytes(FuncOp kernel) {
  // Conversions first, while types still tell the formats.
  SmallVector<std::pair<Operation *, Format>> conversions;
  SmallVector<arith::ConstantOp> constants;
  kernel.walk([&](Operation *op) {
    if (isa<arith::ExtFOp>(op) && isEightBitFloat(op->getOperand(0).getType()))
      conversions.push_back({op, formatOf(op->getOperand(0).getType())});
    else if (isa<arith::TruncFOp>(op) && isEightBitFloat(op->getResult(0).getType()))
      conversions.push_back({op, formatOf(op->getResult(0).getType())});
    else if (auto constant = dyn_cast<arith::ConstantOp>(op);
             constant && isEightBitFloat(constant.getType()))
      constants.push_back(constant);
  });
  for (arith::ConstantOp constant : constants) {
    OpBuilder b(constant);
    APInt bits = cast<FloatAttr>(constant.getValue()).getValue().bitcastToAPInt();
    constant.setValueAttr(b.getIntegerAttr(b.getI8Type(), bits));
  }
  auto retype = [](Value v) { v.setType(asBytes(v.getType())); };
  for (BlockArgument arg : kernel.getArguments())
    retype(arg);
  SmallVector<Type> views(kernel.getBody().getArgumentTypes());
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), views, {}));
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      retype(result);
  });
  for (auto &[op, format] : conversions) {
    OpBuilder b(op);
    Converter convert(b, op->getLoc(), format);
    Value v = isa<arith::ExtFOp>(op) ? convert.decode(op->getOperand(0))
                                     : convert.encode(op->getOperand(0));
    op->getResult(0).replaceAllUsesWith(v);
    op->erase();
  }
}
