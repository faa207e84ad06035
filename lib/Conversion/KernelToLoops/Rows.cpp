//===- Rows.cpp - reductions to scalars by the fixed tree -----------------===//
//
// Point n belongs to residue n mod P. Sixteen neighbouring residues are `N`
// vectors; combining index bits 4 and up combines whole vectors, bits 3..0 then
// fold one vector. With 8 lanes and 1000 points, P = 1024:
//
//   lanes(0, 128)    = (((0..15 ∘ 16..31) ∘ (32..47 ∘ 48..63)) ∘ ...)   in registers
//   partial[0..15]   = lanes(0, 128), partial[16..31] = lanes(128, 128), ...
//   result           = fold of the tree over the 8 groups of partials
//
// Rows longer than P accumulate round by round into partials, 16 residues at a
// time, and the tree follows at the end.
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

constexpr int64_t group = 16; ///< residues that are folded last

/// Sixteen residues of one reduced result.
using Residues = SmallVector<Value>;

class RowReducer {
public:
  RowReducer(HostKernel &k, LoopOp loop) : k(k), b(k.b), loop(loop) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (loop.getKind(i) != LoopResultKind::Keep)
        reduced.push_back(i);
    points = loop.getPoints();
    tree = getRowTreeWidth(points);
    vectors = std::max<int64_t>(1, group / k.width);
    rounds = llvm::divideCeil(points, tree);
    block = rounds == 1 ? std::min<int64_t>(128, tree) : group;
  }

  void run() {
    SmallVector<Residues> total;
    if (rounds == 1 && block == tree)
      total = lanesAt(k.index(0), tree, points);
    else
      total = throughPartials();
    for (auto [r, i] : llvm::enumerate(reduced))
      k.uniform.map(loop.getResult(i), fold(i, total[r]));
  }

private:
  /// i1 is reduced as i32.
  Type accumulatorType(unsigned i) {
    Type type = loop.getResult(i).getType();
    return type.isInteger(1) ? b.getI32Type() : type;
  }
  Value combine(unsigned i, Value x, Value y) {
    return buildCombine(b, k.loc, loop.getKind(i), x, y);
  }
  /// Of the result's own type: all ones of `and` are 1 for i1.
  Value identity(unsigned i) {
    Type type = loop.getResult(i).getType();
    if (type.isInteger(1))
      return arith::ConstantOp::create(
          b, k.loc,
          DenseElementsAttr::get(k.vector(b.getI32Type()),
                                 b.getI32IntegerAttr(loop.getKind(i) == LoopResultKind::And)));
    return buildIdentity(b, k.loc, loop.getKind(i), k.vector(type));
  }

  /// The body for `width` points at `at`, the first `valid` of which exist.
  void vectorAt(Value at, int64_t valid, SmallVectorImpl<Residues> &out) {
    if (valid <= 0) {
      for (auto [r, i] : llvm::enumerate(reduced))
        out[r].push_back(identity(i));
      return;
    }
    Value mask = k.maskOfFirst(valid);
    BodyEmitter body(k, k.width, at, mask);
    Block &code = loop.getBody().front();
    for (auto [arg, expr] :
         llvm::zip(code.getArguments(), delinearize(loop.getExtents(), body.dim0())))
      body.bind(arg, expr);
    body.emit(code);
    storeKept(k, loop, body, at, mask);
    for (auto [r, i] : llvm::enumerate(reduced)) {
      Value v = body.lanes(loop.getYielded()[i]);
      if (getElementTypeOrSelf(v.getType()).isInteger(1))
        v = arith::ExtUIOp::create(b, k.loc, k.vector(b.getI32Type()), v);
      if (mask)
        v = arith::SelectOp::create(b, k.loc, mask, v, identity(i));
      // The first step from the identity matters only where it drops a NaN.
      LoopResultKind kind = loop.getKind(i);
      if (kind == LoopResultKind::MaxNum || kind == LoopResultKind::MinNum)
        v = combine(i, identity(i), v);
      out[r].push_back(v);
    }
  }

  /// What lies two kilobytes of f32 further, in the next rows at a row's end: on one stream the CPU's own look-ahead
  /// stops at pages of 4 KiB (22 GB/s where this gives 38).
  void prefetch(Value at) {
    constexpr int64_t distance = 512, leastElements = 1 << 20; // what is smaller stays in the cache
    Block &code = loop.getBody().front();
    BodyEmitter body(k, k.width, k.addConstant(at, distance), {});
    body.bind(code.getArguments().front(), body.dim0());
    body.prefetch(code, leastElements);
  }

  /// `count` (a power of two ≥ 16) residues from `at`, combined down to sixteen.
  SmallVector<Residues> lanesAt(Value at, int64_t count, int64_t valid) {
    SmallVector<Residues> out(reduced.size());
    if (count == group) {
      if (loop.getExtents().size() == 1)
        prefetch(at);
      for (int64_t j = 0; j < vectors; ++j)
        vectorAt(k.addConstant(at, j * k.width), valid - j * k.width, out);
      return out;
    }
    SmallVector<Residues> low = lanesAt(at, count / 2, valid);
    SmallVector<Residues> high =
        lanesAt(k.addConstant(at, count / 2), count / 2, valid - count / 2);
    for (auto [r, i] : llvm::enumerate(reduced))
      for (int64_t j = 0; j < vectors; ++j)
        out[r].push_back(combine(i, low[r][j], high[r][j]));
    return out;
  }

  /// Writes (first round) or adds sixteen residues at `slot` of the partials.
  void put(ArrayRef<Residues> residues, Value slot, bool isFirst) {
    for (auto [r, i] : llvm::enumerate(reduced))
      for (int64_t j = 0; j < vectors; ++j) {
        Value at = k.addConstant(slot, j * k.width), v = residues[r][j];
        if (!isFirst)
          v = combine(i,
                      vector::LoadOp::create(b, k.loc, cast<VectorType>(v.getType()), partials[r],
                                             ValueRange{at}),
                      v);
        vector::StoreOp::create(b, k.loc, v, partials[r], ValueRange{at});
      }
  }

  /// Points [from, from + count) of one round, block by block.
  void round(Value from, int64_t count, bool isFirst) {
    auto one = [&](Value offset, int64_t valid) {
      Value slot =
          block == group
              ? offset
              : arith::DivUIOp::create(b, k.loc, offset, k.index(block / group)).getResult();
      put(lanesAt(k.add(from, offset), block, valid), slot, isFirst);
    };
    int64_t main = count / block * block;
    int64_t step = rounds > 1 ? 2 * block : block;
    int64_t even = main / step * step;
    if (even)
      k.forLoop(k.index(0), even, step, [&](Value offset) {
        for (int64_t s = 0; s < step; s += block)
          one(k.addConstant(offset, s), block);
      });
    for (int64_t offset = even; offset < count; offset += block)
      one(k.index(offset), std::min(block, count - offset));
    if (!isFirst)
      return;
    // Residues that no point belongs to.
    for (int64_t slot = llvm::divideCeil(count, block) * group; slot < tree / block * group;
         slot += k.width)
      for (auto [r, i] : llvm::enumerate(reduced))
        vector::StoreOp::create(b, k.loc, identity(i), partials[r], ValueRange{k.index(slot)});
  }

  SmallVector<Residues> throughPartials() {
    for (unsigned i : reduced)
      partials.push_back(k.buffer(tree / block * group, accumulatorType(i)));
    round(k.index(0), std::min(tree, points), /*isFirst=*/true);
    int64_t full = points / tree * tree;
    if (full > tree)
      k.forLoop(k.index(tree), full, tree,
                [&](Value from) { round(from, tree, /*isFirst=*/false); });
    if (rounds > 1 && points > full)
      round(k.index(full), points - full, /*isFirst=*/false);
    SmallVector<Residues> total;
    for (auto [r, i] : llvm::enumerate(reduced))
      total.push_back(treeOfPartials(r, 0, tree / block * group));
    return total;
  }

  Residues treeOfPartials(unsigned r, int64_t from, int64_t count) {
    unsigned i = reduced[r];
    Residues out;
    if (count == group) {
      for (int64_t j = 0; j < vectors; ++j)
        out.push_back(vector::LoadOp::create(b, k.loc, k.vector(accumulatorType(i)), partials[r],
                                             ValueRange{k.index(from + j * k.width)}));
      return out;
    }
    Residues low = treeOfPartials(r, from, count / 2);
    Residues high = treeOfPartials(r, from + count / 2, count / 2);
    for (int64_t j = 0; j < vectors; ++j)
      out.push_back(combine(i, low[j], high[j]));
    return out;
  }

  /// Bits 3, 2, 1, 0.
  Value fold(unsigned i, Residues v) {
    for (size_t n = v.size() / 2; n; n /= 2)
      for (size_t j = 0; j < n; ++j)
        v[j] = combine(i, v[j], v[j + n]);
    Value x = v[0];
    while (true) {
      int64_t n = cast<VectorType>(x.getType()).getNumElements();
      if (n == 1)
        break;
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, n / 2));
      auto high = llvm::to_vector(llvm::seq<int64_t>(n / 2, n));
      x = combine(i, vector::ShuffleOp::create(b, k.loc, x, x, low),
                  vector::ShuffleOp::create(b, k.loc, x, x, high));
    }
    Value scalar = vector::ExtractOp::create(b, k.loc, x, ArrayRef<int64_t>{0});
    if (loop.getResult(i).getType().isInteger(1))
      scalar = arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::ne, scalar,
                                     arith::ConstantIntOp::create(b, k.loc, 0, 32));
    return scalar;
  }

  HostKernel &k;
  OpBuilder &b;
  LoopOp loop;
  SmallVector<unsigned> reduced;
  SmallVector<Value> partials;
  int64_t points, tree, vectors, rounds, block;
};

} // namespace

void host::emitRows(HostKernel &k, LoopOp loop) { RowReducer(k, loop).run(); }
