//===- Threads.h - what the parts of KernelToThreads share ------*- C++ -*-===//
//
//   Mapping       how programs and points meet blocks and threads (Mapping.cpp)
//   ThreadKernel  one kernel while it is lowered
//   ChunkEmitter  a body for `vec` neighbouring points of one thread (Chunk.cpp,
//                 ChunkMemory.cpp)
//   Loops.cpp     points and rows; ThreadColumns.cpp; ThreadSkeletons.cpp
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_CONVERSION_KERNELTOTHREADS_THREADS_H
#define GPUCC_LIB_CONVERSION_KERNELTOTHREADS_THREADS_H

#include "dialects/Kernel/Access.h"
#include "dialects/Kernel/Kernel.h"
#include "dialects/Kernel/Reduction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace gpucc::threads {

using mlir::AffineExpr;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// How programs and points meet blocks and threads.
struct Mapping {
  int64_t threads = 256; ///< that work on one program; a power of two
  int64_t packed = 1;    ///< programs per block
  int64_t vec = 4;       ///< neighbouring points of one thread, where a loop allows
  bool flat = false;     ///< one loop without results: threads range over all programs' chunks
  bool reduces = false;  ///< some loop reduces to a scalar: vec follows from the tree

  /// Neighbouring points per thread in a loop of `points`.
  int64_t vecOf(int64_t points) const;
};
/// Fails with an error where no mapping keeps the reduction tree.
mlir::FailureOr<Mapping> chooseMapping(kernel::FuncOp kernel, kernel::ProgramOp program);

struct Statistics {
  int64_t wide = 0, narrow = 0;
};

/// Where a kept tile lies.
struct Tile {
  Value memory;
  bool isShared = false;
  llvm::SmallVector<int64_t> strides; ///< of shared tiles, padded
};

/// One kernel while it is lowered.
struct ThreadKernel {
  ThreadKernel(const OpBuilder &builder, Location loc, const Mapping &mapping, Statistics &stats)
      : b(builder), loc(loc), mapping(mapping), statistics(stats) {}

  OpBuilder b;
  Location loc;
  Mapping mapping;
  Statistics &statistics;
  mlir::IRMapping uniform;                  ///< kernel values → values of the thread's program
  llvm::DenseMap<Value, Value> views;       ///< view → flat memref
  llvm::DenseMap<Value, int64_t> alignment; ///< of views, bytes
  llvm::DenseMap<Value, Tile> tiles;
  OpBuilder::InsertPoint entry; ///< where arrays are declared
  Value thread;                 ///< within the program
  Value active;                 ///< i1: the program exists; null = always

  Value index(int64_t v);
  Value add(Value x, Value y);
  Value addConstant(Value x, int64_t v);
  Value scaled(Value x, int64_t factor);
  /// An array of the thread, or of the block.
  Value array(int64_t elements, Type element, bool isShared = false);
  /// Arrays are declared here, in front of everything that follows.
  void openEntry();
  /// Sets the insertion point inside; the caller guards.
  mlir::scf::ForOp loop(int64_t from, int64_t to, int64_t step, bool unroll);
  /// Runs `body` where `condition` (null: always) holds.
  void when(Value condition, llvm::function_ref<void()> body);
};

/// In memory i1 is a byte.
inline Type storageType(Type element) {
  return element.isInteger(1) ? mlir::IntegerType::get(element.getContext(), 8) : element;
}

/// Clones a body for `vec` neighbouring points of dimension 0 from `base`, a multiple of `vec`.
/// What is equal for all of them, and wide loads, come first, then a loop over the points, then
/// wide stores.
class ChunkEmitter {
public:
  ChunkEmitter(ThreadKernel &k, int64_t vec, Value base);

  void bind(Value arg, AffineExpr expr) { exprs[arg] = expr; }
  void bind(Value arg, Value value) { chunk.map(arg, value); }
  /// Element v of `array` at point v.
  void bindArray(Value arg, Value array) { arrays[arg] = array; }
  /// Element `first` + v of a register tile at point v.
  void bindTileSlot(Value first) { tileSlot = first; }
  /// Points at and beyond `limit` do not exist.
  void limitTo(int64_t limit) { pointLimit = limit; }

  /// `perPoint(v)` runs at each point with values available through value().
  void emit(mlir::Block &block, llvm::function_ref<void(Value)> perPoint);
  /// One operation that is the same for the whole program; its results go to the kernel's values.
  void emitUniform(mlir::Operation &op);
  /// At the current point.
  Value value(Value v);
  AffineExpr dim0() { return mlir::getAffineDimExpr(0, k.b.getContext()); }

private:
  struct Address {
    Value memory;
    AffineExpr offset;
    Type element;
  };
  Address address(Value view, mlir::AffineMap map, ValueRange indices);
  AffineExpr exprOf(Value index);
  Value evaluate(AffineExpr expr);
  bool isKnown(Value v);
  bool isEqualForAll(Value v);
  bool isWide(const Address &at, Value view);

  bool hoist(mlir::Operation &op);
  bool hoistLoad(kernel::LoadOp load);
  bool stageStore(kernel::StoreOp store);
  void emitPoint(mlir::Operation &op);
  void emitLoad(kernel::LoadOp load);
  void emitStore(kernel::StoreOp store);
  void emitInnerLoop(kernel::LoopOp loop);
  Value loadElement(const Address &at);
  Value guarded(Value predicate, Value otherwise, llvm::function_ref<Value()> load);
  void flushStores();

  ThreadKernel &k;
  OpBuilder &b;
  int64_t vec;
  Value base, slot; ///< point v = base + slot
  Value tileSlot;
  int64_t pointLimit = 0;
  mlir::IRMapping chunk;  ///< values equal for all points of the chunk
  mlir::IRMapping *point; ///< values at the current point
  mlir::IRMapping pointValues;
  llvm::DenseMap<Value, AffineExpr> exprs;
  llvm::DenseMap<Value, Value> arrays;
  llvm::SetVector<Value> written; ///< views that the body stores to
  llvm::SmallVector<std::pair<kernel::StoreOp, Value>> staged;
  llvm::DenseMap<mlir::Operation *, Value> stagedOf;
  llvm::SmallVector<Value> dims;
  llvm::DenseMap<Value, unsigned> dimOf;
};

/// A loop directly in the program.
mlir::LogicalResult emitLoop(ThreadKernel &k, kernel::LoopOp loop);
mlir::LogicalResult emitColumns(ThreadKernel &k, kernel::LoopOp loop);
/// The one loop of a flat mapping: chunk `chunk` of the program.
void emitFlat(ThreadKernel &k, kernel::LoopOp loop, Value chunk);
/// Declares the tiles of a loop.
mlir::LogicalResult makeTiles(ThreadKernel &k, kernel::LoopOp loop);
/// Index expressions of a loop's arguments over dimension 0.
void bindPoints(ChunkEmitter &body, kernel::LoopOp loop);

/// Lowers a skeleton: copies it and lowers its epilogue. Sets grid and block.
mlir::LogicalResult emitSkeleton(ThreadKernel &k, mlir::Operation *skeleton,
                                 mlir::func::FuncOp func);

/// A value and a kind as the device's reductions take them: i1 as i32, unsigned numbers as signed
/// ones with the top bit flipped (applied again, it is undone).
Value toReduced(OpBuilder &b, Location loc, kernel::LoopResultKind kind, Value v);
kernel::LoopResultKind reducedKind(kernel::LoopResultKind kind);

} // namespace gpucc::threads

#endif // GPUCC_LIB_CONVERSION_KERNELTOTHREADS_THREADS_H
