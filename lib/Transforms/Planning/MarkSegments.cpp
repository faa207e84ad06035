//===- MarkSegments.cpp - where a pipeline may be cut ---------------------===//
//
// Example, a residual block: x → norm → contract → relu → contract → add(x): inside the block two
// values are alive, x and the branch; behind the add there is one. The block is one segment.
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Base.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Transforms/Planning/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_MARKSEGMENTS
#include "lib/Transforms/Planning/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

/// Forward ops that depend on an input, in order.
static SmallVector<Operation *> movingOps(func::FuncOp function) {
  DenseSet<Value> moving;
  for (BlockArgument argument : function.getArguments())
    if (!function.getArgAttr(argument.getArgNumber(), base::stateAttr))
      moving.insert(argument);
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    if (!op.hasAttr(base::backwardAttr) &&
        llvm::any_of(op.getOperands(), [&](Value v) { return moving.contains(v); })) {
      ops.push_back(&op);
      moving.insert(op.getResults().begin(), op.getResults().end());
    }
  return ops;
}

static bool isMatrixOp(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost && cost.getFacts().matrixFlops > 0;
}

/// alive[i]: values made by ops before i that i or a later op reads.
static std::vector<int> aliveBefore(ArrayRef<Operation *> ops) {
  DenseMap<Operation *, size_t> number;
  for (auto [i, op] : llvm::enumerate(ops))
    number[op] = i;
  std::vector<int> change(ops.size() + 2, 0), alive(ops.size() + 1, 0);
  for (auto [i, op] : llvm::enumerate(ops))
    for (Value result : op->getResults()) {
      size_t last = i;
      for (Operation *user : result.getUsers())
        if (auto at = number.find(user); at != number.end())
          last = std::max(last, at->second);
      if (last > i) {
        ++change[i + 1];
        --change[last + 1];
      }
    }
  int now = 0;
  for (size_t i = 0; i <= ops.size(); ++i)
    alive[i] = now += change[i];
  return alive;
}

/// Segment of every op: a new one starts where one value is alive and the last segment had a matrix
/// op, or at every matrix op when `anywhere`.
static std::vector<int64_t> segmentsOf(ArrayRef<Operation *> ops, bool anywhere) {
  std::vector<int> alive = aliveBefore(ops);
  std::vector<int64_t> segment(ops.size(), 0);
  int64_t now = 0;
  bool hasMatrix = false;
  size_t matrixLeft = llvm::count_if(ops, isMatrixOp);
  for (size_t i = 0; i < ops.size(); ++i) {
    bool matrix = isMatrixOp(ops[i]);
    if (hasMatrix && matrixLeft > 0 && (anywhere ? matrix : alive[i] <= 1)) {
      ++now;
      hasMatrix = false;
    }
    hasMatrix |= matrix;
    matrixLeft -= matrix;
    segment[i] = now;
  }
  return segment;
}

namespace {
struct MarkSegments : gpucc::impl::MarkSegmentsBase<MarkSegments> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      auto kind = function->getAttrOfType<StringAttr>(base::segmentAttr);
      if (function.isExternal() || (kind && kind.getValue() == "update"))
        continue;
      SmallVector<Operation *> ops = movingOps(function);
      std::vector<int64_t> segment = segmentsOf(ops, false);
      if (!ops.empty() && segment.back() == 0)
        segment = segmentsOf(ops, true);
      for (auto [op, number] : llvm::zip(ops, segment))
        op->setAttr(base::stageAttr, builder.getI64IntegerAttr(number));
      if (!ops.empty())
        numSegments += segment.back() + 1;
    }
  }
};
} // namespace
