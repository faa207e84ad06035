//===- Chunk.cpp - a scalar body for neighbouring points of a thread ------===//
//
//   body:  %0 = load %x[%r, %c] ; %1 = load %s[%r] ; %2 = mulf %0, %1 ; store %2, %y[%r, %c]
//   chunk of 4 points from n:
//          %1 once ; t[0..3] = wide load %x ; for v: o[v] = t[v] * %1 ; wide store o → %y
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/KernelToThreads/Passes.h"
#include "lib/Conversion/KernelToThreads/Threads.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::threads;
using namespace gpucc::kernel;

ChunkEmitter::ChunkEmitter(ThreadKernel &k, int64_t vec, Value base)
    : k(k), b(k.b), vec(vec), base(base), chunk(k.uniform), point(&chunk) {
  dims.push_back(base);
}

/// Known before the loop over the points.
bool ChunkEmitter::isKnown(Value v) {
  if (arrays.contains(v))
    return false;
  if (exprs.contains(v) || chunk.contains(v))
    return true;
  return false;
}

/// Known, and the same at every point of the chunk.
bool ChunkEmitter::isEqualForAll(Value v) {
  if (auto it = exprs.find(v); it != exprs.end())
    return vec == 1 || getLaneStride(it->second, vec) == 0;
  return isKnown(v);
}

Value ChunkEmitter::value(Value v) {
  if (auto it = exprs.find(v); it != exprs.end())
    return evaluate(it->second);
  if (auto it = arrays.find(v); it != arrays.end())
    return memref::LoadOp::create(b, k.loc, it->second, ValueRange{slot ? slot : k.index(0)});
  return point->lookupOrDefault(v);
}

void ChunkEmitter::emit(Block &block, function_ref<void(Value)> perPoint) {
  block.walk([&](StoreOp store) { written.insert(store.getDest()); });
  SmallVector<Operation *> rest;
  for (Operation &op : block.without_terminator())
    if (!hoist(op))
      rest.push_back(&op);

  if (vec > 1) {
    scf::ForOp points = k.loop(0, vec, 1, /*unroll=*/true);
    slot = points.getInductionVar();
    dims[0] = k.add(base, slot);
  }
  scf::IfOp inside;
  if (pointLimit) {
    Value exists =
        arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::slt, dims[0], k.index(pointLimit));
    inside = scf::IfOp::create(b, k.loc, exists, /*withElse=*/false);
    b.setInsertionPointToStart(inside.thenBlock());
  }
  pointValues = chunk;
  point = &pointValues;
  for (Operation *op : rest)
    emitPoint(*op);
  perPoint(slot ? slot : k.index(0));
  if (inside)
    b.setInsertionPointAfter(inside);
  if (vec > 1)
    b.setInsertionPointAfter(slot.getParentBlock()->getParentOp());
  point = &chunk;
  slot = Value();
  dims[0] = base;
  flushStores();
}

void ChunkEmitter::emitUniform(Operation &op) {
  emitPoint(op);
  for (Value result : op.getResults())
    k.uniform.map(result, value(result));
}

/// Emits in front of the points what can stand there.
bool ChunkEmitter::hoist(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return hoistLoad(load);
  if (auto store = dyn_cast<StoreOp>(op)) {
    stageStore(store);
    return false;
  }
  // With a limit, base may be beyond it; pure arithmetic does no harm.
  if (op.getNumRegions() || !isPure(&op) ||
      !llvm::all_of(op.getOperands(), [&](Value v) { return isEqualForAll(v); }))
    return false;
  IRMapping operands = chunk;
  for (Value v : op.getOperands())
    if (exprs.contains(v))
      operands.map(v, value(v));
  Operation *copy = b.clone(op, operands);
  for (auto [old, result] : llvm::zip(op.getResults(), copy->getResults()))
    chunk.map(old, result);
  return true;
}

void ChunkEmitter::emitPoint(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return emitStore(store);
  if (auto loop = dyn_cast<LoopOp>(op))
    return emitInnerLoop(loop);
  IRMapping operands;
  for (Value v : op.getOperands())
    operands.map(v, value(v));
  Operation *copy = b.clone(op, operands);
  for (auto [old, result] : llvm::zip(op.getResults(), copy->getResults()))
    point->map(old, result);
}

/// A loop of one point: in order, from the identity.
void ChunkEmitter::emitInnerLoop(LoopOp loop) {
  Block &body = loop.getBody().front();
  SmallVector<Value> start;
  for (auto [i, type] : llvm::enumerate(loop.getResultTypes()))
    start.push_back(buildIdentity(b, k.loc, loop.getKind(i), type));
  bool unroll = loop.getPoints() <= 16;
  std::function<SmallVector<Value>(unsigned, ValueRange)> nest =
      [&](unsigned d, ValueRange before) -> SmallVector<Value> {
    if (d == loop.getExtents().size()) {
      for (Operation &op : body.without_terminator())
        emitPoint(op);
      SmallVector<Value> after;
      for (auto [i, yielded] : llvm::enumerate(loop.getYielded()))
        after.push_back(buildCombine(b, k.loc, loop.getKind(i), before[i], value(yielded)));
      return after;
    }
    auto f =
        scf::ForOp::create(b, k.loc, k.index(0), k.index(loop.getExtents()[d]), k.index(1), before);
    f->setAttr(unrollAttr, b.getBoolAttr(unroll));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(f.getBody());
    point->map(body.getArgument(d), f.getInductionVar());
    SmallVector<Value> after = nest(d + 1, f.getRegionIterArgs());
    if (!after.empty())
      scf::YieldOp::create(b, k.loc, after);
    return llvm::to_vector_of<Value>(f.getResults());
  };
  SmallVector<Value> results = nest(0, start);
  for (auto [old, result] : llvm::zip(loop.getResults(), results))
    point->map(old, result);
}
