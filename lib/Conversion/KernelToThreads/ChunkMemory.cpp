//===- ChunkMemory.cpp - loads and stores of a chunk ----------------------===//
#include "lib/Conversion/KernelToThreads/Threads.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::threads;
using namespace gpucc::kernel;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//
AffineExpr ChunkEmitter::exprOf(Value index) {
  if (auto it = exprs.find(index); it != exprs.end())
    return it->second;
  Value v = arrays.contains(index) ? value(index) : point->lookupOrDefault(index);
  if (std::optional<int64_t> constant = getConstantIntValue(v))
    return getAffineConstantExpr(*constant, b.getContext());
  auto [it, isNew] = dimOf.try_emplace(v, dims.size());
  if (isNew)
    dims.push_back(v);
  return getAffineDimExpr(it->second, b.getContext());
}

ChunkEmitter::Address ChunkEmitter::address(Value view, AffineMap map, ValueRange indices) {
  SmallVector<AffineExpr> inputs;
  for (Value index : indices)
    inputs.push_back(exprOf(index));
  auto type = cast<ShapedType>(view.getType());
  Address at;
  at.element = type.getElementType();
  if (auto tile = k.tiles.find(view); tile != k.tiles.end()) {
    at.memory = tile->second.memory;
    at.offset = getAffineConstantExpr(0, b.getContext());
    for (auto [expr, stride] : llvm::zip(map.getResults(), tile->second.strides))
      at.offset = at.offset + expr * stride;
  } else {
    at.memory = k.views.lookup(view);
    at.offset = getOffsetExpr(map, type);
  }
  at.offset = simplifyOffset(at.offset.replaceDimsAndSymbols(inputs, {}), dims.size());
  return at;
}

Value ChunkEmitter::evaluate(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return k.index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = evaluate(binary.getLHS()), y = evaluate(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, k.loc, x, y);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, k.loc, x, y);
  // Operands are not negative where memory is touched.
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(b, k.loc, x, y);
  case AffineExprKind::FloorDiv:
    return arith::DivUIOp::create(b, k.loc, x, y);
  default: {
    Value up = k.add(x, arith::SubIOp::create(b, k.loc, y, k.index(1)));
    return arith::DivUIOp::create(b, k.loc, up, y);
  }
  }
}

/// All points of the chunk lie side by side, on an address aligned to all of them.
bool ChunkEmitter::isWide(const Address &at, Value view) {
  if (vec == 1 || pointLimit || !k.views.contains(view) || at.element.isInteger(1))
    return false;
  int64_t bytes = at.element.getIntOrFloatBitWidth() / 8 * vec;
  return getLaneStride(at.offset, vec) == 1 && bytes <= 32 &&
         getLane0Divisor(at.offset, vec) % vec == 0 &&
         k.alignment.lookup(view) % std::min<int64_t>(bytes, 32) == 0;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//
Value ChunkEmitter::loadElement(const Address &at) {
  Value v = memref::LoadOp::create(b, k.loc, at.memory, ValueRange{evaluate(at.offset)});
  if (!at.element.isInteger(1))
    return v;
  Value zero = arith::ConstantOp::create(b, k.loc, b.getZeroAttr(v.getType()));
  return arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::ne, v, zero);
}

Value ChunkEmitter::guarded(Value predicate, Value otherwise, function_ref<Value()> load) {
  if (!predicate)
    return load();
  auto choose = scf::IfOp::create(b, k.loc, otherwise.getType(), predicate, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choose.thenBlock());
  scf::YieldOp::create(b, k.loc, load());
  b.setInsertionPointToStart(choose.elseBlock());
  scf::YieldOp::create(b, k.loc, otherwise);
  return choose.getResult(0);
}

/// Once for all points, or all points at once.
bool ChunkEmitter::hoistLoad(LoadOp load) {
  Value source = load.getSource();
  bool isTile = isa<RankedTensorType>(source.getType());
  if (written.contains(source) || (isTile && !k.tiles.lookup(source).isShared) || pointLimit ||
      !llvm::all_of(load.getIndices(), [&](Value v) { return isKnown(v); }))
    return false;
  Value predicate = load.getPredicate();
  if (predicate && (!isEqualForAll(predicate) || !isEqualForAll(load.getOtherwise())))
    return false;
  Address at = address(source, load.getMap(), load.getIndices());
  if (vec == 1 || getLaneStride(at.offset, vec) == 0) {
    Value v =
        guarded(predicate ? value(predicate) : Value(),
                predicate ? value(load.getOtherwise()) : Value(), [&] { return loadElement(at); });
    chunk.map(load.getResult(), v);
    return true;
  }
  if (predicate || !isWide(at, source))
    return false;
  auto type = VectorType::get({vec}, at.element);
  Value wide = vector::LoadOp::create(b, k.loc, type, at.memory, ValueRange{evaluate(at.offset)});
  Value array = k.array(vec, at.element);
  vector::StoreOp::create(b, k.loc, wide, array, ValueRange{k.index(0)});
  arrays[load.getResult()] = array;
  ++k.statistics.wide;
  return true;
}

void ChunkEmitter::emitLoad(LoadOp load) {
  Value source = load.getSource();
  ++k.statistics.narrow;
  auto tile = k.tiles.find(source);
  if (tile != k.tiles.end() && !tile->second.isShared) {
    Value at = slot ? k.add(tileSlot, slot) : tileSlot;
    Address own{tile->second.memory, AffineExpr(), load.getResult().getType()};
    Value v = memref::LoadOp::create(b, k.loc, own.memory, ValueRange{at});
    if (own.element.isInteger(1))
      v = arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::ne, v,
                                arith::ConstantOp::create(b, k.loc, b.getZeroAttr(v.getType())));
    point->map(load.getResult(), v);
    return;
  }
  Address at = address(source, load.getMap(), load.getIndices());
  Value predicate = load.getPredicate();
  Value v =
      guarded(predicate ? value(predicate) : Value(),
              predicate ? value(load.getOtherwise()) : Value(), [&] { return loadElement(at); });
  point->map(load.getResult(), v);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//
/// Collects the points in an array when they can be written at once.
bool ChunkEmitter::stageStore(StoreOp store) {
  if (store.getPredicate() ||
      !llvm::all_of(store.getIndices(), [&](Value v) { return isKnown(v); }))
    return false;
  Address at = address(store.getDest(), store.getMap(), store.getIndices());
  if (!isWide(at, store.getDest()))
    return false;
  // A body that reads what it wrote must see it.
  bool isRead = false;
  store->getBlock()->walk([&](LoadOp load) { isRead |= load.getSource() == store.getDest(); });
  if (isRead)
    return false;
  Value array = k.array(vec, at.element);
  staged.push_back({store, array});
  stagedOf[store] = array;
  ++k.statistics.wide;
  return true;
}

void ChunkEmitter::emitStore(StoreOp store) {
  Value v = value(store.getValue());
  if (v.getType().isInteger(1))
    v = arith::ExtUIOp::create(b, k.loc, b.getI8Type(), v);
  if (Value array = stagedOf.lookup(store)) {
    memref::StoreOp::create(b, k.loc, v, array, ValueRange{slot});
    return;
  }
  ++k.statistics.narrow;
  Address at = address(store.getDest(), store.getMap(), store.getIndices());
  Value condition = store.getPredicate() ? value(store.getPredicate()) : Value();
  k.when(condition,
         [&] { memref::StoreOp::create(b, k.loc, v, at.memory, ValueRange{evaluate(at.offset)}); });
}

void ChunkEmitter::flushStores() {
  for (auto &[store, array] : staged) {
    Address at = address(store.getDest(), store.getMap(), store.getIndices());
    auto type = VectorType::get({vec}, at.element);
    Value wide = vector::LoadOp::create(b, k.loc, type, array, ValueRange{k.index(0)});
    vector::StoreOp::create(b, k.loc, wide, at.memory, ValueRange{evaluate(at.offset)});
  }
}
