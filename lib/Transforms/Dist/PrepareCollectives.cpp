//===- PrepareCollectives.cpp - collectives that join outermost blocks ----===//
//
// A communicator joins and splits blocks one behind the other: along the
// outermost dimension. Collectives along another one get a new outermost
// dimension of the members and a transpose, which fusion takes up:
//
//   all_gather [8,16] dim 1, n=2 -> [8,32]:
//     [8,16] -> [1,8,16] -all_gather dim 0-> [2,8,16] -> [8,2,16] -> [8,32]
//   reduce_scatter [8,32] dim 1, n=2 -> [8,16]:
//     [8,32] -> [8,2,16] -> [2,8,16] -reduce_scatter dim 0-> [1,8,16] -> [8,16]
//   all_to_all split s, concat c: the first half of the one, the second of the other
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Dist/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Graph/Build.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace gpucc;

namespace gpucc {
#define GEN_PASS_DEF_PREPARECOLLECTIVES
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

namespace {

SmallVector<int64_t> shapeOf(Value v) {
  return SmallVector<int64_t>(cast<RankedTensorType>(v.getType()).getShape());
}

bool isOutermost(Value v, int64_t dim) {
  auto shape = shapeOf(v);
  return llvm::all_of(ArrayRef(shape).take_front(dim), [](int64_t d) { return d == 1; });
}

/// [.., n*L, ..] -> [n, .., L, ..]: the blocks along `dim` become outermost.
Value blocksOut(graph::GraphBuilder &g, Value x, int64_t dim, int64_t n) {
  SmallVector<int64_t> split = shapeOf(x), order;
  split[dim] /= n;
  split.insert(split.begin() + dim, n);
  order.push_back(dim);
  for (int64_t d = 0; d < static_cast<int64_t>(split.size()); ++d)
    if (d != dim)
      order.push_back(d);
  return g.transpose(g.reshape(x, split), order);
}

/// [n, .., L, ..] -> [.., n*L, ..]: outermost blocks go behind each other along `dim`.
Value blocksIn(graph::GraphBuilder &g, Value x, int64_t dim) {
  SmallVector<int64_t> order, merged;
  SmallVector<int64_t> shape = shapeOf(x);
  for (int64_t d = 1; d < static_cast<int64_t>(shape.size()); ++d) {
    if (d == dim + 1)
      order.push_back(0);
    order.push_back(d);
    merged.push_back(d == dim + 1 ? shape[0] * shape[d] : shape[d]);
  }
  return g.reshape(g.transpose(x, order), merged);
}

Value withOutermost(graph::GraphBuilder &g, Value x, int64_t size) {
  SmallVector<int64_t> shape = shapeOf(x);
  shape.insert(shape.begin(), size);
  return g.reshape(x, shape);
}

RankedTensorType resized(Value v, int64_t outermost) {
  SmallVector<int64_t> shape = shapeOf(v);
  shape[0] = outermost;
  return RankedTensorType::get(shape, cast<RankedTensorType>(v.getType()).getElementType());
}

class Rewriter {
public:
  explicit Rewriter(func::FuncOp f) : f(f), builder(f.getContext()) {}

  int64_t run() {
    f.walk([&](Operation *op) {
      if (auto gather = dyn_cast<dist::AllGatherOp>(op))
        rewrite(gather);
      else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op))
        rewrite(scatter);
      else if (auto exchange = dyn_cast<dist::AllToAllOp>(op))
        rewrite(exchange);
    });
    return rewritten;
  }

private:
  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    ++rewritten;
  }

  void rewrite(dist::AllGatherOp op) {
    auto dim = static_cast<int64_t>(op.getDim());
    if (isOutermost(op.getX(), dim))
      return;
    int64_t n = shapeOf(op.getResult())[dim] / shapeOf(op.getX())[dim];
    builder.setInsertionPoint(op);
    graph::GraphBuilder g(builder, op.getLoc());
    Value x = withOutermost(g, op.getX(), 1);
    Value all = dist::AllGatherOp::create(builder, op.getLoc(), resized(x, n), x, op.getMeshAttr(),
                                          op.getAxesAttr(), builder.getI64IntegerAttr(0));
    replace(op, blocksIn(g, all, dim));
  }

  void rewrite(dist::ReduceScatterOp op) {
    auto dim = static_cast<int64_t>(op.getDim());
    if (isOutermost(op.getX(), dim))
      return;
    int64_t n = shapeOf(op.getX())[dim] / shapeOf(op.getResult())[dim];
    builder.setInsertionPoint(op);
    graph::GraphBuilder g(builder, op.getLoc());
    Value x = blocksOut(g, op.getX(), dim, n);
    Value part = dist::ReduceScatterOp::create(builder, op.getLoc(), resized(x, 1),
                                               op.getCombinerAttr(), x, op.getMeshAttr(),
                                               op.getAxesAttr(), builder.getI64IntegerAttr(0));
    replace(op, g.reshape(part, shapeOf(op.getResult())));
  }

  void rewrite(dist::AllToAllOp op) {
    auto split = static_cast<int64_t>(op.getSplit()), concat = static_cast<int64_t>(op.getConcat());
    if (isOutermost(op.getX(), split) && isOutermost(op.getResult(), concat))
      return;
    int64_t n = shapeOf(op.getResult())[concat] / shapeOf(op.getX())[concat];
    if (n == 1)
      n = shapeOf(op.getX())[split] / shapeOf(op.getResult())[split];
    builder.setInsertionPoint(op);
    graph::GraphBuilder g(builder, op.getLoc());
    Value x = blocksOut(g, op.getX(), split, n);
    Value exchanged = dist::AllToAllOp::create(
        builder, op.getLoc(), x.getType(), x, op.getMeshAttr(), op.getAxesAttr(),
        builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(0));
    replace(op, blocksIn(g, exchanged, concat));
  }

  func::FuncOp f;
  OpBuilder builder;
  int64_t rewritten = 0;
};

struct PrepareCollectivesPass : gpucc::impl::PrepareCollectivesBase<PrepareCollectivesPass> {
  void runOnOperation() override {
    getOperation().walk([&](func::FuncOp f) { numRewritten += Rewriter(f).run(); });
  }
};

} // namespace
