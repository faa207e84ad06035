//===- DecomposeForSharding.cpp - composites that batch parts cross -------===//
//
// Follows the batch dimension from the inputs through the ops' rules. Where it
// meets a loop that may not be split inside a composite, the composite is
// replaced by its expansion, and the walk goes on in there.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Dist/DecomposeForSharding.h"

#include "dialects/Base/Base.h"
#include "dialects/Dist/Dist.h"
#include "gpucc/Transforms/Dist/FunctionSharding.h"

using namespace mlir;
using namespace gpucc;

namespace {
/// Per value the dimension that holds the batch; absent when none does.
using BatchDims = DenseMap<Value, int64_t>;
} // namespace

/// The factor that the batch is in this op, if an operand brings one; -1 otherwise.
static int batchFactor(Operation *op, const ShardingRule &rule, const BatchDims &dims) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (auto at = dims.find(operand); at != dims.end())
      if (const auto &factors = rule.operands[i][at->second]; !factors.empty())
        return factors.front();
  return -1;
}

static void follow(Operation *op, const ShardingRule &rule, int factor, BatchDims &dims) {
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    for (auto [d, factors] : llvm::enumerate(rule.results[i]))
      if (!factors.empty() && factors.front() == factor)
        dims[result] = static_cast<int64_t>(d);
}

/// Replaces the op by its expansion; the new ops keep its stage and direction.
static Operation *expand(Operation *op, DecomposableOpInterface composite) {
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  SmallVector<Value> values = composite.buildDecomposition(builder, op->getOperands());
  Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
  for (Operation *made = first; made != op; made = made->getNextNode())
    for (StringRef name : {StringRef(dist::stageAttr), StringRef(base::backwardAttr)})
      if (Attribute attr = op->getAttr(name))
        made->setAttr(name, attr);
  op->replaceAllUsesWith(values);
  Operation *next = first == op ? op->getNextNode() : first;
  op->erase();
  return next;
}

LogicalResult gpucc::decomposeForSharding(func::FuncOp function, int64_t batch) {
  if (batch == 0)
    return success();
  BatchDims dims;
  for (BlockArgument argument : function.getArguments()) {
    auto kind = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), base::kindAttr);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool input = kind && (kind.getValue() == "input" || kind.getValue() == "label");
    if (input && type && type.getRank() > 0 && type.getDimSize(0) == batch)
      dims[argument] = 0;
  }
  Operation *op = &function.getBody().front().front();
  while (op && !op->hasTrait<OpTrait::IsTerminator>()) {
    ShardingRule rule = shardingRuleOf(op);
    int factor = batchFactor(op, rule, dims);
    auto composite = dyn_cast<DecomposableOpInterface>(op);
    if (factor >= 0 && !isSplittable(rule, factor) && composite) {
      op = expand(op, composite);
      continue;
    }
    if (factor >= 0)
      follow(op, rule, factor, dims);
    op = op->getNextNode();
  }
  return success();
}
