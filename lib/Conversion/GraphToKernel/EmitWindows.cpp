//===- EmitWindows.cpp - pooling and its gradient, element by element -----===//
//
// An element of a pool is a loop over its window; elements of the window that
// lie outside are skipped by guards. The gradient of an input element is a
// loop over the windows that may hold it: for offset k it is window
//
//   o = (i + pad - k · dilation) / stride     if that divides and is in range
//
// and, for max, only if k is the first offset of that window whose element is
// the window's maximum (two more loops).
//
//===----------------------------------------------------------------------===//
#include "PointEmitter.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using kernel::LoopResultKind;

void PointEmitter::innerLoop(ArrayRef<int64_t> extents, ArrayRef<LoopResultKind> kinds,
                             ArrayRef<Type> types,
                             function_ref<SmallVector<Value>(ArrayRef<AffineExpr>)> build,
                             SmallVectorImpl<Value> &results) {
  OpBuilder outer = scopes.back().builder; // a copy: building the body moves it
  auto loop =
      kernel::LoopOp::create(outer, location, extents, kinds, types,
                             [&](OpBuilder &b, Location, ValueRange at) -> SmallVector<Value> {
                               SmallVector<unsigned> numbers = pushScope(b, at, extents);
                               SmallVector<AffineExpr> inner;
                               for (auto [n, e] : llvm::zip_equal(numbers, extents)) {
                                 inner.push_back(math.addDim(e));
                                 dims.push_back(variable(n));
                               }
                               SmallVector<Value> values = build(inner);
                               popScope();
                               return values;
                             });
  results.assign(loop.getResults().begin(), loop.getResults().end());
}

/// The attributes that pool and pool_grad share.
struct gpucc::WindowShape {
  bool isMax, countsPadding;
  ArrayRef<int64_t> window, strides, low, high, dilations, input, output;

  template <typename Op>
  WindowShape(Op op, ArrayRef<int64_t> x, ArrayRef<int64_t> y)
      : isMax(op.getKind() == graph::PoolKind::Max), countsPadding(op.getCountIncludePad()),
        window(op.getWindow()), strides(op.getStrides()), low(op.getPadsLow()),
        high(op.getPadsHigh()), dilations(op.getDilations()), input(x.drop_front(2)),
        output(y.drop_front(2)) {}
};

/// Floats up to 32 bits are combined in f32.
static Type accumulatorOf(Type element, OpBuilder &b) {
  return element.isF64() ? element : Type(b.getF32Type());
}

static Value widen(OpBuilder &b, Location loc, Value v, Type to) {
  return v.getType() == to ? v : Value(arith::ExtFOp::create(b, loc, to, v));
}
static Value narrow(OpBuilder &b, Location loc, Value v, Type to) {
  return v.getType() == to ? v : Value(arith::TruncFOp::create(b, loc, to, v));
}
static Value floatConstant(OpBuilder &b, Location loc, Type type, double value) {
  return arith::ConstantOp::create(b, loc, FloatAttr::get(type, value));
}

/// Divisor of an average over the window `o`: a product over dimensions of how many offsets count.
/// Where every window counts alike it is a constant.
Value PointEmitter::windowDivisor(const WindowShape &w, ArrayRef<AffineExpr> o, Type type) {
  OpBuilder &b = scopes.back().builder;
  double constant = 1;
  Value product;
  for (auto [d, e] : llvm::enumerate(o)) {
    SmallVector<AffineExpr> partly;
    int64_t always = 0;
    int64_t shift = w.countsPadding ? 0 : w.low[d];
    int64_t limit = w.countsPadding ? w.input[d] + w.high[d] + w.low[d] : w.input[d];
    for (int64_t k = 0; k < w.window[d]; ++k) {
      // Position from where counting starts: the padded or the bare input.
      AffineExpr at = toVariables(math.simplify(e * w.strides[d] + (k * w.dilations[d] - shift)));
      auto range = loopMath.rangeOf(at);
      if (range && range->first >= 0 && range->second < limit)
        ++always;
      else if (!range || (range->second >= 0 && range->first < limit))
        partly.push_back(at);
    }
    if (partly.empty()) {
      constant *= static_cast<double>(always);
      continue;
    }
    Value count = floatConstant(b, location, type, static_cast<double>(always));
    for (AffineExpr at : partly) {
      Value inside =
          arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, indexValue(at, b),
                                arith::ConstantIndexOp::create(b, location, limit));
      Value one = arith::SelectOp::create(b, location, inside, floatConstant(b, location, type, 1),
                                          floatConstant(b, location, type, 0));
      count = arith::AddFOp::create(b, location, count, one);
    }
    product = product ? Value(arith::MulFOp::create(b, location, product, count)) : count;
  }
  if (!product)
    return floatConstant(b, location, type, std::max(constant, 1.0));
  if (constant != 1)
    product =
        arith::MulFOp::create(b, location, product, floatConstant(b, location, type, constant));
  // A window of padding alone sums to 0; divided by 1 it stays 0.
  return arith::MaximumFOp::create(b, location, product, floatConstant(b, location, type, 1));
}

Value PointEmitter::windowElement(Value x, const WindowShape &w, ArrayRef<AffineExpr> nc,
                                  ArrayRef<AffineExpr> o, ArrayRef<AffineExpr> k, Type type,
                                  double outside, Value *isInside) {
  Index index(nc);
  SmallVector<IndexGuard> guards;
  for (size_t d = 0; d < o.size(); ++d) {
    index.push_back(math.simplify(o[d] * w.strides[d] + k[d] * w.dilations[d] - w.low[d]));
    guards.push_back({index.back(), w.input[d]});
  }
  unsigned level = 0;
  Value condition = guardValue(guards, level);
  if (isInside)
    *isInside = condition;
  auto element = [&] {
    Value v = get(x, index);
    return widen(scopes.back().builder, location, v, type);
  };
  if (!condition)
    return element();
  Value inside = underGuard(condition, level, element);
  OpBuilder &b = scopes.back().builder;
  return arith::SelectOp::create(b, location, condition, inside,
                                 floatConstant(b, location, type, outside));
}

Value PointEmitter::computePool(graph::PoolOp op, ArrayRef<AffineExpr> index) {
  WindowShape w(op, shapeOf(op.getX()), shapeOf(op.getResult()));
  Type element = getElementTypeOrSelf(op.getType());
  Type type = accumulatorOf(element, scopes.back().builder);
  ArrayRef<AffineExpr> nc = index.take_front(2), o = index.drop_front(2);
  SmallVector<Value> result;
  innerLoop(
      w.window, {w.isMax ? LoopResultKind::Max : LoopResultKind::Add}, {type},
      [&](ArrayRef<AffineExpr> k) -> SmallVector<Value> {
        return {windowElement(op.getX(), w, nc, o, k, type, w.isMax ? -HUGE_VAL : 0.0)};
      },
      result);
  OpBuilder &b = scopes.back().builder;
  Value v = result.front();
  if (!w.isMax)
    v = arith::DivFOp::create(b, location, v, windowDivisor(w, o, type));
  return narrow(b, location, v, element);
}

Value PointEmitter::computePoolGrad(graph::PoolGradOp op, ArrayRef<AffineExpr> index) {
  WindowShape w(op, shapeOf(op.getX()), shapeOf(op.getGrad()));
  Type element = getElementTypeOrSelf(op.getType());
  Type type = accumulatorOf(element, scopes.back().builder);
  ArrayRef<AffineExpr> nc = index.take_front(2), i = index.drop_front(2);

  auto share = [&](ArrayRef<AffineExpr> k, ArrayRef<AffineExpr> o) -> Value {
    Index at(nc);
    at.append(o.begin(), o.end());
    Value g = get(op.getGrad(), at);
    g = widen(scopes.back().builder, location, g, type);
    if (!w.isMax) {
      Value divisor = windowDivisor(w, o, type);
      return arith::DivFOp::create(scopes.back().builder, location, g, divisor);
    }
    // The first offset whose element is the maximum of window o.
    SmallVector<Value> greatest, first;
    innerLoop(
        w.window, {LoopResultKind::Max}, {type},
        [&](ArrayRef<AffineExpr> q) -> SmallVector<Value> {
          return {windowElement(op.getX(), w, nc, o, q, type, -HUGE_VAL)};
        },
        greatest);
    Type offsetType = scopes.back().builder.getI32Type();
    innerLoop(
        w.window, {LoopResultKind::Min}, {offsetType},
        [&](ArrayRef<AffineExpr> q) -> SmallVector<Value> {
          Value isInside;
          Value v = windowElement(op.getX(), w, nc, o, q, type, -HUGE_VAL, &isInside);
          OpBuilder &b = scopes.back().builder;
          Value equal =
              arith::CmpFOp::create(b, location, arith::CmpFPredicate::OEQ, v, greatest.front());
          Value nan = arith::CmpFOp::create(b, location, arith::CmpFPredicate::UNO, v, v);
          Value hit = arith::OrIOp::create(b, location, equal, nan);
          if (isInside) // padding equals a maximum of -inf but gets no gradient
            hit = arith::AndIOp::create(b, location, hit, isInside);
          Value at = arith::IndexCastOp::create(
              b, location, offsetType, indexValue(toVariables(math.linearize(q, w.window)), b));
          Value none = arith::ConstantOp::create(b, location, b.getI32IntegerAttr(INT32_MAX));
          return {arith::SelectOp::create(b, location, hit, at, none)};
        },
        first);
    OpBuilder &b = scopes.back().builder;
    Value ours = arith::IndexCastOp::create(
        b, location, offsetType, indexValue(toVariables(math.linearize(k, w.window)), b));
    Value isOurs =
        arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, first.front(), ours);
    return arith::SelectOp::create(b, location, isOurs, g, floatConstant(b, location, type, 0));
  };

  SmallVector<Value> result;
  innerLoop(
      w.window, {LoopResultKind::Add}, {type},
      [&](ArrayRef<AffineExpr> k) -> SmallVector<Value> {
        SmallVector<IndexGuard> guards;
        Index o;
        for (size_t d = 0; d < i.size(); ++d) {
          AffineExpr at = math.simplify(i[d] + w.low[d] - k[d] * w.dilations[d]);
          int64_t stride = w.strides[d];
          guards.push_back({at, (w.output[d] - 1) * stride + 1, stride});
          o.push_back(stride == 1 ? at : at.floorDiv(stride)); // exact where the guard holds
        }
        unsigned level = 0;
        Value condition = guardValue(guards, level);
        if (!condition)
          return {share(k, o)};
        Value v = underGuard(condition, level, [&] { return share(k, o); });
        OpBuilder &b = scopes.back().builder;
        return {arith::SelectOp::create(b, location, condition, v,
                                        floatConstant(b, location, type, 0))};
      },
      result);
  return narrow(scopes.back().builder, location, result.front(), element);
}
