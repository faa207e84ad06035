//===- EmitLeaves.cpp - constants, indices and random numbers -------------===//
#include "PointEmitter.h"

#include "gpucc/Support/Types.h"

using namespace mlir;
using namespace gpucc;

/// An index as a number of type `type`; `start` (i64) is added first.
static Value indexAsNumber(OpBuilder &b, Location loc, Value index, Value start, Type type) {
  Type wide = isa<FloatType>(type) ? Type(b.getI64Type()) : type;
  Value number = arith::IndexCastOp::create(b, loc, start ? b.getI64Type() : wide, index);
  if (start) {
    number = arith::AddIOp::create(b, loc, number, start);
    if (wide != number.getType() && cast<IntegerType>(wide).getWidth() < 64)
      number = arith::TruncIOp::create(b, loc, wide, number);
  }
  return isa<FloatType>(type) ? Value(arith::SIToFPOp::create(b, loc, type, number)) : number;
}

Value PointEmitter::computeLeaf(Operation *op, ArrayRef<AffineExpr> index, unsigned level) {
  OpBuilder &b = scopes[level].builder;
  Type type = scalarType(getElementTypeOrSelf(op->getResult(0).getType()));
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    TypedAttr value = isa<FloatType>(type)
                          ? TypedAttr(FloatAttr::get(type, splat.getSplatValue<APFloat>()))
                          : TypedAttr(IntegerAttr::get(type, splat.getSplatValue<APInt>()));
    return arith::ConstantOp::create(b, location, value);
  }
  if (auto iota = dyn_cast<graph::IotaOp>(op)) {
    Value start = iota.getStart() ? get(iota.getStart(), {}) : Value();
    return indexAsNumber(b, location, indexValue(toVariables(index[iota.getDim()]), b), start,
                         type);
  }
  return computeRandom(cast<graph::RngUniformOp>(op), index, level);
}

//===----------------------------------------------------------------------===//
// Philox4x32-10 (Salmon et al., SC 2011), as graph.rng_uniform defines it
//===----------------------------------------------------------------------===//

namespace {
/// 32-bit arithmetic on values that are i32, products in i64.
struct Words {
  OpBuilder &b;
  Location loc;
  Value constant32(uint32_t v) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(v)));
  }
  Value constant64(int64_t v) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v)); }
  Value low(Value v) { return arith::TruncIOp::create(b, loc, b.getI32Type(), v); }
  Value high(Value v) { return low(arith::ShRUIOp::create(b, loc, v, constant64(32))); }
  Value product(Value v, uint32_t factor) {
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), v);
    return arith::MulIOp::create(b, loc, wide, constant64(factor));
  }
  Value mix(Value a, Value c, uint32_t key) {
    return arith::XOrIOp::create(b, loc, arith::XOrIOp::create(b, loc, a, c), constant32(key));
  }
};
} // namespace

Value PointEmitter::computeRandom(graph::RngUniformOp op, ArrayRef<AffineExpr> index,
                                  unsigned level) {
  OpBuilder &b = scopes[level].builder;
  Words w{b, location};
  Value step = get(op.getStep(), {});
  // The element's number in the global tensor: offsets and local index, row-major.
  Value linear = w.constant64(0);
  for (auto [d, extent] : llvm::enumerate(op.getGlobalShape())) {
    Value at = arith::IndexCastOp::create(b, location, b.getI64Type(),
                                          indexValue(toVariables(index[d]), b));
    at = arith::AddIOp::create(b, location, at, get(op.getOffsets()[d], {}));
    linear = arith::AddIOp::create(
        b, location, arith::MulIOp::create(b, location, linear, w.constant64(extent)), at);
  }
  Value block = arith::ShRUIOp::create(b, location, linear, w.constant64(2));
  Value c[4] = {w.low(block), w.high(block), w.low(step), w.high(step)};
  auto k0 = static_cast<uint32_t>(op.getSeed()), k1 = static_cast<uint32_t>(op.getOrdinal());
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    Value p0 = w.product(c[0], 0xD2511F53), p1 = w.product(c[2], 0xCD9E8D57);
    Value next[4] = {w.mix(w.high(p1), c[1], k0), w.low(p1), w.mix(w.high(p0), c[3], k1),
                     w.low(p0)};
    std::copy(next, next + 4, c);
  }
  // Word number linear mod 4: two selections by its bits.
  auto bit = [&](int64_t mask) -> Value {
    return arith::CmpIOp::create(b, location, arith::CmpIPredicate::ne,
                                 arith::AndIOp::create(b, location, linear, w.constant64(mask)),
                                 w.constant64(0));
  };
  Value odd = bit(1), upper = bit(2);
  Value lowPair = arith::SelectOp::create(b, location, odd, c[1], c[0]);
  Value highPair = arith::SelectOp::create(b, location, odd, c[3], c[2]);
  Value word = arith::SelectOp::create(b, location, upper, highPair, lowPair);
  Value bits = arith::ShRUIOp::create(b, location, word, w.constant32(8));
  Type type = getElementTypeOrSelf(op.getType());
  Type wide = type.isF64() ? type : b.getF32Type(); // 24 bits are exact in f32
  Value unit =
      arith::MulFOp::create(b, location, arith::SIToFPOp::create(b, location, wide, bits),
                            arith::ConstantOp::create(b, location, FloatAttr::get(wide, 0x1p-24)));
  return wide == type ? unit : Value(arith::TruncFOp::create(b, location, type, unit));
}
