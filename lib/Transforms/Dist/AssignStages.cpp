//===- AssignStages.cpp - which pipeline stage an op belongs to -----------===//
//
// Two passes of dynamic programming over the forward ops in their order. The
// first finds the least possible size of the largest stage; the second, among
// cuts that keep every stage within (1 + slack) of it, those that the fewest
// bytes of activations cross.
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Base.h"
#include "gpucc/Transforms/Dist/Passes.h"

#include <limits>

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_ASSIGNSTAGES
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

static double workOf(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return 0;
  OpFacts facts = cost.getFacts();
  // Memory-bound ops take time too: about one flop per byte keeps them from piling up on one stage.
  return facts.matrixFlops + facts.aluFlops + facts.specialFlops + facts.bytesRead +
         facts.bytesWritten;
}

static double bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return static_cast<double>(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
}

/// Forward ops that depend on an input, in order.
static SmallVector<Operation *> movingOps(func::FuncOp function) {
  DenseSet<Value> moving;
  for (BlockArgument argument : function.getArguments())
    if (!function.getArgAttr(argument.getArgNumber(), base::stateAttr))
      moving.insert(argument);
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.hasAttr(base::backwardAttr) ||
        llvm::none_of(op.getOperands(), [&](Value v) { return moving.contains(v); }))
      continue;
    ops.push_back(&op);
    moving.insert(op.getResults().begin(), op.getResults().end());
  }
  return ops;
}

/// crossing[i]: bytes made before ops[i] and used by ops[i] or later.
static std::vector<double> bytesAcross(ArrayRef<Operation *> ops) {
  DenseMap<Operation *, size_t> number;
  for (auto [i, op] : llvm::enumerate(ops))
    number[op] = i;
  std::vector<double> change(ops.size() + 1, 0.0), crossing(ops.size() + 1, 0.0);
  for (auto [i, op] : llvm::enumerate(ops))
    for (Value result : op->getResults()) {
      size_t last = i;
      for (Operation *user : result.getUsers())
        if (auto at = number.find(user); at != number.end())
          last = std::max(last, at->second);
      if (last > i) {
        change[i + 1] += bytesOf(result);
        if (last + 1 <= ops.size())
          change[last + 1] -= bytesOf(result);
      }
    }
  double now = 0;
  for (size_t i = 0; i <= ops.size(); ++i)
    crossing[i] = now += change[i];
  return crossing;
}

namespace {
struct AssignStages : gpucc::impl::AssignStagesBase<AssignStages> {
  using AssignStagesBase::AssignStagesBase;

  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      auto segment = function->getAttrOfType<StringAttr>(base::segmentAttr);
      if (function.isExternal() || (segment && segment.getValue() == "update"))
        continue;
      if (failed(assign(function)))
        return signalPassFailure();
    }
  }

  LogicalResult assign(func::FuncOp function) {
    SmallVector<Operation *> ops = movingOps(function);
    if (stages < 1 || static_cast<int64_t>(ops.size()) < stages)
      return function.emitError("cannot be cut into ")
             << stages.getValue() << " stages: it has " << ops.size()
             << " ops that depend on an input; choose pp between 1 and that number";
    std::vector<size_t> cuts = cutPoints(ops);
    Builder builder(function.getContext());
    for (size_t s = 0; s + 1 < cuts.size(); ++s)
      for (size_t i = cuts[s]; i < cuts[s + 1]; ++i)
        if (!ops[i]->hasAttr(dist::stageAttr))
          ops[i]->setAttr(dist::stageAttr, builder.getI64IntegerAttr(static_cast<int64_t>(s)));
    return success();
  }

  /// 0 = cuts[0] < cuts[1] < … < cuts[stages] = number of ops.
  std::vector<size_t> cutPoints(ArrayRef<Operation *> ops) {
    size_t n = ops.size(), parts = static_cast<size_t>(stages.getValue());
    std::vector<double> sum(n + 1, 0.0), crossing = bytesAcross(ops);
    for (size_t i = 0; i < n; ++i)
      sum[i + 1] = sum[i] + workOf(ops[i]);
    const double inf = std::numeric_limits<double>::infinity();
    // least[s][i]: the best largest stage when the first i ops form s stages.
    std::vector<std::vector<double>> least(parts + 1, std::vector<double>(n + 1, inf));
    least[0][0] = 0;
    for (size_t s = 1; s <= parts; ++s)
      for (size_t i = s; i <= n; ++i)
        for (size_t j = s - 1; j < i; ++j)
          least[s][i] = std::min(least[s][i], std::max(least[s - 1][j], sum[i] - sum[j]));
    double limit = least[parts][n] * (1 + slack) + 1e-9;
    std::vector<std::vector<double>> sent(parts + 1, std::vector<double>(n + 1, inf));
    std::vector<std::vector<size_t>> from(parts + 1, std::vector<size_t>(n + 1, 0));
    sent[0][0] = 0;
    for (size_t s = 1; s <= parts; ++s)
      for (size_t i = s; i <= n; ++i)
        for (size_t j = s - 1; j < i; ++j)
          if (sum[i] - sum[j] <= limit && sent[s - 1][j] + (j ? crossing[j] : 0) < sent[s][i]) {
            sent[s][i] = sent[s - 1][j] + (j ? crossing[j] : 0);
            from[s][i] = j;
          }
    crossingBytes += static_cast<int64_t>(sent[parts][n]);
    std::vector<size_t> cuts(parts + 1, n);
    for (size_t s = parts; s > 0; --s)
      cuts[s - 1] = from[s][cuts[s]];
    return cuts;
  }
};
} // namespace
