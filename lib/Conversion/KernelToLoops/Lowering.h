//===- Lowering.h - what the parts of KernelToLoops share -------*- C++ -*-===//
//
//   HostKernel   one kernel while it is lowered: builder, where views and tiles
//                lie, values that are equal in all lanes
//   BodyEmitter  clones a scalar body for `width` neighbouring points (Body.cpp,
//                Memory.cpp)
//   emitLoop     picks points (Points.cpp), rows (Rows.cpp) or columns
//                (Columns.cpp)
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_CONVERSION_KERNELTOLOOPS_LOWERING_H
#define GPUCC_LIB_CONVERSION_KERNELTOLOOPS_LOWERING_H

#include "dialects/Kernel/Access.h"
#include "dialects/Kernel/Kernel.h"
#include "dialects/Kernel/Reduction.h"
#include "mlir/IR/IRMapping.h"

namespace gpucc::host {

using mlir::AffineExpr;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using mlir::VectorType;

/// One kernel while it is lowered.
struct HostKernel {
  HostKernel(const OpBuilder &builder, Location loc, int64_t width, kernel::ScheduleAttr schedule,
             Type laneIndex)
      : b(builder), loc(loc), width(width), schedule(schedule), laneIndex(laneIndex) {}

  OpBuilder b;
  Location loc;
  int64_t width;
  kernel::ScheduleAttr schedule; ///< may be null
  Type laneIndex;                ///< integer type of indices that differ between lanes
  mlir::IRMapping uniform;       ///< kernel values that are the same in all lanes of a program
  llvm::DenseMap<Value, Value> memory; ///< view or tile → flat memref
  OpBuilder::InsertPoint entry;        ///< where stack buffers go
  int64_t gathers = 0;

  Value index(int64_t value);
  /// A flat buffer on the stack; i1 elements are bytes.
  Value buffer(int64_t elements, Type element);
  Value add(Value x, Value y);
  Value addConstant(Value x, int64_t y);
  VectorType vector(Type element) { return VectorType::get({width}, element); }
  /// Lanes below `count`; null when that is all of them.
  Value maskOfFirst(int64_t count);
  /// for %i = from to `to` step `step` { body }
  void forLoop(Value from, int64_t to, int64_t step, llvm::function_ref<void(Value)> body);
};

/// In memory i1 is a byte.
inline Type storageType(Type element) {
  return element.isInteger(1) ? mlir::IntegerType::get(element.getContext(), 8) : element;
}

/// Clones a body of scalars. With vectors, dimension 0 of all index expressions is the linear index
/// whose value in lane 0 is `base`, a multiple of the width.
class BodyEmitter {
public:
  /// `width` 0: scalar.
  BodyEmitter(HostKernel &k, int64_t width, Value base, Value mask);

  /// The block argument `arg` is `expr` over dimension 0 (and constants).
  void bind(Value arg, AffineExpr expr) { exprs[arg] = expr; }
  /// The block argument `arg` is a value that all lanes share.
  void bind(Value arg, Value scalar) { values.map(arg, scalar); }

  /// Emits the operations of the block but its terminator.
  void emit(mlir::Block &block);
  void emit(mlir::Operation &op);
  /// Asks for the cache lines that the block would load from views of at least that many elements, as far as its
  /// indices alone say which.
  void prefetch(mlir::Block &block, int64_t leastElements);
  /// The value in all lanes (a scalar when the width is 0).
  Value lanes(Value v);
  /// The value as a scalar; only for values that all lanes share.
  Value scalar(Value v) {
    auto it = exprs.find(v);
    return it == exprs.end() ? values.lookupOrDefault(v) : evaluate(it->second);
  }
  bool isVarying(Value v) { return varying.contains(v) || exprs.contains(v); }
  AffineExpr dim0() { return mlir::getAffineDimExpr(0, k.b.getContext()); }

private:
  /// Where an access goes: an offset in elements over `dims`.
  struct Address {
    Value memory;
    AffineExpr offset;
    std::optional<int64_t> stride; ///< between lanes; none: per lane
  };
  Address address(Value view, mlir::AffineMap map, ValueRange indices);
  AffineExpr exprOf(Value index);
  Value evaluate(AffineExpr expr);
  Value evaluateLanes(AffineExpr expr);
  Value laneOffsets(const Address &at, Value &origin);
  bool isUniform(AffineExpr expr);

  void emitLoad(kernel::LoadOp op);
  void emitStore(kernel::StoreOp op);
  void emitInnerLoop(kernel::LoopOp op);
  void emitElementwise(mlir::Operation &op);
  Value loadScalar(const Address &at, Type element);
  Value loadLanes(const Address &at, Type element, Value mask, Value otherwise);
  Value loadLanesIf(Value condition, const Address &at, Type element, Value otherwise);
  Value combineMasks(Value predicate);
  Value toLaneIndex(Value v);
  void define(Value v, Value result, bool isVaryingNow);

  HostKernel &k;
  OpBuilder &b;
  int64_t width;
  Value mask;
  mlir::IRMapping values;
  llvm::DenseSet<Value> varying;
  llvm::DenseMap<Value, AffineExpr> exprs;
  llvm::SmallVector<Value> dims; ///< values of dimensions; scalars, or vectors of laneIndex
  llvm::DenseMap<Value, unsigned> dimOf;
};

/// Lowers a loop that stands directly in the program. Fails with an error.
mlir::LogicalResult emitLoop(HostKernel &k, kernel::LoopOp loop);
void emitPoints(HostKernel &k, kernel::LoopOp loop);
void emitRows(HostKernel &k, kernel::LoopOp loop);
void emitColumns(HostKernel &k, kernel::LoopOp loop);

/// Writes kept results of one call of the body; `at` is the linear index of lane 0.
void storeKept(HostKernel &k, kernel::LoopOp loop, BodyEmitter &body, Value at, Value mask);
/// Makes buffers for kept tiles.
void makeTiles(HostKernel &k, kernel::LoopOp loop);

} // namespace gpucc::host

#endif // GPUCC_LIB_CONVERSION_KERNELTOLOOPS_LOWERING_H
