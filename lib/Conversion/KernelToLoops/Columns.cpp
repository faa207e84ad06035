//===- Columns.cpp - reductions over the leading dimensions ---------------===//
//
// Row r of a column belongs to residue r mod 32; residues combine by index bit 4,
// then 3, 2, 1, 0. All partial rows lie in a buffer [32][columns].
//
//   kernel.loop (%r, %c) in (512, 32) -> (add tensor<32xf32>)
//   → partial[*][*] = -0.0
//     for r in 0..512: partial[r mod 32][c .. c+8] += body(r, c .. c+8)
//     result[c .. c+8] = tree(partial[0][c..], ..., partial[31][c..])
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

namespace {

class ColumnReducer {
public:
  ColumnReducer(HostKernel &k, LoopOp loop) : k(k), b(k.b), loop(loop) {
    columns = loop.getExtents().back();
    // Rows of partials are whole vectors.
    pitch = llvm::alignTo(columns, k.width);
    rows = loop.getPoints() / columns;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (loop.getKind(i) != LoopResultKind::Keep)
        reduced.push_back(i);
  }

  void run() {
    for (unsigned i : reduced)
      makePartials(i);
    k.forLoop(k.index(0), rows, 1, [&](Value row) { accumulate(row); });
    for (auto [r, i] : llvm::enumerate(reduced))
      for (int64_t c = 0; c < columns; c += k.width)
        finish(r, i, c);
  }

private:
  Type accumulatorType(unsigned i) {
    Type type = cast<ShapedType>(loop.getResult(i).getType()).getElementType();
    return type.isInteger(1) ? b.getI32Type() : type;
  }
  Value combine(unsigned i, Value x, Value y) {
    return buildCombine(b, k.loc, loop.getKind(i), x, y);
  }

  /// At most one row per residue: it is stored, not combined.
  bool isOnce() const { return rows <= columnTreeWidth; }

  void makePartials(unsigned i) {
    Type type = accumulatorType(i);
    Value partial = k.buffer(columnTreeWidth * pitch, type);
    partials.push_back(partial);
    if (rows == columnTreeWidth)
      return; // each is written
    Value identity = buildIdentity(b, k.loc, loop.getKind(i), k.vector(type));
    k.forLoop(k.index(0), columnTreeWidth * pitch, k.width, [&](Value at) {
      vector::StoreOp::create(b, k.loc, identity, partial, ValueRange{at});
    });
  }

  /// The indices of a row in front of the columns.
  SmallVector<Value> leadingIndices(Value row) {
    SmallVector<Value> leading;
    Value rest = row;
    for (int64_t extent : llvm::reverse(loop.getExtents().drop_back().drop_front())) {
      leading.insert(leading.begin(),
                     arith::RemUIOp::create(b, k.loc, rest, k.index(extent)).getResult());
      rest = arith::DivUIOp::create(b, k.loc, rest, k.index(extent));
    }
    leading.insert(leading.begin(), rest);
    return leading;
  }

  /// Rows are far apart, often in pages of their own, where the CPU foresees nothing: a matrix of
  /// weights came at 21 GB/s where a contiguous one came at 34.
  void prefetch(Value row) {
    Block &code = loop.getBody().front();
    SmallVector<Value> leading = leadingIndices(row);
    for (int64_t c = 0; c < columns; c += std::max<int64_t>(k.width, 16)) { // 64 bytes of f32
      BodyEmitter body(k, k.width, k.index(c), {});
      for (auto [arg, index] : llvm::zip(code.getArguments(), leading))
        body.bind(arg, index);
      body.bind(code.getArguments().back(), body.dim0());
      body.prefetch(code, /*leastElements=*/1 << 16);
    }
  }

  void accumulate(Value row) {
    Block &code = loop.getBody().front();
    Value residue = arith::RemUIOp::create(b, k.loc, row, k.index(columnTreeWidth));
    Value partialRow = arith::MulIOp::create(b, k.loc, residue, k.index(pitch));
    Value tileRow = arith::MulIOp::create(b, k.loc, row, k.index(columns));
    SmallVector<Value> leading = leadingIndices(row);
    if (rows >= 2 * rowsAhead)
      prefetch(k.addConstant(row, rowsAhead));
    for (int64_t c = 0; c < columns; c += k.width) {
      Value at = k.index(c), mask = k.maskOfFirst(columns - c);
      BodyEmitter body(k, k.width, at, mask);
      for (auto [arg, index] : llvm::zip(code.getArguments(), leading))
        body.bind(arg, index);
      body.bind(code.getArguments().back(), body.dim0());
      body.emit(code);
      storeKept(k, loop, body, k.add(tileRow, at), mask);
      for (auto [r, i] : llvm::enumerate(reduced)) {
        Value v = body.lanes(loop.getYielded()[i]), slot = k.add(partialRow, at);
        if (getElementTypeOrSelf(v.getType()).isInteger(1))
          v = arith::ExtUIOp::create(b, k.loc, k.vector(b.getI32Type()), v);
        if (!isOnce())
          v = combine(i,
                      vector::LoadOp::create(b, k.loc, cast<VectorType>(v.getType()), partials[r],
                                             ValueRange{slot}),
                      v);
        vector::StoreOp::create(b, k.loc, v, partials[r], ValueRange{slot});
      }
    }
  }

  /// The tree over residues from, from + step, ...: index bits 4, 3, 2, 1, 0.
  Value tree(unsigned r, unsigned i, int64_t from, int64_t step, int64_t column) {
    auto residue = [&](int64_t n) -> Value {
      return vector::LoadOp::create(b, k.loc, k.vector(accumulatorType(i)), partials[r],
                                    ValueRange{k.index(n * pitch + column)});
    };
    if (step == 16)
      return combine(i, residue(from), residue(from + 16));
    Value low = tree(r, i, from, 2 * step, column);
    return combine(i, low, tree(r, i, from + step, 2 * step, column));
  }

  void finish(unsigned r, unsigned i, int64_t column) {
    Value v = tree(r, i, 0, 1, column), result = k.memory.lookup(loop.getResult(i));
    if (cast<ShapedType>(loop.getResult(i).getType()).getElementType().isInteger(1)) {
      Value one = arith::ConstantOp::create(
          b, k.loc, DenseElementsAttr::get(k.vector(b.getI32Type()), b.getI32IntegerAttr(1)));
      v = arith::TruncIOp::create(b, k.loc, k.vector(b.getI8Type()),
                                  arith::AndIOp::create(b, k.loc, v, one));
    }
    if (Value mask = k.maskOfFirst(columns - column))
      vector::MaskedStoreOp::create(b, k.loc, result, ValueRange{k.index(column)}, mask, v);
    else
      vector::StoreOp::create(b, k.loc, v, result, ValueRange{k.index(column)});
  }

  static constexpr int64_t rowsAhead = 16;
  HostKernel &k;
  OpBuilder &b;
  LoopOp loop;
  SmallVector<unsigned> reduced;
  SmallVector<Value> partials;
  int64_t columns, pitch, rows;
};

} // namespace

void host::emitColumns(HostKernel &k, LoopOp loop) { ColumnReducer(k, loop).run(); }
