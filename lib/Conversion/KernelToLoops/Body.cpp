//===- Body.cpp - a scalar body for neighbouring points -------------------===//
//
// Values that differ between lanes become vectors; all others stay scalars and
// are broadcast where they meet vectors. Example with 8 lanes:
//
//   %0 = kernel.load %x[%r, %c]      vector.load       : vector<8xf32>
//   %1 = kernel.load %g[%r]          memref.load       : f32
//   %2 = arith.mulf %0, %1 : f32     arith.mulf %0, broadcast %1 : vector<8xf32>
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/KernelToLoops/Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::host;
using namespace gpucc::kernel;

BodyEmitter::BodyEmitter(HostKernel &k, int64_t width, Value base, Value mask)
    : k(k), b(k.b), width(width), mask(mask), values(k.uniform) {
  dims.push_back(base);
}

void BodyEmitter::emit(Block &block) {
  for (Operation &op : block.without_terminator())
    emit(op);
}

void BodyEmitter::emit(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return emitStore(store);
  if (auto loop = dyn_cast<LoopOp>(op))
    return emitInnerLoop(loop);
  emitElementwise(op);
}

void BodyEmitter::define(Value v, Value result, bool isVaryingNow) {
  values.map(v, result);
  if (isVaryingNow)
    varying.insert(v);
}

/// A scalar or vector of any integer as lane indices.
Value BodyEmitter::toLaneIndex(Value v) {
  if (!isa<VectorType>(v.getType()))
    v = arith::IndexCastOp::create(b, k.loc, k.laneIndex, v);
  return v;
}

Value BodyEmitter::lanes(Value v) {
  if (width == 0) {
    auto it = exprs.find(v);
    return it == exprs.end() ? values.lookupOrDefault(v) : evaluate(it->second);
  }
  if (auto it = exprs.find(v); it != exprs.end())
    return evaluateLanes(it->second);
  Value mapped = values.lookupOrDefault(v);
  if (isa<VectorType>(mapped.getType()))
    return mapped;
  if (mapped.getType().isIndex())
    mapped = toLaneIndex(mapped);
  return vector::BroadcastOp::create(b, k.loc, VectorType::get({width}, mapped.getType()), mapped);
}

/// Changes the width of a vector of integers.
static Value resize(OpBuilder &b, Location loc, Value v, Type element, bool isSigned) {
  auto type = VectorType::get(cast<VectorType>(v.getType()).getShape(), element);
  unsigned from = getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth();
  unsigned to = element.getIntOrFloatBitWidth();
  if (from == to)
    return v;
  if (from > to)
    return arith::TruncIOp::create(b, loc, type, v);
  return isSigned ? arith::ExtSIOp::create(b, loc, type, v).getResult()
                  : arith::ExtUIOp::create(b, loc, type, v).getResult();
}

void BodyEmitter::emitElementwise(Operation &op) {
  bool vary = width != 0 && llvm::any_of(op.getOperands(), [&](Value v) { return isVarying(v); });
  if (!vary) {
    // Indices given as expressions are made values here.
    for (Value v : op.getOperands())
      if (auto it = exprs.find(v); it != exprs.end())
        values.map(v, evaluate(it->second));
    b.clone(op, values);
    return;
  }
  auto laneType = [&](Type t) { return t.isIndex() ? k.laneIndex : t; };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Value result = resize(b, k.loc, lanes(op.getOperand(0)), laneType(op.getResult(0).getType()),
                          isa<arith::IndexCastOp>(op));
    return define(op.getResult(0), result, true);
  }
  OperationState state(op.getLoc(), op.getName());
  for (Value v : op.getOperands())
    state.addOperands(lanes(v));
  // Lanes beyond the tail hold zeros: they must not trap.
  if (mask && isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                  arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    auto type = cast<VectorType>(state.operands[1].getType());
    Value one = arith::ConstantOp::create(
        b, k.loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), 1)));
    state.operands[1] = arith::SelectOp::create(b, k.loc, mask, state.operands[1], one);
  }
  for (Type t : op.getResultTypes())
    state.addTypes(VectorType::get({width}, laneType(t)));
  state.addAttributes(op.getAttrs());
  Operation *wide = b.create(state);
  for (auto [old, result] : llvm::zip(op.getResults(), wide->getResults()))
    define(old, result, true);
}

//===----------------------------------------------------------------------===//
// A loop of one point: in order, unrolled when it is small
//===----------------------------------------------------------------------===//
void BodyEmitter::emitInnerLoop(LoopOp loop) {
  Block &body = loop.getBody().front();
  SmallVector<Value> accumulators;
  for (auto [i, type] : llvm::enumerate(loop.getResultTypes()))
    accumulators.push_back(buildIdentity(b, k.loc, loop.getKind(i),
                                         width ? Type(VectorType::get({width}, type)) : type));
  // One point: accumulators in, accumulators out.
  auto point = [&](ValueRange indices, ValueRange before) {
    for (auto [arg, index] : llvm::zip(body.getArguments(), indices))
      values.map(arg, index);
    emit(body);
    SmallVector<Value> after;
    for (auto [i, yielded] : llvm::enumerate(loop.getYielded()))
      after.push_back(buildCombine(b, k.loc, loop.getKind(i), before[i], lanes(yielded)));
    return after;
  };
  int64_t operations = std::distance(body.begin(), body.end());
  if (loop.getPoints() <= 16 && loop.getPoints() * operations <= 128 &&
      body.getOps<LoopOp>().empty()) {
    for (int64_t n = 0; n < loop.getPoints(); ++n) {
      SmallVector<Value> indices;
      int64_t rest = n;
      for (int64_t extent : llvm::reverse(loop.getExtents())) {
        indices.insert(indices.begin(), k.index(rest % extent));
        rest /= extent;
      }
      accumulators = point(indices, accumulators);
    }
  } else {
    SmallVector<Value> indices;
    std::function<SmallVector<Value>(unsigned, ValueRange)> nest =
        [&](unsigned d, ValueRange before) -> SmallVector<Value> {
      if (d == loop.getExtents().size())
        return point(indices, before);
      // Short bodies go four times round per branch, still in order.
      int64_t extent = loop.getExtents()[d];
      bool isLast = d + 1 == loop.getExtents().size();
      int64_t step = isLast && extent % 4 == 0 && operations <= 24 ? 4 : 1;
      auto f = scf::ForOp::create(b, k.loc, k.index(0), k.index(extent), k.index(step), before);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(f.getBody());
      auto after = llvm::to_vector_of<Value>(f.getRegionIterArgs());
      for (int64_t u = 0; u < step; ++u) {
        indices.push_back(k.addConstant(f.getInductionVar(), u));
        after = nest(d + 1, after);
        indices.pop_back();
      }
      if (!after.empty())
        scf::YieldOp::create(b, k.loc, after);
      return llvm::to_vector_of<Value>(f.getResults());
    };
    accumulators = nest(0, accumulators);
  }
  for (auto [result, value] : llvm::zip(loop.getResults(), accumulators))
    define(result, value, width != 0);
}
