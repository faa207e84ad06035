//===- ThreadColumns.cpp - reductions over the leading dimensions ---------===//
//
// The block holds 32 rows of partial results (residue = row mod 32). Strip u of a thread covers
// `each` neighbouring elements of that array from (u * T + thread) * each, so that rows are read in
// whole vectors:
//
//   32 columns, 256 threads: each = 4, 1 strip: thread 9 owns residue 1, columns 4..7
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

/// From what the device reduced (signed numbers for unsigned ones, ints for i1) into the tile;
/// behind the reduction's barrier, and in front of one of its own.
static void restoreType(ThreadKernel &k, LoopResultKind kind, Type type, int64_t columns,
                        Value reduced, Value tile) {
  OpBuilder &b = k.b;
  for (int64_t base = 0; base < columns; base += k.mapping.threads) {
    Value column = k.addConstant(k.thread, base);
    Value exists =
        arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::slt, column, k.index(columns));
    k.when(exists, [&] {
      Value v = memref::LoadOp::create(b, k.loc, reduced, ValueRange{column});
      if (type.isInteger(1)) {
        Value zero = arith::ConstantIntOp::create(b, k.loc, 0, 32);
        v = arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::ne, v, zero);
        v = arith::ExtUIOp::create(b, k.loc, b.getI8Type(), v);
      } else {
        v = toReduced(b, k.loc, kind, v);
      }
      memref::StoreOp::create(b, k.loc, v, tile, ValueRange{column});
    });
  }
  gpu::BarrierOp::create(b, k.loc);
}

LogicalResult threads::emitColumns(ThreadKernel &k, LoopOp loop) {
  OpBuilder &b = k.b;
  int64_t columns = loop.getExtents().back(), rows = loop.getPoints() / columns;
  int64_t threads = k.mapping.threads, held = columnTreeWidth * columns / threads;
  if (columnTreeWidth * columns % threads || held > 64)
    return loop.emitOpError("reduces ")
           << columns << " columns side by side, which " << threads
           << " threads cannot share; tile them: up to 512 columns, a multiple of "
           << std::max<int64_t>(1, threads / columnTreeWidth);
  int64_t each = k.mapping.vec;
  while (columns % each || held % each)
    each /= 2;
  int64_t strips = held / each;

  SmallVector<Value> accumulators(loop.getNumResults());
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (!loop.isColumnReduction(i))
      continue;
    Type type = cast<RankedTensorType>(loop.getResult(i).getType()).getElementType();
    if (type.isInteger(1))
      type = b.getI32Type();
    accumulators[i] = k.array(held, type);
    Value start = buildIdentity(b, k.loc, reducedKind(loop.getKind(i)), type);
    for (int64_t v = 0; v < held; ++v)
      memref::StoreOp::create(b, k.loc, start, accumulators[i], ValueRange{k.index(v)});
  }
  {
    OpBuilder::InsertionGuard guard(b);
    int64_t rounds = llvm::divideCeil(rows, columnTreeWidth);
    Value round = k.index(0);
    if (rounds > 1)
      round = k.loop(0, rounds, 1, /*unroll=*/rounds <= 4).getInductionVar();
    for (int64_t u = 0; u < strips; ++u) {
      Value flat = k.scaled(k.addConstant(k.thread, u * threads), each);
      Value residue = arith::DivUIOp::create(b, k.loc, flat, k.index(columns));
      Value column = arith::RemUIOp::create(b, k.loc, flat, k.index(columns));
      Value row = k.add(k.scaled(round, columnTreeWidth), residue);
      Value exists;
      if (rows % columnTreeWidth)
        exists = arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::slt, row, k.index(rows));
      k.when(exists, [&] {
        ChunkEmitter body(k, each, column);
        SmallVector<Value> leading;
        Value rest = row;
        ArrayRef<int64_t> extents = loop.getExtents().drop_back();
        for (int64_t d = extents.size() - 1; d >= 0; --d) {
          Value at =
              d ? arith::RemUIOp::create(b, k.loc, rest, k.index(extents[d])).getResult() : rest;
          rest = d ? arith::DivUIOp::create(b, k.loc, rest, k.index(extents[d])).getResult() : rest;
          leading.insert(leading.begin(), at);
        }
        auto args = loop.getBody().getArguments();
        for (auto [arg, at] : llvm::zip(args.drop_back(), leading))
          body.bind(arg, at);
        body.bind(args.back(), body.dim0());
        body.emit(loop.getBody().front(), [&](Value slot) {
          Value at = k.addConstant(slot, u * each);
          for (auto [i, yielded] : llvm::enumerate(loop.getYielded())) {
            Value v = body.value(yielded);
            if (accumulators[i]) {
              Value old = memref::LoadOp::create(b, k.loc, accumulators[i], ValueRange{at});
              v = buildCombine(b, k.loc, reducedKind(loop.getKind(i)), old,
                               toReduced(b, k.loc, loop.getKind(i), v));
              memref::StoreOp::create(b, k.loc, v, accumulators[i], ValueRange{at});
              continue;
            }
            if (v.getType().isInteger(1))
              v = arith::ExtUIOp::create(b, k.loc, b.getI8Type(), v);
            const Tile &tile = k.tiles.find(loop.getResult(i))->second;
            Value place = k.index(0);
            for (auto [arg, stride] : llvm::zip(args, tile.strides))
              place = k.add(place, k.scaled(body.value(arg), stride));
            memref::StoreOp::create(b, k.loc, v, tile.memory, ValueRange{place});
          }
        });
      });
    }
  }
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (!accumulators[i])
      continue;
    LoopResultKind kind = loop.getKind(i);
    Type type = cast<RankedTensorType>(loop.getResult(i).getType()).getElementType();
    Value tile = k.tiles.find(loop.getResult(i))->second.memory, reduced = tile;
    if (type.isInteger(1))
      reduced = k.array(columns, b.getI32Type(), /*isShared=*/true);
    GroupReduceToOp::create(b, k.loc, LoopResultKindAttr::get(b.getContext(), reducedKind(kind)),
                            b.getI64IntegerAttr(threads), b.getI64IntegerAttr(columns),
                            b.getI64IntegerAttr(strips), accumulators[i], reduced);
    if (reduced != tile || reducedKind(kind) != kind)
      restoreType(k, kind, type, columns, reduced, tile);
  }
  return success(); // the reduction ends in a barrier
}
