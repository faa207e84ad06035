//===- Points.cpp - loops that reduce nothing -----------------------------===//
//
//   kernel.loop (%i, %c) in (4, 100)      8 lanes, 2 vectors in flight
//   → scf.for %i = 0 to 4 {
//       scf.for %c = 0 to 96 step 16 { body(%c .. +8) ; body(%c+8 .. +8) }
//       body(96 .. +8) under a mask of 4 lanes }
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

void host::makeTiles(HostKernel &k, LoopOp loop) {
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    if (auto tile = dyn_cast<RankedTensorType>(result.getType()))
      k.memory[result] = k.buffer(tile.getNumElements(), tile.getElementType());
}

void host::storeKept(HostKernel &k, LoopOp loop, BodyEmitter &body, Value at, Value mask) {
  for (auto [i, yielded] : llvm::enumerate(loop.getYielded())) {
    if (loop.getKind(i) != LoopResultKind::Keep)
      continue;
    Value v = body.lanes(yielded), tile = k.memory.lookup(loop.getResult(i));
    if (getElementTypeOrSelf(v.getType()).isInteger(1))
      v = arith::ExtUIOp::create(k.b, k.loc, k.vector(k.b.getI8Type()), v);
    if (mask)
      vector::MaskedStoreOp::create(k.b, k.loc, tile, ValueRange{at}, mask, v);
    else
      vector::StoreOp::create(k.b, k.loc, v, tile, ValueRange{at});
  }
}

/// Vectors in flight: more for short bodies, so that latencies overlap; results do not change.
static int64_t chooseUnroll(HostKernel &k, LoopOp loop) {
  if (k.schedule && k.schedule.getUnroll())
    return k.schedule.getUnroll();
  int64_t operations = 0;
  loop.getBody().walk([&](Operation *) { ++operations; });
  return operations <= 12 ? 4 : operations <= 60 ? 2 : 1;
}

/// Runs `vectorAt(linear index, mask)` over [0, count) in steps of the width.
static void strip(HostKernel &k, int64_t count, int64_t unroll,
                  function_ref<void(Value, Value)> vectorAt) {
  int64_t width = k.width, step = width * unroll, main = count / step * step;
  if (main)
    k.forLoop(k.index(0), main, step, [&](Value at) {
      for (int64_t u = 0; u < unroll; ++u)
        vectorAt(k.addConstant(at, u * width), {});
    });
  for (int64_t at = main; at < count; at += width)
    vectorAt(k.index(at), k.maskOfFirst(count - at));
}

void host::emitPoints(HostKernel &k, LoopOp loop) {
  Block &block = loop.getBody().front();
  ArrayRef<int64_t> extents = loop.getExtents();
  int64_t unroll = chooseUnroll(k, loop), points = loop.getPoints();
  // Rows shorter than half a vector are walked as one linear index.
  unsigned outer = 0;
  if (!extents.empty() && (extents.back() * 2 > k.width || points == extents.back()))
    outer = extents.size() - 1;
  SmallVector<Value> outerIndices;
  int64_t inner = 1;
  for (int64_t e : extents.drop_front(outer))
    inner *= e;
  auto vectorAt = [&](Value at, Value mask) {
    BodyEmitter body(k, k.width, at, mask);
    for (auto [arg, index] : llvm::zip(block.getArguments(), outerIndices))
      body.bind(arg, index);
    auto innerArgs = block.getArguments().drop_front(outer);
    for (auto [arg, expr] :
         llvm::zip(innerArgs, delinearize(extents.drop_front(outer), body.dim0())))
      body.bind(arg, expr);
    body.emit(block);
    Value linear = at;
    if (outer) { // tiles are row-major over all dimensions
      Value row = outerIndices[0];
      for (unsigned d = 1; d < outer; ++d)
        row = k.add(arith::MulIOp::create(k.b, k.loc, row, k.index(extents[d])), outerIndices[d]);
      linear = k.add(arith::MulIOp::create(k.b, k.loc, row, k.index(inner)), at);
    }
    storeKept(k, loop, body, linear, mask);
  };
  std::function<void(unsigned)> nest = [&](unsigned d) {
    if (d == outer)
      return strip(k, inner, unroll, vectorAt);
    k.forLoop(k.index(0), extents[d], 1, [&](Value i) {
      outerIndices.push_back(i);
      nest(d + 1);
      outerIndices.pop_back();
    });
  };
  nest(0);
}
