//===- ExpandComposites.cpp - composites and arg_reduce as simpler ops ----===//
//
// arg_reduce has no emitter of its own: the index of the first greatest element
// is the least index whose element is the maximum.
//
//   m = max(x)     hit = x == m, or x is NaN and m is NaN     index = min(hit ? iota : n)
//
// so it fuses with what makes x and with other reductions of the same rows.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Graph.h"
#include "lib/Transforms/Fusion/Prepare.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

static bool isExpanded(Operation *op, const Policy &policy) {
  if (isa<ScalarBodyOpInterface>(op) || !isa<DecomposableOpInterface>(op))
    return false;
  return !(isa<graph::AttentionOp>(op) && policy.emitsAttention());
}

static Value expandArgReduce(graph::ArgReduceOp op) {
  OpBuilder builder(op);
  graph::GraphBuilder g(builder, op.getLoc());
  Value x = op.getX();
  auto type = cast<RankedTensorType>(x.getType());
  int64_t dim = op.getDim(), size = type.getDimSize(dim);
  Value extreme = g.broadcastOver(g.reduce(op.getKind(), x, {dim}), x, {dim});
  Value hit = g.compare(graph::CompareKind::Eq, x, extreme);
  if (isa<FloatType>(type.getElementType())) {
    Value bothNan = g.binary(graph::BinaryKind::And, g.unary(graph::UnaryKind::IsNan, x),
                             g.unary(graph::UnaryKind::IsNan, extreme));
    hit = g.binary(graph::BinaryKind::Or, hit, bothNan);
  }
  auto indexType = RankedTensorType::get(type.getShape(), builder.getI64Type());
  Value miss = g.splat(indexType, op.getSelectLast() ? -1.0 : static_cast<double>(size));
  Value candidates = g.select(hit, g.iota(indexType, dim), miss);
  return g.reduce(op.getSelectLast() ? graph::ReductionKind::Max : graph::ReductionKind::Min,
                  candidates, {dim});
}

unsigned fusion::expandComposites(func::FuncOp function, const Policy &policy) {
  unsigned count = 0;
  for (bool changed = true; changed;) { // an expansion may hold composites
    changed = false;
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
      SmallVector<Value> values;
      if (auto arg = dyn_cast<graph::ArgReduceOp>(op)) {
        values.push_back(expandArgReduce(arg));
      } else if (isExpanded(&op, policy)) {
        OpBuilder builder(&op);
        values = cast<DecomposableOpInterface>(op).buildDecomposition(builder, op.getOperands());
      } else {
        continue;
      }
      op.replaceAllUsesWith(values);
      op.erase();
      ++count;
      changed = true;
    }
  }
  return count;
}
