//===- PointEmitter.cpp - the scalar of one element of one value ----------===//
#include "PointEmitter.h"

#include "gpucc/Support/Types.h"

using namespace mlir;
using namespace gpucc;

Type gpucc::scalarType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType); integer && !integer.isSignless())
    return IntegerType::get(integer.getContext(), integer.getWidth());
  return elementType;
}

Value gpucc::fromAccumulator(OpBuilder &b, Location loc, Value v, Type type) {
  if (v.getType() == type)
    return v;
  if (auto f = dyn_cast<FloatType>(type)) {
    if (f.getWidth() > cast<FloatType>(v.getType()).getWidth())
      return arith::ExtFOp::create(b, loc, type, v);
    return arith::TruncFOp::create(b, loc, type, v);
  }
  return arith::TruncIOp::create(b, loc, type, v);
}

Value gpucc::toAccumulator(OpBuilder &b, Location loc, Value v, bool isUnsigned) {
  Type type = v.getType();
  if (auto f = dyn_cast<FloatType>(type))
    return f.getWidth() >= 32 ? v : Value(arith::ExtFOp::create(b, loc, b.getF32Type(), v));
  unsigned width = cast<IntegerType>(type).getWidth();
  if (width == 1 || width >= 32)
    return v;
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, b.getI32Type(), v);
  return arith::ExtSIOp::create(b, loc, b.getI32Type(), v);
}

kernel::LoopResultKind gpucc::loopKindOf(graph::ReductionKind kind, bool isUnsigned) {
  switch (kind) {
  case graph::ReductionKind::Sum:
    return kernel::LoopResultKind::Add;
  case graph::ReductionKind::Prod:
    return kernel::LoopResultKind::Mul;
  case graph::ReductionKind::Max:
    return isUnsigned ? kernel::LoopResultKind::UMax : kernel::LoopResultKind::Max;
  case graph::ReductionKind::Min:
    return isUnsigned ? kernel::LoopResultKind::UMin : kernel::LoopResultKind::Min;
  case graph::ReductionKind::And:
    return kernel::LoopResultKind::And;
  case graph::ReductionKind::Or:
    return kernel::LoopResultKind::Or;
  }
  llvm_unreachable("every kind returns");
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

SmallVector<unsigned> PointEmitter::pushScope(OpBuilder builder, ValueRange values,
                                              ArrayRef<int64_t> extents) {
  Scope scope{builder, {}, guard, static_cast<unsigned>(variables.size())};
  scopes.push_back(std::move(scope));
  SmallVector<unsigned> numbers;
  for (auto [v, e] : llvm::zip_equal(values, extents)) {
    numbers.push_back(variables.size());
    loopMath.addDim(e);
    variables.push_back(v);
    variableLevels.push_back(scopes.size() - 1);
  }
  return numbers;
}

void PointEmitter::popScope() {
  // Variable numbers are not reused: expressions over them may still be known to callers.
  guard = scopes.back().guard;
  scopes.pop_back();
}

void PointEmitter::guardScope(AffineExpr overVariables, int64_t size) {
  auto range = loopMath.rangeOf(overVariables);
  if (range && range->first >= 0 && range->second < size)
    return;
  unsigned level = levelOfVariables(overVariables);
  OpBuilder &b = scopes[level].builder;
  Value bound = arith::ConstantIndexOp::create(b, location, size);
  Value inside = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult,
                                       indexValue(overVariables, b), bound);
  guard = {guard.condition ? Value(arith::AndIOp::create(b, location, guard.condition, inside))
                           : inside,
           std::max(level, guard.level)};
}

void PointEmitter::bindDim(unsigned dim, AffineExpr overVariables) {
  SmallVector<AffineExpr> same;
  for (unsigned v = 0; v < variables.size(); ++v)
    same.push_back(variable(v));
  dims[dim] = loopMath.substitute(overVariables, same);
}

void PointEmitter::bindDigits(ArrayRef<unsigned> numbers) {
  unsigned d = domain.extents.size();
  for (unsigned n : llvm::reverse(numbers)) {
    AffineExpr rest = variable(n);
    for (int64_t left = loopMath.getExtents()[n]; left > 1 && d > 0;) {
      int64_t extent = domain.extents[--d];
      if (extent == 1)
        continue;
      bindDim(d, left == extent ? rest : rest % extent);
      rest = rest.floorDiv(extent);
      left /= extent;
    }
  }
}

unsigned PointEmitter::levelOfVariables(AffineExpr e) {
  unsigned level = lowestLevel;
  e.walk([&](AffineExpr sub) {
    if (auto d = dyn_cast<AffineDimExpr>(sub))
      level = std::max(level, variableLevels[d.getPosition()]);
    if (auto s = dyn_cast<AffineSymbolExpr>(sub)) {
      const DynamicIndex &index = dynamic[s.getPosition()];
      level = std::max({level, levelOf(index.source), guard.condition ? guard.level : 0});
    }
  });
  return level;
}

unsigned PointEmitter::levelOf(AffineExpr e) { return levelOfVariables(toVariables(e)); }

unsigned PointEmitter::levelOf(ArrayRef<AffineExpr> index) {
  unsigned level = lowestLevel;
  for (AffineExpr e : index)
    level = std::max(level, levelOf(e));
  return level;
}

AffineExpr PointEmitter::toVariables(AffineExpr e) { return loopMath.substitute(e, dims); }

std::vector<const void *> PointEmitter::keyOf(Value value, ArrayRef<AffineExpr> index) const {
  std::vector<const void *> key{value.getAsOpaquePointer(), guard.condition.getAsOpaquePointer()};
  for (AffineExpr e : index)
    key.push_back(e.getAsOpaquePointer());
  return key;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::pair<AffineMap, SmallVector<Value>> PointEmitter::toMap(AffineExpr e) {
  SmallVector<Value> operands;
  SmallVector<AffineExpr> dimReplacements(variables.size(), loopMath.constant(0));
  SmallVector<AffineExpr> symbolReplacements(dynamic.size(), loopMath.constant(0));
  SmallVector<bool> dimUsed(variables.size(), false), symbolUsed(dynamic.size(), false);
  e.walk([&](AffineExpr sub) {
    if (auto d = dyn_cast<AffineDimExpr>(sub))
      dimUsed[d.getPosition()] = true;
    if (auto s = dyn_cast<AffineSymbolExpr>(sub))
      symbolUsed[s.getPosition()] = true;
  });
  for (auto [i, used] : llvm::enumerate(dimUsed))
    if (used) {
      dimReplacements[i] = loopMath.dim(operands.size());
      operands.push_back(variables[i]);
    }
  for (unsigned i = 0; i < symbolUsed.size(); ++i)
    if (symbolUsed[i]) {
      Value v = symbolValue(i);
      symbolReplacements[i] = loopMath.dim(operands.size());
      operands.push_back(v);
    }
  AffineExpr result = e.replaceDimsAndSymbols(dimReplacements, symbolReplacements);
  return {AffineMap::get(operands.size(), 0, result), operands};
}

Value PointEmitter::loadView(Value view, AffineExpr linear, unsigned level) {
  auto [map, operands] = toMap(linear);
  OpBuilder &b = scopes[level].builder;
  // What lies in the view anyhow needs no guard: an index that all lanes share stays a scalar.
  auto type = cast<MemRefType>(view.getType());
  auto range = loopMath.rangeOf(linear);
  bool inside = range && range->first >= 0 && range->second < type.getNumElements();
  Value condition = inside ? Value() : guard.condition, otherwise;
  if (condition)
    otherwise = arith::ConstantOp::create(b, location, b.getZeroAttr(type.getElementType()));
  return kernel::LoadOp::create(b, location, view, map, operands, condition, otherwise);
}

Value PointEmitter::load(Value view, ArrayRef<AffineExpr> index, ArrayRef<int64_t> shape) {
  return loadView(view, toVariables(math.linearize(index, shape)), innermost());
}

void PointEmitter::store(Value scalar, Value view, ArrayRef<AffineExpr> index,
                         ArrayRef<int64_t> shape) {
  auto [map, operands] = toMap(toVariables(math.linearize(index, shape)));
  kernel::StoreOp::create(scopes.back().builder, location, scalar, view, map, operands,
                          guard.condition);
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

void PointEmitter::defineTile(Value value, Value tile, SmallVector<unsigned> at) {
  tiles[value] = {tile, std::move(at)};
}

Value PointEmitter::get(Value value, ArrayRef<AffineExpr> index) {
  if (auto it = defined.find(value); it != defined.end())
    return it->second; // asked for at its own position only (ClusterDomain, rule 3)
  unsigned level = levelOf(index);
  if (guard.condition)
    level = std::max(level, guard.level);
  std::vector<const void *> key = keyOf(value, index);
  if (auto it = scopes[level].known.find(key); it != scopes[level].known.end())
    return it->second;
  Value scalar = compute(value, index, level);
  scopes[level].known[key] = scalar;
  return scalar;
}

Value PointEmitter::compute(Value value, ArrayRef<AffineExpr> index, unsigned level) {
  if (auto tile = tiles.find(value);
      tile != tiles.end() && ArrayRef(domain.positions.lookup(value)) == index) {
    SmallVector<Value> at;
    for (unsigned v : tile->second.at)
      at.push_back(variables[v]);
    OpBuilder &b = scopes[level].builder;
    Value element = kernel::LoadOp::create(b, location, tile->second.tile, at);
    return fromAccumulator(b, location, element, scalarType(getElementTypeOrSelf(value.getType())));
  }
  if (auto view = views.find(value); view != views.end())
    return loadView(view->second, toVariables(math.linearize(index, shapeOf(value))), level);
  Operation *op = value.getDefiningOp();
  Location outer = location;
  location = op->getLoc();
  Value scalar;
  if (roleOf(op) == OpRole::Leaf) {
    scalar = computeLeaf(op, index, level);
  } else if (auto pool = dyn_cast<graph::PoolOp>(op)) {
    scalar = computePool(pool, index);
  } else if (auto grad = dyn_cast<graph::PoolGradOp>(op)) {
    scalar = computePoolGrad(grad, index);
  } else {
    SmallVector<OperandAccess> accesses = accessesOf(op, index, math, dynamic);
    if (isa<ScalarBodyOpInterface>(op)) {
      SmallVector<Value> args;
      for (const OperandAccess &a : accesses)
        args.push_back(get(op->getOperand(a.operand), a.index));
      scalar = cast<ScalarBodyOpInterface>(op)
                   .buildScalarBody(scopes[level].builder, op->getLoc(), args)
                   .front();
    } else if (accesses.size() == 1 && accesses.front().guards.empty()) {
      scalar = get(op->getOperand(accesses.front().operand), accesses.front().index);
    } else {
      scalar = computeGuarded(op, accesses, level);
    }
  }
  location = outer;
  return scalar;
}

//===----------------------------------------------------------------------===//
// Guards: pad and concat
//===----------------------------------------------------------------------===//

Value PointEmitter::underGuard(Value condition, unsigned level, function_ref<Value()> build) {
  Guard outer = guard;
  unsigned joint = std::max(level, outer.level);
  guard = {outer.condition ? Value(arith::AndIOp::create(scopes[joint].builder, location,
                                                         outer.condition, condition))
                           : condition,
           joint};
  Value v = build();
  guard = outer;
  return v;
}

Value PointEmitter::guardValue(ArrayRef<IndexGuard> guards, unsigned &level) {
  level = guard.condition ? guard.level : lowestLevel;
  for (const IndexGuard &g : guards)
    level = std::max(level, levelOf(g.expr));
  OpBuilder &b = scopes[level].builder;
  Value all;
  auto also = [&](Value condition) {
    all = all ? Value(arith::AndIOp::create(b, location, all, condition)) : condition;
  };
  for (const IndexGuard &g : guards) {
    AffineExpr e = toVariables(g.expr);
    auto range = loopMath.rangeOf(e);
    bool inside = range && range->first >= 0 && range->second < g.size;
    if (inside && g.divisor == 1)
      continue;
    Value at = indexValue(e, b);
    if (!inside) // one unsigned comparison: a negative index is a very large one
      also(arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, at,
                                 arith::ConstantIndexOp::create(b, location, g.size)));
    if (g.divisor != 1)
      also(arith::CmpIOp::create(
          b, location, arith::CmpIPredicate::eq,
          arith::RemSIOp::create(b, location, at,
                                 arith::ConstantIndexOp::create(b, location, g.divisor)),
          arith::ConstantIndexOp::create(b, location, 0)));
  }
  return all;
}

Value PointEmitter::computeGuarded(Operation *op, ArrayRef<OperandAccess> accesses,
                                   unsigned level) {
  // The last access holds where no earlier one does: concat's last input, pad's value.
  Value result;
  for (const OperandAccess &a : llvm::reverse(accesses)) {
    Value operand = op->getOperand(a.operand);
    unsigned guardLevel = 0;
    Value condition = guardValue(a.guards, guardLevel);
    if (!condition) {
      result = get(operand, a.index);
      continue;
    }
    Value element = underGuard(condition, guardLevel, [&] { return get(operand, a.index); });
    result = result ? Value(arith::SelectOp::create(scopes[level].builder, location, condition,
                                                    element, result))
                    : element;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value PointEmitter::indexValue(AffineExpr e, OpBuilder &b) {
  if (auto c = dyn_cast<AffineConstantExpr>(e))
    return arith::ConstantIndexOp::create(b, location, c.getValue());
  if (auto d = dyn_cast<AffineDimExpr>(e))
    return variables[d.getPosition()];
  if (auto s = dyn_cast<AffineSymbolExpr>(e))
    return symbolValue(s.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(e);
  Value lhs = indexValue(binary.getLHS(), b), rhs = indexValue(binary.getRHS(), b);
  switch (e.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, location, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, location, lhs, rhs);
  case AffineExprKind::Mod: // of what is not negative (IndexTransfer shifts wrapped indices up)
    return arith::RemUIOp::create(b, location, lhs, rhs);
  default: // exact, or of what is not negative
    return arith::DivSIOp::create(b, location, lhs, rhs);
  }
}

Value PointEmitter::symbolValue(unsigned symbol) {
  AffineExpr e = getAffineSymbolExpr(symbol, math.getContext());
  unsigned level = levelOfVariables(e);
  std::vector<const void *> key = keyOf(Value(), {e});
  auto &known = scopes[level].known;
  if (auto it = known.find(key); it != known.end())
    return it->second;
  DynamicIndex index = dynamic[symbol];
  Value v = computeSymbol(index, scopes[level].builder);
  scopes[level].known[key] = v;
  return v;
}

Value PointEmitter::computeSymbol(const DynamicIndex &index, OpBuilder &b) {
  auto constant = [&](int64_t c) -> Value {
    return arith::ConstantIndexOp::create(b, location, c);
  };
  auto clamp = [&](Value v) -> Value {
    Value low = arith::MaxSIOp::create(b, location, v, constant(0));
    return arith::MinSIOp::create(b, location, low, constant(index.limit - 1));
  };
  // An index may be narrower than i64: what lies far outside is brought near before it is cut.
  auto toIndex = [&](Value v) -> Value {
    if (v.getType().isIndex())
      return v;
    if (auto wide = dyn_cast<IntegerType>(v.getType()); wide && wide.getWidth() > 32) {
      int64_t reach = index.limit + std::abs(index.start);
      auto bound = [&](int64_t c) -> Value {
        return arith::ConstantOp::create(b, location, b.getIntegerAttr(wide, c));
      };
      v = arith::MaxSIOp::create(b, location, v, bound(-reach));
      v = arith::MinSIOp::create(b, location, v, bound(reach));
    }
    return arith::IndexCastOp::create(b, location, b.getIndexType(), v);
  };
  switch (index.kind) {
  case DynamicIndex::Gather: {
    Value at = toIndex(get(index.op->getOperand(index.operand), index.source));
    Value fromEnd = arith::AddIOp::create(b, location, at, constant(index.limit));
    Value negative = arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, at, constant(0));
    return clamp(arith::SelectOp::create(b, location, negative, fromEnd, at));
  }
  case DynamicIndex::Offset: {
    Value at = toIndex(get(index.op->getOperand(index.operand), {}));
    return clamp(arith::AddIOp::create(b, location, at, constant(index.start)));
  }
  case DynamicIndex::Edge:
    return clamp(indexValue(toVariables(index.source.front()), b));
  case DynamicIndex::Reflect: {
    // |i| mirrors below 0; n - 1 - |n - 1 - |i|| mirrors above n - 1.
    auto absolute = [&](Value v) -> Value {
      Value minus = arith::SubIOp::create(b, location, constant(0), v);
      return arith::MaxSIOp::create(b, location, v, minus);
    };
    Value last = constant(index.limit - 1);
    Value at = absolute(indexValue(toVariables(index.source.front()), b));
    Value above = absolute(arith::SubIOp::create(b, location, last, at));
    return clamp(arith::SubIOp::create(b, location, last, above));
  }
  }
  llvm_unreachable("every kind returns");
}
