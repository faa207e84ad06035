//===- KernelToLoops.cpp - kernels as vector loops for the CPU ------------===//
//
// See Passes.td for an example, Lowering.h for the parts.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/KernelToLoops/Passes.h"
#include "lib/Conversion/KernelToLoops/Lowering.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gpucc {
#define GEN_PASS_DEF_KERNELTOLOOPS
#include "lib/Conversion/KernelToLoops/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::host;
using namespace gpucc::kernel;

//===----------------------------------------------------------------------===//
// HostKernel
//===----------------------------------------------------------------------===//
Value HostKernel::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value HostKernel::buffer(int64_t elements, Type element) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  Value v = memref::AllocaOp::create(b, loc, MemRefType::get({elements}, storageType(element)),
                                     b.getI64IntegerAttr(64));
  entry = b.saveInsertionPoint();
  return v;
}

Value HostKernel::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value HostKernel::addConstant(Value x, int64_t y) { return y ? add(x, index(y)) : x; }

Value HostKernel::maskOfFirst(int64_t count) {
  if (count >= width)
    return {};
  SmallVector<bool> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(i < count);
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(vector(b.getI1Type()), ArrayRef<bool>(lanes)));
}

void HostKernel::forLoop(Value from, int64_t to, int64_t step, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, index(to), index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

LogicalResult host::emitLoop(HostKernel &k, LoopOp loop) {
  makeTiles(k, loop);
  auto kinds = llvm::seq<unsigned>(0, loop.getNumResults());
  if (llvm::all_of(kinds, [&](unsigned i) { return loop.getKind(i) == LoopResultKind::Keep; }))
    emitPoints(k, loop);
  else if (llvm::any_of(kinds, [&](unsigned i) { return loop.isColumnReduction(i); }))
    emitColumns(k, loop);
  else
    emitRows(k, loop);
  return success();
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//
/// affine.apply as arithmetic, so that bodies hold elementwise operations only.
static void expandApplies(FuncOp kernel) {
  kernel.walk([](affine::AffineApplyOp apply) {
    OpBuilder b(apply);
    AffineMap map = apply.getAffineMap();
    ValueRange operands = apply.getMapOperands();
    Value v = affine::expandAffineExpr(b, apply.getLoc(), map.getResult(0),
                                       operands.take_front(map.getNumDims()),
                                       operands.drop_front(map.getNumDims()));
    apply.replaceAllUsesWith(v);
    apply.erase();
  });
}

/// func.func over flat views, begin and end; its body returns at once.
static func::FuncOp declareFunction(OpBuilder &b, FuncOp kernel) {
  SmallVector<Type> types;
  for (Type view : kernel.getArgumentTypes()) {
    auto type = cast<MemRefType>(view);
    types.push_back(
        MemRefType::get({std::max<int64_t>(1, getSpan(type))}, storageType(type.getElementType())));
  }
  types.append(2, b.getI64Type());
  auto func =
      func::FuncOp::create(b, kernel.getLoc(), kernel.getName(), b.getFunctionType(types, {}));
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToStart(entry);
  func::ReturnOp::create(b, kernel.getLoc());
  return func;
}

/// Indices are 32 bits wide unless a view is too big for that.
static Type chooseLaneIndex(FuncOp kernel) {
  int64_t largest = kernel.getProgramCount();
  for (Type view : kernel.getArgumentTypes())
    largest = std::max(largest, getSpan(cast<MemRefType>(view)));
  return IntegerType::get(kernel.getContext(), largest < (int64_t(1) << 31) ? 32 : 64);
}

/// The program's indices from the linear one.
static void bindProgramIndices(HostKernel &k, ProgramOp program, Value linear) {
  ArrayRef<int64_t> extents = program.getExtents();
  for (int64_t d = extents.size() - 1; d >= 0; --d) {
    Value index = linear;
    if (d > 0) {
      index = arith::RemUIOp::create(k.b, k.loc, linear, k.index(extents[d]));
      linear = arith::DivUIOp::create(k.b, k.loc, linear, k.index(extents[d]));
    }
    k.uniform.map(program.getBody().getArgument(d), index);
  }
}

/// Loops by their kind; what stands between them is the same for all points.
static LogicalResult emitProgram(HostKernel &k, ProgramOp program) {
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (auto loop = dyn_cast<LoopOp>(op)) {
      if (failed(emitLoop(k, loop)))
        return failure();
      continue;
    }
    BodyEmitter scalar(k, /*width=*/0, k.index(0), {});
    scalar.emit(op);
    for (Value result : op.getResults())
      k.uniform.map(result, scalar.scalar(result));
  }
  return success();
}

static LogicalResult lower(FuncOp kernel, int64_t width, int64_t &gathers) {
  auto program = dyn_cast_or_null<ProgramOp>(kernel.getComputation());
  if (!program) {
    InFlightDiagnostic diag = kernel.emitOpError("holds a skeleton, which the CPU has no code for");
    diag.attachNote() << "run gpucc-expand-skeletons first";
    return diag;
  }
  expandApplies(kernel);
  OpBuilder b(kernel);
  func::FuncOp func = declareFunction(b, kernel);
  Block &entry = func.getBody().front();
  b.setInsertionPointToStart(&entry);
  HostKernel k(b, kernel.getLoc(), width, kernel.getScheduleAttr(), chooseLaneIndex(kernel));
  for (auto [view, flat] : llvm::zip(kernel.getArguments(), entry.getArguments()))
    k.memory[view] = flat;
  for (Operation &op : kernel.getBody().front())
    if (op.hasTrait<OpTrait::ConstantLike>())
      k.b.clone(op, k.uniform);
  unsigned views = kernel.getNumArguments();
  auto toIndex = [&](unsigned arg) -> Value {
    return arith::IndexCastOp::create(k.b, k.loc, k.b.getIndexType(), entry.getArgument(arg));
  };
  Value begin = toIndex(views), end = toIndex(views + 1);
  auto loop = scf::ForOp::create(k.b, k.loc, begin, end, k.index(1));
  k.entry = OpBuilder::InsertPoint(&entry, entry.begin());
  k.b.setInsertionPointToStart(loop.getBody());
  bindProgramIndices(k, program, loop.getInductionVar());
  if (failed(emitProgram(k, program)))
    return failure();
  gathers += k.gathers;
  kernel.erase();
  return success();
}

namespace {
struct KernelToLoops : gpucc::impl::KernelToLoopsBase<KernelToLoops> {
  using KernelToLoopsBase::KernelToLoopsBase;
  void runOnOperation() override {
    if (width != 4 && width != 8 && width != 16) {
      getOperation().emitError("gpucc-kernel-to-loops: width is ")
          << int64_t(width) << "; it is 4, 8 or 16";
      return signalPassFailure();
    }
    for (FuncOp kernel : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      int64_t gathers = 0;
      if (failed(lower(kernel, width, gathers)))
        return signalPassFailure();
      ++numKernels;
      numGathers += gathers;
    }
  }
};
} // namespace
