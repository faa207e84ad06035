//===- Loops.cpp - points and rows ----------------------------------------===//
//
// Thread t of T takes chunks t, t + T, t + 2T, ... of `vec` points; accumulator v of the thread is
// residue t * vec + v of the tree, since T * vec is its width.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/KernelToThreads/Passes.h"
#include "lib/Conversion/KernelToThreads/Threads.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::threads;
using namespace gpucc::kernel;

void threads::bindPoints(ChunkEmitter &body, LoopOp loop) {
  for (auto [arg, expr] :
       llvm::zip(loop.getBody().getArguments(), delinearize(loop.getExtents(), body.dim0())))
    body.bind(arg, expr);
}

/// A tile that every reader reads at its own point only stays with the thread.
static bool needsShared(Value tile, LoopOp by) {
  return !llvm::all_of(tile.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    auto at = dyn_cast<LoopOp>(user->getParentOp());
    return load && at && at.getExtents() == by.getExtents() && !at.isInner() &&
           load.getMap().isIdentity() &&
           llvm::equal(load.getIndices(), at.getBody().getArguments());
  });
}

LogicalResult threads::makeTiles(ThreadKernel &k, LoopOp loop) {
  int64_t points = loop.getPoints(), vec = k.mapping.vecOf(points);
  int64_t rounds = llvm::divideCeil(points, k.mapping.threads * vec);
  bool hasColumns = llvm::any_of(llvm::seq<unsigned>(0, loop.getNumResults()),
                                 [&](unsigned i) { return loop.isColumnReduction(i); });
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    Tile tile;
    tile.isShared = hasColumns || needsShared(result, loop);
    if (!tile.isShared) {
      tile.memory = k.array(rounds * vec, storageType(type.getElementType()));
      k.tiles[result] = tile;
      continue;
    }
    SmallVector<int64_t> shape(type.getShape());
    // One more element per row: neighbours in a column lie in different banks.
    if (shape.size() > 1)
      shape.back() += 1;
    int64_t elements = 1;
    tile.strides.assign(shape.size(), 1);
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      tile.strides[d] = elements;
      elements *= shape[d];
    }
    Type storage = storageType(type.getElementType());
    if (elements * storage.getIntOrFloatBitWidth() / 8 > 48 * 1024)
      return loop.emitOpError("result ")
             << i << " needs " << elements * storage.getIntOrFloatBitWidth() / 8
             << " bytes of shared memory and there are 49152; make the tile smaller or compute it "
                "again where it is read";
    tile.memory = k.array(elements, storage, /*isShared=*/true);
    k.tiles[result] = tile;
  }
  return success();
}

/// i1 and unsigned kinds as the device's reductions take them: int, and signed by a flipped top
/// bit.
Value threads::toReduced(OpBuilder &b, Location loc, LoopResultKind kind, Value v) {
  if (v.getType().isInteger(1))
    return arith::ExtUIOp::create(b, loc, b.getI32Type(), v);
  if (kind != LoopResultKind::UMax && kind != LoopResultKind::UMin)
    return v;
  Value top = arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(v.getType(), APInt::getSignedMinValue(v.getType().getIntOrFloatBitWidth())));
  return arith::XOrIOp::create(b, loc, v, top);
}
static Value fromReduced(OpBuilder &b, Location loc, LoopResultKind kind, Value v, Type type) {
  if (type.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v,
                                 arith::ConstantIntOp::create(b, loc, 0, 32));
  return kind == LoopResultKind::UMax || kind == LoopResultKind::UMin ? toReduced(b, loc, kind, v)
                                                                      : v;
}
LoopResultKind threads::reducedKind(LoopResultKind kind) {
  if (kind == LoopResultKind::UMax)
    return LoopResultKind::Max;
  return kind == LoopResultKind::UMin ? LoopResultKind::Min : kind;
}

/// Accumulators of the thread, `vec` per reduced result; null for kept ones.
static SmallVector<Value> makeAccumulators(ThreadKernel &k, LoopOp loop, int64_t vec) {
  SmallVector<Value> arrays(loop.getNumResults());
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    if (loop.getKind(i) == LoopResultKind::Keep)
      continue;
    Type type = result.getType().isInteger(1) ? k.b.getI32Type() : result.getType();
    arrays[i] = k.array(vec, type);
    Value start = buildIdentity(k.b, k.loc, reducedKind(loop.getKind(i)), type);
    for (int64_t v = 0; v < vec; ++v)
      memref::StoreOp::create(k.b, k.loc, start, arrays[i], ValueRange{k.index(v)});
  }
  return arrays;
}

/// One chunk of the thread: points base ...; `first` is its place in register tiles.
static void emitChunk(ThreadKernel &k, LoopOp loop, int64_t vec, Value base, Value first,
                      ArrayRef<Value> accumulators, bool isPartial) {
  ChunkEmitter body(k, vec, base);
  bindPoints(body, loop);
  body.bindTileSlot(first);
  if (isPartial)
    body.limitTo(loop.getPoints());
  body.emit(loop.getBody().front(), [&](Value slot) {
    for (auto [i, yielded] : llvm::enumerate(loop.getYielded())) {
      Value v = body.value(yielded);
      LoopResultKind kind = loop.getKind(i);
      if (kind != LoopResultKind::Keep) {
        v = toReduced(k.b, k.loc, kind, v);
        Value old = memref::LoadOp::create(k.b, k.loc, accumulators[i], ValueRange{slot});
        Value next = buildCombine(k.b, k.loc, reducedKind(kind), old, v);
        memref::StoreOp::create(k.b, k.loc, next, accumulators[i], ValueRange{slot});
        continue;
      }
      if (v.getType().isInteger(1))
        v = arith::ExtUIOp::create(k.b, k.loc, k.b.getI8Type(), v);
      const Tile &tile = k.tiles.find(loop.getResult(i))->second;
      Value at = k.add(first, slot);
      if (tile.isShared) {
        at = k.index(0);
        for (auto [arg, stride] : llvm::zip(loop.getBody().getArguments(), tile.strides))
          at = k.add(at, k.scaled(body.value(arg), stride));
      }
      memref::StoreOp::create(k.b, k.loc, v, tile.memory, ValueRange{at});
    }
  });
}

LogicalResult threads::emitLoop(ThreadKernel &k, LoopOp loop) {
  if (failed(makeTiles(k, loop)))
    return failure();
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (loop.isColumnReduction(i))
      return emitColumns(k, loop);
  int64_t points = loop.getPoints(), vec = k.mapping.vecOf(points), threads = k.mapping.threads;
  int64_t chunks = llvm::divideCeil(points, vec), rounds = llvm::divideCeil(chunks, threads);
  SmallVector<Value> accumulators = makeAccumulators(k, loop, vec);
  {
    OpBuilder::InsertionGuard guard(k.b);
    Value round = k.index(0);
    if (rounds > 1) // register tiles want it unrolled
      round = k.loop(0, rounds, 1, rounds <= 8).getInductionVar();
    Value chunk = k.add(k.scaled(round, threads), k.thread);
    Value base = k.scaled(chunk, vec), first = k.scaled(round, vec);
    Value exists;
    if (chunks % threads)
      exists = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, base, k.index(points));
    // Groups without a program touch no memory (what they would read, another may be writing in
    // place) and bring identities to the reductions.
    if (k.active)
      exists = exists ? arith::AndIOp::create(k.b, k.loc, exists, k.active).getResult() : k.active;
    k.when(exists, [&] { emitChunk(k, loop, vec, base, first, accumulators, points % vec != 0); });
  }
  bool hasShared = llvm::any_of(loop.getResults(), [&](Value r) {
    auto tile = k.tiles.find(r);
    return tile != k.tiles.end() && tile->second.isShared;
  });
  if (hasShared)
    gpu::BarrierOp::create(k.b, k.loc);
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    if (!accumulators[i])
      continue;
    LoopResultKind kind = loop.getKind(i);
    Type type = cast<MemRefType>(accumulators[i].getType()).getElementType();
    Value v = GroupReduceOp::create(
        k.b, k.loc, type, LoopResultKindAttr::get(k.b.getContext(), reducedKind(kind)),
        k.b.getI64IntegerAttr(threads), k.b.getI64IntegerAttr(k.mapping.packed), accumulators[i]);
    k.uniform.map(result, fromReduced(k.b, k.loc, kind, v, result.getType()));
  }
  return success();
}

void threads::emitFlat(ThreadKernel &k, LoopOp loop, Value chunk) {
  int64_t vec = k.mapping.vecOf(loop.getPoints());
  emitChunk(k, loop, vec, k.scaled(chunk, vec), k.index(0), {}, /*isPartial=*/false);
}
