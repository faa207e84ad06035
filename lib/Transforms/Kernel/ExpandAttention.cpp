//===- ExpandAttention.cpp - attention as loops over blocks of rows -------===//
//
// R query rows per program, side by side in the last dimension, so that vectors run over rows, keys
// and values are read once per block and nothing is gathered in the inner loops:
//
//   kernel.program (%b, %h, %block) in (B, H, S / R) {
//     %qt           = loop (d, r) in (D, R) { q[block * R + r, d] }
//     %scores, %max = loop (t, r) in (T, R) { scale · Σ_d qt[d, r] k[t, d] + bias, -inf above the
//     diagonal } %p, %sum      = loop (t, r) in (T, R) { exp(score - max[r]) } %o            = loop
//     (e, r) in (E, R) { (Σ_t p[t, r] v[t, e]) / sum[r] } loop (r, e) in (R, E) { o[e, r] →
//     epilogue }
//   }
//
// R is the greatest divisor of S up to the pass's option. A row that sees nothing has max = -inf;
// its result is zero.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Kernel/ExpandSkeletons.h"

#include <limits>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::kernel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class AttentionExpander {
public:
  AttentionExpander(AttentionOp op, int64_t mostRows)
      : op(op), type(op.getEpilogue().getArgument(0).getType()), e(op.getExtents()) {
    for (int64_t r = 1; r <= mostRows; ++r)
      if (e[3] % r == 0)
        rows = r;
  }

  void run() {
    OpBuilder b(op);
    ProgramOp::create(b, op.getLoc(), {e[0], e[1], e[3] / rows},
                      [&](OpBuilder &b, Location loc, ValueRange program) {
                        batch = program[0];
                        head = program[1];
                        block = program[2];
                        emitBlock(b, loc);
                      });
    op.erase();
  }

private:
  using Body = function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)>;

  Value constant(OpBuilder &b, double v) {
    return arith::ConstantOp::create(b, op.getLoc(), b.getFloatAttr(type, v));
  }
  Value index(OpBuilder &b, int64_t v) { return arith::ConstantIndexOp::create(b, op.getLoc(), v); }
  RankedTensorType tile(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, type); }

  /// An element of k or v, in the accumulator's type.
  Value load(OpBuilder &b, Value view, AffineMap map, ValueRange at) {
    return toAccumulator(b, op.getLoc(), LoadOp::create(b, op.getLoc(), view, map, at), type);
  }
  /// An element of q or the bias: row r of the block, `last` in the last dimension.
  Value loadRow(OpBuilder &b, Value view, AffineMap map, Value r, Value last) {
    AffineExpr d[5];
    for (unsigned i = 0; i < 5; ++i)
      d[i] = b.getAffineDimExpr(i);
    // (b, h, block, r, last) → (b, h, block * R + r, last)
    AffineMap rowMap = AffineMap::get(5, 0, {d[0], d[1], d[2] * rows + d[3], d[4]}, b.getContext());
    return load(b, view, map.compose(rowMap), {batch, head, block, r, last});
  }

  void emitBlock(OpBuilder &b, Location loc) {
    kvHead = e[1] == e[2] ? head
                          : arith::DivUIOp::create(b, loc, head, index(b, e[1] / e[2])).getResult();
    first = arith::MulIOp::create(b, loc, block, index(b, rows));
    queries = emitQueries(b, loc);
    auto scores = emitScores(b, loc);
    auto weights = emitWeights(b, loc, scores.getResult(0), scores.getResult(1));
    Value results =
        emitResults(b, loc, weights.getResult(0), scores.getResult(1), weights.getResult(1));
    LoopOp::create(b, loc, {rows, e[6]}, ArrayRef<LoopResultKind>(), ArrayRef<Type>(),
                   [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
                     Value y = LoadOp::create(b, loc, results, ValueRange{at[1], at[0]});
                     Value row = arith::AddIOp::create(b, loc, first, at[0]);
                     cloneEpilogue(b, op.getEpilogue(), {y, batch, head, row, at[1]});
                     return {};
                   });
  }

  Value emitQueries(OpBuilder &b, Location loc) {
    return LoopOp::create(b, loc, {e[5], rows}, LoopResultKind::Keep, tile({e[5], rows}),
                          [&](OpBuilder &b, Location, ValueRange at) -> SmallVector<Value> {
                            return {loadRow(b, op.getQ(), op.getQMap(), at[1], at[0])};
                          })
        .getResult(0);
  }

  LoopOp emitScores(OpBuilder &b, Location loc) {
    return LoopOp::create(b, loc, {e[4], rows}, {LoopResultKind::Keep, LoopResultKind::MaxNum},
                          {tile({e[4], rows}), tile({rows})},
                          [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
                            Value score = emitScore(b, loc, at[0], at[1]);
                            return {score, score};
                          });
  }

  Value emitScore(OpBuilder &b, Location loc, Value t, Value r) {
    auto dot = LoopOp::create(b, loc, e[5], LoopResultKind::Add, type,
                              [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
                                Value x = LoadOp::create(b, loc, queries, ValueRange{at[0], r});
                                Value y =
                                    load(b, op.getK(), op.getKMap(), {batch, kvHead, t, at[0]});
                                return {multiply(b, loc, x, y)};
                              });
    Value score = multiply(b, loc, dot.getResult(0), constant(b, op.getScale().convertToDouble()));
    if (op.getBias())
      score =
          arith::AddFOp::create(b, loc, score, loadRow(b, op.getBias(), *op.getBiasMap(), r, t));
    if (!op.getCausal())
      return score;
    // Signed: with more queries than keys the first rows see nothing.
    Value row = arith::AddIOp::create(b, loc, first, r);
    Value limit = arith::AddIOp::create(b, loc, row, index(b, e[4] - e[3]));
    Value seen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, t, limit);
    return arith::SelectOp::create(b, loc, seen, score, constant(b, -infinity));
  }

  /// Does row r see anything?
  Value sees(OpBuilder &b, Location loc, Value max) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, max, constant(b, -infinity));
  }

  LoopOp emitWeights(OpBuilder &b, Location loc, Value scores, Value max) {
    return LoopOp::create(b, loc, {e[4], rows}, {LoopResultKind::Keep, LoopResultKind::Add},
                          {tile({e[4], rows}), tile({rows})},
                          [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
                            Value score = LoadOp::create(b, loc, scores, at);
                            Value top = LoadOp::create(b, loc, max, ValueRange{at[1]});
                            Value shift = arith::SelectOp::create(b, loc, sees(b, loc, top), top,
                                                                  constant(b, 0.0));
                            Value difference = arith::SubFOp::create(b, loc, score, shift);
                            Value p = math::ExpOp::create(b, loc, difference);
                            return {p, p};
                          });
  }

  Value emitResults(OpBuilder &b, Location loc, Value weights, Value max, Value sums) {
    auto element = [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
      Value column = at[0], r = at[1];
      auto product =
          LoopOp::create(b, loc, e[4], LoopResultKind::Add, type,
                         [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
                           Value p = LoadOp::create(b, loc, weights, ValueRange{at[0], r});
                           Value v =
                               load(b, op.getV(), op.getVMap(), {batch, kvHead, at[0], column});
                           return {multiply(b, loc, p, v)};
                         });
      Value top = LoadOp::create(b, loc, max, ValueRange{r});
      Value sum = LoadOp::create(b, loc, sums, ValueRange{r});
      sum = arith::SelectOp::create(b, loc, sees(b, loc, top), sum, constant(b, 1.0));
      return {arith::DivFOp::create(b, loc, product.getResult(0), sum)};
    };
    return LoopOp::create(b, loc, {e[6], rows}, LoopResultKind::Keep, tile({e[6], rows}), element)
        .getResult(0);
  }

  AttentionOp op;
  Type type;
  ArrayRef<int64_t> e; ///< B, H, K, S, T, D, E
  int64_t rows = 1;
  Value batch, head, kvHead, block, first, queries;
};

} // namespace

void gpucc::expandAttention(AttentionOp op, int64_t mostRows) {
  AttentionExpander(op, mostRows).run();
}
