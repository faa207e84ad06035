//===- ExpandAttention.cpp - attention, one program per query row ---------===//
//
//   kernel.program (%b, %h, %s) in (B, H, S) {
//     %scores, %max = loop (t) in (T) { scale · Σ_d q k + bias, -inf above the diagonal }
//     %p, %sum      = loop (t) in (T) { exp(score - max) }
//     loop (e) in (E) { (Σ_t p v) / sum → epilogue }
//   }
//
// A row that sees nothing has max = -inf; its result is zero.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Kernel/ExpandSkeletons.h"

#include <limits>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::kernel;

namespace {

class AttentionExpander {
public:
  explicit AttentionExpander(AttentionOp op)
      : op(op), type(op.getEpilogue().getArgument(0).getType()), e(op.getExtents()) {}

  void run() {
    OpBuilder b(op);
    ProgramOp::create(b, op.getLoc(), {e[0], e[1], e[3]},
                      [&](OpBuilder &b, Location loc, ValueRange program) {
                        batch = program[0];
                        head = program[1];
                        row = program[2];
                        emitRow(b, loc);
                      });
    op.erase();
  }

private:
  Value constant(OpBuilder &b, double v) {
    return arith::ConstantOp::create(b, op.getLoc(), b.getFloatAttr(type, v));
  }
  Value load(OpBuilder &b, Value view, AffineMap map, ValueRange at) {
    return toAccumulator(b, op.getLoc(), LoadOp::create(b, op.getLoc(), view, map, at), type);
  }

  void emitRow(OpBuilder &b, Location loc) {
    auto index = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
    kvHead = e[1] == e[2] ? head
                          : arith::DivUIOp::create(b, loc, head, index(e[1] / e[2])).getResult();
    if (op.getCausal()) // first column that the row does not see
      limit = arith::AddIOp::create(b, loc, row, index(e[4] - e[3] + 1));
    auto tile = RankedTensorType::get({e[4]}, type);
    auto scores = LoopOp::create(
        b, loc, e[4], {LoopResultKind::Keep, LoopResultKind::MaxNum}, {tile, type},
        [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
          Value score = emitScore(b, loc, at[0]);
          return {score, score};
        });
    double inf = std::numeric_limits<double>::infinity();
    Value max = scores.getResult(1);
    Value sees = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, max, constant(b, -inf));
    Value shift = arith::SelectOp::create(b, loc, sees, max, constant(b, 0.0));
    auto weights = LoopOp::create(
        b, loc, e[4], {LoopResultKind::Keep, LoopResultKind::Add}, {tile, type},
        [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
          Value score = LoadOp::create(b, loc, scores.getResult(0), at);
          Value p = math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, score, shift));
          return {p, p};
        });
    Value sum = arith::SelectOp::create(b, loc, sees, weights.getResult(1), constant(b, 1.0));
    emitResult(b, loc, weights.getResult(0), sum);
  }

  Value emitScore(OpBuilder &b, Location loc, Value t) {
    auto dot = LoopOp::create(
        b, loc, e[5], LoopResultKind::Add, type,
        [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
          Value x = load(b, op.getQ(), op.getQMap(), {batch, head, row, at[0]});
          Value y = load(b, op.getK(), op.getKMap(), {batch, kvHead, t, at[0]});
          return {multiply(b, loc, x, y)};
        });
    Value score =
        multiply(b, loc, dot.getResult(0), constant(b, op.getScale().convertToDouble()));
    if (op.getBias())
      score = arith::AddFOp::create(
          b, loc, score, load(b, op.getBias(), *op.getBiasMap(), {batch, head, row, t}));
    if (!limit)
      return score;
    // Signed: with more queries than keys the first rows see nothing.
    Value seen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, t, limit);
    return arith::SelectOp::create(b, loc, seen, score,
                                   constant(b, -std::numeric_limits<double>::infinity()));
  }

  void emitResult(OpBuilder &b, Location loc, Value weights, Value sum) {
    LoopOp::create(
        b, loc, e[6], ArrayRef<LoopResultKind>(), ArrayRef<Type>(),
        [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
          Value column = at[0];
          auto product = LoopOp::create(
              b, loc, e[4], LoopResultKind::Add, type,
              [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
                Value p = LoadOp::create(b, loc, weights, at);
                Value v = load(b, op.getV(), op.getVMap(), {batch, kvHead, at[0], column});
                return {multiply(b, loc, p, v)};
              });
          Value y = arith::DivFOp::create(b, loc, product.getResult(0), sum);
          cloneEpilogue(b, op.getEpilogue(), {y, batch, head, row, column});
          return {};
        });
  }

  AttentionOp op;
  Type type;
  ArrayRef<int64_t> e; ///< B, H, K, S, T, D, E
  Value batch, head, kvHead, row, limit;
};

} // namespace

void gpucc::expandAttention(AttentionOp op) { AttentionExpander(op).run(); }
