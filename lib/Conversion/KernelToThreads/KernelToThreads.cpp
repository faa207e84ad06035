//===- KernelToThreads.cpp - kernels as CUDA threads ----------------------===//
//
// See Passes.td for an example, Threads.h for the parts.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/KernelToThreads/Passes.h"
#include "lib/Conversion/KernelToThreads/Threads.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gpucc {
#define GEN_PASS_DEF_KERNELTOTHREADS
#include "lib/Conversion/KernelToThreads/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::threads;
using namespace gpucc::kernel;

//===----------------------------------------------------------------------===//
// ThreadKernel
//===----------------------------------------------------------------------===//
Value ThreadKernel::index(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }

Value ThreadKernel::add(Value x, Value y) {
  if (getConstantIntValue(x) == 0)
    return y;
  if (getConstantIntValue(y) == 0)
    return x;
  return arith::AddIOp::create(b, loc, x, y);
}
Value ThreadKernel::addConstant(Value x, int64_t v) { return v ? add(x, index(v)) : x; }

Value ThreadKernel::scaled(Value x, int64_t factor) {
  if (factor == 1 || getConstantIntValue(x) == 0)
    return x;
  return arith::MulIOp::create(b, loc, x, index(factor));
}

Value ThreadKernel::array(int64_t elements, Type element, bool isShared) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  Attribute space;
  if (isShared)
    space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({elements}, element, MemRefLayoutAttrInterface(), space);
  Value v = memref::AllocaOp::create(b, loc, type, b.getI64IntegerAttr(16));
  entry = b.saveInsertionPoint();
  return v;
}

void ThreadKernel::openEntry() {
  Operation *first = index(0).getDefiningOp();
  entry = OpBuilder::InsertPoint(first->getBlock(), first->getIterator());
}

scf::ForOp ThreadKernel::loop(int64_t from, int64_t to, int64_t step, bool unroll) {
  auto f = scf::ForOp::create(b, loc, index(from), index(to), index(step));
  f->setAttr(unrollAttr, b.getBoolAttr(unroll));
  b.setInsertionPointToStart(f.getBody());
  return f;
}

void ThreadKernel::when(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto f = scf::IfOp::create(b, loc, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(f.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//
namespace {

class Lowering {
public:
  Lowering(FuncOp kernel, Statistics &statistics) : kernel(kernel), statistics(statistics) {}

  LogicalResult run() {
    expandApplies();
    Operation *computation = kernel.getComputation();
    program = dyn_cast<ProgramOp>(computation);
    Mapping mapping;
    if (program) {
      FailureOr<Mapping> chosen = chooseMapping(kernel, program);
      if (failed(chosen))
        return failure();
      mapping = *chosen;
    }
    OpBuilder b(kernel);
    declareFunction(b);
    ThreadKernel k(b, kernel.getLoc(), mapping, statistics);
    bindViews(k);
    if (!program) {
      if (failed(emitSkeleton(k, computation, func)))
        return failure();
    } else if (failed(mapping.flat ? emitFlatProgram(k) : emitProgram(k))) {
      return failure();
    }
    kernel.erase();
    return success();
  }

private:
  /// affine.apply as arithmetic.
  void expandApplies() {
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

  void declareFunction(OpBuilder &b) {
    SmallVector<Type> types;
    int64_t largest = kernel.getProgramCount();
    for (Type view : kernel.getArgumentTypes()) {
      auto type = cast<MemRefType>(view);
      largest = std::max(largest, getSpan(type));
      types.push_back(MemRefType::get({std::max<int64_t>(1, getSpan(type))},
                                      storageType(type.getElementType())));
    }
    func = func::FuncOp::create(b, kernel.getLoc(), kernel.getName(), b.getFunctionType(types, {}));
    for (unsigned i = 0; i < types.size(); ++i)
      if (!kernel.getViewName(i).empty())
        func.setArgAttr(i, viewNameAttr, b.getStringAttr(kernel.getViewName(i)));
    if (largest >= (int64_t(1) << 31))
      func->setAttr(wideIndexAttr, b.getUnitAttr());
    Block *entry = func.addEntryBlock();
    b.setInsertionPointToStart(entry);
    func::ReturnOp::create(b, kernel.getLoc());
    b.setInsertionPointToStart(entry);
  }

  void bindViews(ThreadKernel &k) {
    Block &entry = func.getBody().front();
    k.openEntry();
    for (auto [i, view] : llvm::enumerate(kernel.getArguments())) {
      k.views[view] = entry.getArgument(i);
      auto align = kernel.getArgAttrOfType<IntegerAttr>(i, viewAlignAttr);
      k.alignment[view] = align ? align.getInt() : defaultViewAlignment;
    }
    for (Operation &op : kernel.getBody().front())
      if (op.hasTrait<OpTrait::ConstantLike>())
        k.b.clone(op, k.uniform);
  }

  void setLaunch(ThreadKernel &k, int64_t grid, int64_t block) {
    func->setAttr(gridAttr, k.b.getDenseI64ArrayAttr({grid, 1, 1}));
    func->setAttr(blockAttr, k.b.getDenseI64ArrayAttr({block, 1, 1}));
  }

  Value compareLess(ThreadKernel &k, Value x, int64_t limit) {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, x, k.index(limit));
  }

  /// The program's indices from the linear one.
  void bindProgram(ThreadKernel &k, Value linear) {
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

  /// What stands between loops is the same for the whole program.
  void emitUniform(ThreadKernel &k, Operation &op) {
    if (auto store = dyn_cast<StoreOp>(op)) { // by one thread
      Value first =
          arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, k.thread, k.index(0));
      if (k.active)
        first = arith::AndIOp::create(k.b, k.loc, first, k.active);
      k.when(first, [&] { emitSingle(k, op); });
      return;
    }
    emitSingle(k, op);
  }

  void emitSingle(ThreadKernel &k, Operation &op) {
    if (auto load = dyn_cast<LoadOp>(op); load && k.active) { // the program exists, or zero
      auto choose = scf::IfOp::create(k.b, k.loc, load.getType(), k.active, /*withElse=*/true);
      {
        OpBuilder::InsertionGuard guard(k.b);
        k.b.setInsertionPointToStart(choose.thenBlock());
        ChunkEmitter(k, 1, k.index(0)).emitUniform(op);
        scf::YieldOp::create(k.b, k.loc, k.uniform.lookup(load.getResult()));
        k.b.setInsertionPointToStart(choose.elseBlock());
        Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(load.getType()));
        scf::YieldOp::create(k.b, k.loc, zero);
      }
      k.uniform.map(load.getResult(), choose.getResult(0));
      return;
    }
    ChunkEmitter single(k, 1, k.index(0));
    single.emitUniform(op);
  }

  LogicalResult emitProgram(ThreadKernel &k) {
    const Mapping &m = k.mapping;
    int64_t programs = kernel.getProgramCount(), groups = llvm::divideCeil(programs, m.packed);
    setLaunch(k, groups, m.threads * m.packed);
    Value thread = gpu::ThreadIdOp::create(k.b, k.loc, gpu::Dimension::x);
    Value linear = gpu::BlockIdOp::create(k.b, k.loc, gpu::Dimension::x);
    k.thread = thread;
    if (m.packed > 1) {
      k.thread = arith::RemUIOp::create(k.b, k.loc, thread, k.index(m.threads));
      Value within = arith::DivUIOp::create(k.b, k.loc, thread, k.index(m.threads));
      linear = k.add(k.scaled(linear, m.packed), within);
      if (programs % m.packed) {
        // Groups without a program count as the last one and touch no memory: all threads
        // meet in reductions.
        k.active = compareLess(k, linear, programs);
        linear = arith::SelectOp::create(k.b, k.loc, k.active, linear, k.index(programs - 1));
      }
    }
    bindProgram(k, linear);
    for (Operation &op : program.getBody().front().without_terminator()) {
      if (auto loop = dyn_cast<LoopOp>(op)) {
        if (failed(emitLoop(k, loop)))
          return failure();
      } else {
        emitUniform(k, op);
      }
    }
    return success();
  }

  LogicalResult emitFlatProgram(ThreadKernel &k) {
    auto loop = *program.getBody().front().getOps<LoopOp>().begin();
    int64_t chunks = loop.getPoints() / k.mapping.vecOf(loop.getPoints());
    int64_t total = kernel.getProgramCount() * chunks, threads = k.mapping.threads;
    setLaunch(k, llvm::divideCeil(total, threads), threads);
    Value thread = gpu::ThreadIdOp::create(k.b, k.loc, gpu::Dimension::x);
    Value block = gpu::BlockIdOp::create(k.b, k.loc, gpu::Dimension::x);
    Value id = k.add(k.scaled(block, threads), thread);
    k.thread = thread;
    Value exists = total % threads ? compareLess(k, id, total) : Value();
    k.when(exists, [&] {
      Value linear = id, chunk = id;
      if (kernel.getProgramCount() == 1) {
        linear = k.index(0);
      } else if (chunks > 1) {
        linear = arith::DivUIOp::create(k.b, k.loc, id, k.index(chunks));
        chunk = arith::RemUIOp::create(k.b, k.loc, id, k.index(chunks));
      } else {
        chunk = k.index(0);
      }
      bindProgram(k, linear);
      for (Operation &op : program.getBody().front().without_terminator())
        if (&op != loop)
          emitUniform(k, op);
      emitFlat(k, loop, chunk);
    });
    return success();
  }

  FuncOp kernel;
  Statistics &statistics;
  ProgramOp program;
  func::FuncOp func;
};

struct KernelToThreads : gpucc::impl::KernelToThreadsBase<KernelToThreads> {
  void runOnOperation() override {
    Statistics statistics;
    for (FuncOp kernel : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      if (failed(Lowering(kernel, statistics).run()))
        return signalPassFailure();
      ++numKernels;
    }
    numWide += statistics.wide;
    numNarrow += statistics.narrow;
  }
};

} // namespace
