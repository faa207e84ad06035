//===- PackedNibbles.cpp - i4 as halves of bytes --------------------------===//
//
//   %0 = load %x[%i] : memref<9xi4>      %b = load %x[%i floordiv 2] : memref<5xi8>
//                                        %0 = %i mod 2 == 0 ? %b & 15 : %b >> 4
//
// A store changes half a byte, so that neighbours cannot run side by side: its loop and its
// programs become one inner loop, which runs in order. Quantized weights are only read, so this is
// rare.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Kernel/PackedNibbles.h"

#include "dialects/Kernel/Access.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::kernel;

namespace {

bool isNibble(Type type) { return type.isInteger(4); }
bool holdsNibbles(Value view) {
  auto type = dyn_cast<ShapedType>(view.getType());
  return type && isNibble(type.getElementType());
}

Value byteConstant(OpBuilder &b, Location loc, int64_t v) {
  return arith::ConstantIntOp::create(b, loc, v, 8);
}

/// Makes the kernel one program that walks all points in order.
LogicalResult makeSequential(FuncOp kernel) {
  auto program = dyn_cast<ProgramOp>(kernel.getComputation());
  auto loops =
      program ? llvm::to_vector(program.getBody().front().getOps<LoopOp>()) : SmallVector<LoopOp>();
  bool others = program && llvm::any_of(program.getBody().front().without_terminator(),
                                        [](Operation &op) { return isa<StoreOp>(op); });
  if (loops.size() != 1 || loops[0].getNumResults() || others)
    return kernel.emitOpError("stores i4 elements, two of which share a byte, and is not one loop "
                              "without results; store i8 instead");
  LoopOp loop = loops[0];
  SmallVector<int64_t> extents(program.getExtents());
  llvm::append_range(extents, loop.getExtents());
  OpBuilder b(program);
  auto inner = [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
    unsigned outer = program.getExtents().size();
    IRMapping map;
    map.map(program.getBody().getArguments(), at.take_front(outer));
    map.map(loop.getBody().getArguments(), at.drop_front(outer));
    for (Operation &op : program.getBody().front().without_terminator())
      if (&op != loop)
        b.clone(op, map);
    for (Operation &op : loop.getBody().front().without_terminator())
      b.clone(op, map);
    return {};
  };
  ArrayRef<LoopResultKind> noKinds;
  ArrayRef<Type> noTypes;
  ProgramOp::create(b, program.getLoc(), ArrayRef<int64_t>(),
                    [&](OpBuilder &b, Location loc, ValueRange) {
                      LoopOp::create(b, loc, int64_t(1), noKinds, noTypes,
                                     [&](OpBuilder &b, Location loc, ValueRange) {
                                       LoopOp::create(b, loc, extents, noKinds, noTypes, inner);
                                       return SmallVector<Value>();
                                     });
                    });
  program.erase();
  return success();
}

class Packer {
public:
  explicit Packer(FuncOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    kernel.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(rewrite(op)))
        return failure();
    retypeViews();
    return success();
  }

private:
  /// The byte of an element, and whether the element is its low half.
  struct Place {
    AffineMap byte;
    Value isLow;
  };
  Place placeOf(OpBuilder &b, Location loc, Value view, AffineMap map, ValueRange indices) {
    AffineExpr offset = getOffsetExpr(map, cast<ShapedType>(view.getType()));
    unsigned inputs = indices.size();
    Value parity =
        affine::AffineApplyOp::create(b, loc, AffineMap::get(inputs, 0, offset % 2), indices);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value isLow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, parity, zero);
    return {AffineMap::get(inputs, 0, offset.floorDiv(2)), isLow};
  }

  /// kernel.load with the packed view's type; views are retyped at the end.
  Value loadByte(OpBuilder &b, Location loc, Value view, const Place &place, ValueRange indices,
                 Value predicate) {
    Value otherwise = predicate ? byteConstant(b, loc, 0) : Value();
    Value byte = LoadOp::create(b, loc, view, place.byte, indices, predicate, otherwise);
    byte.setType(b.getI8Type());
    return byte;
  }

  void rewriteLoad(LoadOp load) {
    OpBuilder b(load);
    Location loc = load.getLoc();
    Place place = placeOf(b, loc, load.getSource(), load.getMap(), load.getIndices());
    Value byte = loadByte(b, loc, load.getSource(), place, load.getIndices(), load.getPredicate());
    Value low = arith::AndIOp::create(b, loc, byte, byteConstant(b, loc, 15));
    Value high = arith::ShRUIOp::create(b, loc, byte, byteConstant(b, loc, 4));
    Value v = arith::SelectOp::create(b, loc, place.isLow, low, high);
    if (load.getPredicate())
      v = arith::SelectOp::create(b, loc, load.getPredicate(), v,
                                  values.lookup(load.getOtherwise()));
    values.map(load.getResult(), v);
    dead.push_back(load);
  }

  void rewriteStore(StoreOp store) {
    OpBuilder b(store);
    Location loc = store.getLoc();
    Place place = placeOf(b, loc, store.getDest(), store.getMap(), store.getIndices());
    Value old = loadByte(b, loc, store.getDest(), place, store.getIndices(), store.getPredicate());
    Value v = values.lookup(store.getValue());
    Value asLow = arith::OrIOp::create(
        b, loc, arith::AndIOp::create(b, loc, old, byteConstant(b, loc, -16)), v);
    Value asHigh =
        arith::OrIOp::create(b, loc, arith::AndIOp::create(b, loc, old, byteConstant(b, loc, 15)),
                             arith::ShLIOp::create(b, loc, v, byteConstant(b, loc, 4)));
    Value byte = arith::SelectOp::create(b, loc, place.isLow, asLow, asHigh);
    StoreOp::create(b, loc, byte, store.getDest(), place.byte, store.getIndices(),
                    store.getPredicate());
    dead.push_back(store);
  }

  /// The number as i8, with its sign.
  Value extended(OpBuilder &b, Location loc, Value v, bool isSigned) {
    Value x = values.lookup(v);
    if (!isSigned)
      return x;
    Value four = byteConstant(b, loc, 4);
    return arith::ShRSIOp::create(b, loc, arith::ShLIOp::create(b, loc, x, four), four);
  }

  LogicalResult rewrite(Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op); load && holdsNibbles(load.getSource()))
      return rewriteLoad(load), success();
    if (auto store = dyn_cast<StoreOp>(op); store && holdsNibbles(store.getDest()))
      return rewriteStore(store), success();
    bool takes = llvm::any_of(op->getOperandTypes(), isNibble);
    bool makes = llvm::any_of(op->getResultTypes(), isNibble);
    if (!takes && !makes)
      return success();
    OpBuilder b(op);
    Location loc = op->getLoc();
    dead.push_back(op);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      int64_t v = cast<IntegerAttr>(constant.getValue()).getValue().getZExtValue();
      return values.map(op->getResult(0), byteConstant(b, loc, v)), success();
    }
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      Value v = arith::SelectOp::create(b, loc, select.getCondition(),
                                        values.lookup(select.getTrueValue()),
                                        values.lookup(select.getFalseValue()));
      return values.map(op->getResult(0), v), success();
    }
    if (takes && isa<arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp>(op)) {
      Value x = extended(b, loc, op->getOperand(0), isa<arith::ExtSIOp, arith::SIToFPOp>(op));
      Type to = op->getResult(0).getType();
      Value v = x;
      if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
        v = arith::SIToFPOp::create(b, loc, to, x);
      else if (!to.isInteger(8))
        v = isa<arith::ExtSIOp>(op) ? arith::ExtSIOp::create(b, loc, to, x).getResult()
                                    : arith::ExtUIOp::create(b, loc, to, x).getResult();
      op->getResult(0).replaceAllUsesWith(v);
      return success();
    }
    if (makes && isa<arith::TruncIOp, arith::FPToSIOp, arith::FPToUIOp>(op)) {
      Value x = op->getOperand(0);
      if (isa<FloatType>(x.getType()))
        x = arith::FPToSIOp::create(b, loc, b.getI32Type(), x);
      if (!x.getType().isInteger(8))
        x = arith::TruncIOp::create(b, loc, b.getI8Type(), x);
      Value v = arith::AndIOp::create(b, loc, x, byteConstant(b, loc, 15));
      return values.map(op->getResult(0), v), success();
    }
    return op->emitOpError("computes with i4; convert to i8 before and back after");
  }

  void retypeViews() {
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    for (BlockArgument view : kernel.getArguments()) {
      if (!holdsNibbles(view))
        continue;
      int64_t bytes = llvm::divideCeil(getSpan(cast<ShapedType>(view.getType())), 2);
      view.setType(
          MemRefType::get({std::max<int64_t>(bytes, 1)}, IntegerType::get(view.getContext(), 8)));
    }
    SmallVector<Type> views(kernel.getBody().getArgumentTypes());
    kernel.setFunctionType(FunctionType::get(kernel.getContext(), views, {}));
  }

  FuncOp kernel;
  IRMapping values; ///< i4 → i8 below 16
  SmallVector<Operation *> dead;
};

} // namespace

LogicalResult gpucc::storeNibblesPacked(FuncOp kernel) {
  if (llvm::none_of(kernel.getArguments(), holdsNibbles))
    return success();
  bool stores = false;
  kernel.walk([&](StoreOp store) { stores |= holdsNibbles(store.getDest()); });
  if (stores && failed(makeSequential(kernel)))
    return failure();
  return Packer(kernel).run();
}
