//===- Memory.cpp - loads and stores of neighbouring points ---------------===//
//
// The stride of the offset from lane to lane decides: 0 a scalar, 1 a vector, anything else a
// gather or scatter. Predicates and the mask of the tail guard memory.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/KernelToLoops/Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::host;
using namespace gpucc::kernel;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//
AffineExpr BodyEmitter::exprOf(Value index) {
  if (auto it = exprs.find(index); it != exprs.end())
    return it->second;
  Value value = values.lookupOrDefault(index);
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getAffineConstantExpr(*constant, b.getContext());
  auto [it, isNew] = dimOf.try_emplace(value, dims.size());
  if (isNew)
    dims.push_back(value);
  return getAffineDimExpr(it->second, b.getContext());
}

BodyEmitter::Address BodyEmitter::address(Value view, AffineMap map, ValueRange indices) {
  SmallVector<AffineExpr> inputs;
  for (Value index : indices)
    inputs.push_back(exprOf(index));
  Address at;
  at.memory = k.memory.lookup(view);
  at.offset =
      getOffsetExpr(map, cast<ShapedType>(view.getType())).replaceDimsAndSymbols(inputs, {});
  at.offset = simplifyOffset(at.offset, dims.size());
  bool perLane = false;
  at.offset.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      perLane |= dim.getPosition() != 0 && isa<VectorType>(dims[dim.getPosition()].getType());
  });
  if (width == 0)
    at.stride = 0;
  else if (!perLane)
    at.stride = getLaneStride(at.offset, width);
  return at;
}

bool BodyEmitter::isUniform(AffineExpr expr) {
  bool uniform = true;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      uniform &= dim.getPosition() != 0 && !isa<VectorType>(dims[dim.getPosition()].getType());
  });
  return uniform;
}

template <typename MakeConstant>
static Value buildBinary(OpBuilder &b, Location loc, AffineExprKind kind, Value x, Value y,
                         MakeConstant constant) {
  switch (kind) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, x, y);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, x, y);
  // Operands are not negative where memory is touched.
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(b, loc, x, y);
  case AffineExprKind::FloorDiv:
    return arith::DivUIOp::create(b, loc, x, y);
  case AffineExprKind::CeilDiv: {
    Value up = arith::AddIOp::create(b, loc, x, arith::SubIOp::create(b, loc, y, constant(1)));
    return arith::DivUIOp::create(b, loc, up, y);
  }
  default:
    llvm_unreachable("not a binary expression");
  }
}

/// The value in lane 0.
Value BodyEmitter::evaluate(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return k.index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return buildBinary(b, k.loc, expr.getKind(), evaluate(binary.getLHS()), evaluate(binary.getRHS()),
                     [&](int64_t v) { return k.index(v); });
}

/// The values in all lanes, as lane indices.
Value BodyEmitter::evaluateLanes(AffineExpr expr) {
  auto type = VectorType::get({width}, k.laneIndex);
  if (isUniform(expr))
    return vector::BroadcastOp::create(b, k.loc, type, toLaneIndex(evaluate(expr)));
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    Value value = dims[dim.getPosition()];
    if (isa<VectorType>(value.getType()))
      return value;
    SmallVector<Attribute> steps;
    for (int64_t i = 0; i < width; ++i)
      steps.push_back(b.getIntegerAttr(k.laneIndex, i));
    Value step = arith::ConstantOp::create(b, k.loc, DenseElementsAttr::get(type, steps));
    Value base = vector::BroadcastOp::create(b, k.loc, type, toLaneIndex(value));
    return arith::AddIOp::create(b, k.loc, base, step);
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(
        b, k.loc, DenseElementsAttr::get(type, b.getIntegerAttr(k.laneIndex, v)));
  };
  return buildBinary(b, k.loc, expr.getKind(), evaluateLanes(binary.getLHS()),
                     evaluateLanes(binary.getRHS()), constant);
}

/// Offsets of the lanes from `origin`, which is set.
Value BodyEmitter::laneOffsets(const Address &at, Value &origin) {
  ++k.gathers;
  auto type = VectorType::get({width}, k.laneIndex);
  if (!at.stride) {
    origin = k.index(0);
    return evaluateLanes(at.offset);
  }
  origin = evaluate(at.offset);
  SmallVector<Attribute> offsets;
  for (int64_t i = 0; i < width; ++i)
    offsets.push_back(b.getIntegerAttr(k.laneIndex, i * *at.stride));
  return arith::ConstantOp::create(b, k.loc, DenseElementsAttr::get(type, offsets));
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//
/// i1 as the byte in memory, and back.
static Value toStorage(OpBuilder &b, Location loc, Value v) {
  if (!getElementTypeOrSelf(v.getType()).isInteger(1))
    return v;
  Type byte = b.getI8Type();
  if (auto type = dyn_cast<VectorType>(v.getType()))
    byte = type.clone(byte);
  return arith::ExtUIOp::create(b, loc, byte, v);
}
static Value fromStorage(OpBuilder &b, Location loc, Value v, Type element) {
  if (!element.isInteger(1))
    return v;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(v.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, zero);
}

/// The tail's mask and a predicate, as vectors; null when all lanes are on.
Value BodyEmitter::combineMasks(Value predicate) {
  if (!predicate)
    return mask;
  Value wide = lanes(predicate);
  return mask ? arith::AndIOp::create(b, k.loc, mask, wide).getResult() : wide;
}

Value BodyEmitter::loadScalar(const Address &at, Type element) {
  Value v = memref::LoadOp::create(b, k.loc, at.memory, ValueRange{evaluate(at.offset)});
  return fromStorage(b, k.loc, v, element);
}

Value BodyEmitter::loadLanes(const Address &at, Type element, Value on, Value otherwise) {
  auto type = VectorType::get({width}, storageType(element));
  Value passThrough;
  if (on)
    passThrough = otherwise ? toStorage(b, k.loc, lanes(otherwise))
                            : arith::ConstantOp::create(b, k.loc, b.getZeroAttr(type)).getResult();
  Value v;
  if (at.stride == 1) {
    SmallVector<Value> offset{evaluate(at.offset)};
    v = on ? vector::MaskedLoadOp::create(b, k.loc, type, at.memory, offset, on, passThrough)
                 .getResult()
           : vector::LoadOp::create(b, k.loc, type, at.memory, offset).getResult();
  } else {
    Value origin, offsets = laneOffsets(at, origin);
    if (!on) {
      on = arith::ConstantOp::create(
          b, k.loc, DenseElementsAttr::get(VectorType::get({width}, b.getI1Type()), true));
      passThrough = arith::ConstantOp::create(b, k.loc, b.getZeroAttr(type));
    }
    v = vector::GatherOp::create(b, k.loc, type, at.memory, ValueRange{origin}, offsets, on,
                                 passThrough);
  }
  return fromStorage(b, k.loc, v, element);
}

/// A branch, not a mask: where the condition is false the address may lie in no page at all, and
/// CPUs take hundreds of cycles to find that no lane wanted it.
Value BodyEmitter::loadLanesIf(Value condition, const Address &at, Type element, Value otherwise) {
  Value rest = lanes(otherwise);
  auto choose = scf::IfOp::create(b, k.loc, rest.getType(), condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choose.thenBlock());
  scf::YieldOp::create(b, k.loc, loadLanes(at, element, mask, otherwise));
  b.setInsertionPointToStart(choose.elseBlock());
  scf::YieldOp::create(b, k.loc, rest);
  return choose.getResult(0);
}

void BodyEmitter::emitLoad(LoadOp op) {
  Address at = address(op.getSource(), op.getMap(), op.getIndices());
  Type element = op.getResult().getType();
  Value predicate = op.getPredicate();
  bool oneAddress = at.stride == 0;
  if (oneAddress && !predicate)
    return define(op.getResult(), loadScalar(at, element), false);
  if (oneAddress && (width == 0 || (!isVarying(predicate) && !isVarying(op.getOtherwise())))) {
    auto choose = scf::IfOp::create(b, k.loc, element, scalar(predicate), /*withElse=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(choose.thenBlock());
      scf::YieldOp::create(b, k.loc, loadScalar(at, element));
      b.setInsertionPointToStart(choose.elseBlock());
      scf::YieldOp::create(b, k.loc, scalar(op.getOtherwise()));
    }
    return define(op.getResult(), choose.getResult(0), false);
  }
  Value loaded = predicate && !isVarying(predicate)
                     ? loadLanesIf(scalar(predicate), at, element, op.getOtherwise())
                     : loadLanes(at, element, combineMasks(predicate), op.getOtherwise());
  define(op.getResult(), loaded, true);
}

void BodyEmitter::prefetch(Block &block, int64_t leastElements) {
  for (LoadOp op : block.getOps<LoadOp>()) {
    auto type = dyn_cast<MemRefType>(op.getSource().getType());
    bool known = llvm::none_of(op.getIndices(), [&](Value index) {
      return index.getDefiningOp() && index.getDefiningOp()->getBlock() == &block;
    });
    if (!type || type.getNumElements() < leastElements || !known || op.getPredicate())
      continue;
    Address at = address(op.getSource(), op.getMap(), op.getIndices());
    if (at.stride == 1)
      memref::PrefetchOp::create(b, k.loc, at.memory, ValueRange{evaluate(at.offset)},
                                 /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
  }
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//
void BodyEmitter::emitStore(StoreOp op) {
  Address at = address(op.getDest(), op.getMap(), op.getIndices());
  Value predicate = op.getPredicate();
  if (at.stride == 0 &&
      (width == 0 || (!isVarying(op.getValue()) && (!predicate || !isVarying(predicate))))) {
    OpBuilder::InsertionGuard guard(b);
    Value value = toStorage(b, k.loc, scalar(op.getValue()));
    Value offset = evaluate(at.offset);
    if (predicate) {
      auto choose = scf::IfOp::create(b, k.loc, scalar(predicate), /*withElse=*/false);
      b.setInsertionPointToStart(choose.thenBlock());
    }
    memref::StoreOp::create(b, k.loc, value, at.memory, ValueRange{offset});
    return;
  }
  Value on = combineMasks(predicate);
  Value value = toStorage(b, k.loc, lanes(op.getValue()));
  if (at.stride == 1) {
    SmallVector<Value> offset{evaluate(at.offset)};
    if (on)
      vector::MaskedStoreOp::create(b, k.loc, at.memory, offset, on, value);
    else
      vector::StoreOp::create(b, k.loc, value, at.memory, offset,
                              k.schedule && k.schedule.getStream());
    return;
  }
  Value origin, offsets = laneOffsets(at, origin);
  if (!on)
    on = arith::ConstantOp::create(
        b, k.loc, DenseElementsAttr::get(VectorType::get({width}, b.getI1Type()), true));
  vector::ScatterOp::create(b, k.loc, /*result=*/Type(), at.memory, ValueRange{origin}, offsets, on,
                            value);
}
