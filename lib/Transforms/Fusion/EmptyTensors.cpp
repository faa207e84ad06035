//===- EmptyTensors.cpp - tensors without elements -------------------------===//
//
// Kernels have at least one point. A tensor without elements (the cache of a
// decoder before its first token) is a constant that takes no memory; what
// reads one either makes another, or does not depend on it:
//
//   concat(empty, x)       x           sum over no elements, product with K = 0    its identity
//   scatter(x, no updates) x           pad(empty)                                  the pad value
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Support/Types.h"
#include "lib/Transforms/Fusion/Prepare.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

static bool isEmpty(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && type.getNumElements() == 0;
}

static Value emptyConstant(OpBuilder &builder, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return graph::ConstantOp::create(builder, like.getLoc(),
                                   DenseElementsAttr::get(type, ArrayRef<Attribute>()));
}

/// What an op with an empty operand yields; null when it must be kept.
static Value withoutEmptyOperand(Operation *op) {
  OpBuilder builder(op);
  graph::GraphBuilder g(builder, op->getLoc());
  if (auto concat = dyn_cast<graph::ConcatOp>(op)) {
    SmallVector<Value> parts;
    for (Value v : concat.getInputs())
      if (!isEmpty(v))
        parts.push_back(v);
    return parts.size() == 1 ? parts.front() : g.concat(parts, concat.getDim());
  }
  if (auto scatter = dyn_cast<graph::ScatterOp>(op))
    return scatter.getData();
  if (auto pad = dyn_cast<graph::PadOp>(op))
    return pad.getValue()
               ? g.broadcastScalar(g.reshape(pad.getValue(), {}), shapeOf(pad.getResult()))
               : Value();
  // Reductions and products: the value does not depend on data.
  if (!isa<graph::ReduceOp, graph::ContractOp>(op))
    return {};
  SmallVector<HostTensor> operands;
  for (Value v : op->getOperands())
    operands.push_back(
        HostTensor(*toDType(getElementTypeOrSelf(v.getType())), toShape(v.getType())));
  Value result = op->getResult(0);
  SmallVector<HostTensor> results{
      HostTensor(*toDType(getElementTypeOrSelf(result.getType())), toShape(result.getType()))};
  if (failed(cast<EvaluateOpInterface>(op).evaluate(operands, results)))
    return {};
  return graph::ConstantOp::create(builder, op->getLoc(),
                                   toElementsAttr(op->getContext(), results.front()));
}

unsigned fusion::foldEmptyTensors(func::FuncOp function) {
  unsigned count = 0;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isa_and_present<graph::GraphDialect>(op.getDialect()) || op.getNumResults() != 1 ||
        isa<graph::ConstantOp, graph::WeightOp>(op))
      continue;
    OpBuilder builder(&op);
    Value replacement;
    if (isEmpty(op.getResult(0)))
      replacement = emptyConstant(builder, op.getResult(0));
    else if (llvm::any_of(op.getOperands(), isEmpty))
      replacement = withoutEmptyOperand(&op);
    if (!replacement)
      continue;
    op.replaceAllUsesWith(ValueRange(replacement));
    op.erase();
    ++count;
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (count && isOpTriviallyDead(&op)) // what only emptied ops read
      op.erase();
  return count;
}
