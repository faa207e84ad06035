//===- Decomposition.cpp - composites through their expansion -------------===//
#include "dialects/Graph/Decomposition.h"
#include "dialects/Graph/Evaluate.h"
#include "dialects/Graph/Facts.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

namespace {
/// The expansion of a composite in a block of its own; arguments stand for the operands.
struct Expansion {
  Block block;
  SmallVector<Value> results;

  /// With `wide`, operands of floats become f64.
  Expansion(Operation *op, bool wide) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToStart(&block);
    for (Value v : op->getOperands()) {
      RankedTensorType type = tensorOf(v);
      bool isFloat = isa<FloatType>(type.getElementType());
      block.addArgument(wide && isFloat ? type.clone(builder.getF64Type()) : type, op->getLoc());
    }
    results = cast<DecomposableOpInterface>(op).buildDecomposition(builder, block.getArguments());
  }
};

HostTensor converted(const HostTensor &from, DType to) {
  if (from.dtype() == to)
    return from;
  HostTensor t(to, from.shape());
  fromDoubles(toDoubles(from), t);
  return t;
}
} // namespace

LogicalResult gpucc::graph::evaluateBlock(Block &block, DenseMap<Value, HostTensor> &values) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    auto evaluable = dyn_cast<EvaluateOpInterface>(op);
    if (!evaluable)
      return op.emitOpError("cannot be evaluated: it does not implement EvaluateOpInterface");
    SmallVector<HostTensor> operands, results;
    for (Value v : op.getOperands())
      operands.push_back(values.lookup(v));
    for (Value v : op.getResults())
      results.emplace_back(*toDType(tensorOf(v).getElementType()), toShape(v.getType()));
    if (failed(evaluable.evaluate(operands, results)))
      return failure();
    for (auto [v, t] : llvm::zip(op.getResults(), results))
      values[v] = t;
  }
  return success();
}

LogicalResult gpucc::graph::evaluateByDecomposition(Operation *op, ArrayRef<HostTensor> operands,
                                                    MutableArrayRef<HostTensor> results) {
  Expansion expansion(op, /*wide=*/true);
  DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] : llvm::zip_equal(expansion.block.getArguments(), operands))
    values[argument] = converted(tensor, *toDType(tensorOf(argument).getElementType()));
  if (failed(evaluateBlock(expansion.block, values)))
    return failure();
  for (auto [value, result] : llvm::zip_equal(expansion.results, results))
    result = converted(values.lookup(value), result.dtype());
  return success();
}

OpFacts gpucc::graph::factsByDecomposition(Operation *op) {
  OpFacts f = memoryFacts(op);
  Expansion expansion(op, /*wide=*/false);
  for (Operation &inner : expansion.block) {
    OpFacts i = cast<CostOpInterface>(inner).getFacts();
    f.aluFlops += i.aluFlops;
    f.specialFlops += i.specialFlops;
    f.matrixFlops += i.matrixFlops;
    if (i.matrixFlops > 0 && f.m == 0) {
      f.m = i.m, f.n = i.n, f.k = i.k, f.batch = i.batch;
      f.matrixType = i.matrixType;
    }
  }
  return f;
}

/// The op before the builder's insertion point; null at the start of the block.
static Operation *lastBuilt(OpBuilder &builder) {
  Block *block = builder.getInsertionBlock();
  auto point = builder.getInsertionPoint();
  return point == block->begin() ? nullptr : &*std::prev(point);
}

/// What was built for the derivative of `op` belongs to its pipeline stage (docs/conventions.md).
static void copyStage(Operation *op, Operation *before, OpBuilder &builder) {
  Attribute stage = op->getAttr(base::stageAttr);
  Operation *last = lastBuilt(builder);
  for (Operation *made = last; stage && made && made != before; made = made->getPrevNode())
    made->setAttr(base::stageAttr, stage);
}

LogicalResult gpucc::graph::reverseSweep(OpBuilder &builder, ArrayRef<Operation *> ops,
                                         ArrayRef<Value> wanted, DenseMap<Value, Value> &grads) {
  // Values on a way from a wanted value to a result.
  llvm::DenseSet<Value> active(wanted.begin(), wanted.end());
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(), [&](Value v) { return active.contains(v); }))
      active.insert_range(op->getResults());
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<Value> resultGrads;
    for (Value v : op->getResults())
      resultGrads.push_back(grads.lookup(v));
    SmallVector<bool> needed;
    for (Value v : op->getOperands())
      needed.push_back(active.contains(v));
    if (llvm::none_of(resultGrads, [](Value g) { return bool(g); }) ||
        llvm::none_of(needed, [](bool n) { return n; }))
      continue;
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitOpError("cannot be differentiated: it does not implement "
                             "DifferentiableOpInterface");
    SmallVector<Value> operandGrads(op->getNumOperands());
    Operation *before = lastBuilt(builder);
    if (failed(differentiable.buildVjp(builder, resultGrads, needed, operandGrads)))
      return failure();
    GraphBuilder g(builder, op->getLoc());
    for (auto [v, grad] : llvm::zip(op->getOperands(), operandGrads)) {
      if (!grad)
        continue;
      Value &sum = grads[v];
      sum = sum ? g.add(sum, grad) : grad;
    }
    copyStage(op, before, builder);
  }
  return success();
}

LogicalResult gpucc::graph::vjpByDecomposition(Operation *op, OpBuilder &builder,
                                               ArrayRef<Value> resultGrads, ArrayRef<bool> needed,
                                               MutableArrayRef<Value> operandGrads) {
  // The expansion moves to its place but keeps using the block's arguments until the sweep is over,
  // so that an operand used twice keeps its gradients apart.
  Expansion expansion(op, /*wide=*/false);
  SmallVector<Operation *> ops;
  SmallVector<Value> wanted;
  for (auto [argument, n] : llvm::zip_equal(expansion.block.getArguments(), needed))
    if (n)
      wanted.push_back(argument);
  for (Operation &inner : llvm::make_early_inc_range(expansion.block)) {
    inner.remove();
    builder.insert(&inner);
    ops.push_back(&inner);
  }
  DenseMap<Value, Value> grads;
  GraphBuilder g(builder, op->getLoc());
  for (auto [result, grad] : llvm::zip_equal(expansion.results, resultGrads)) {
    if (!grad)
      continue;
    Value &sum = grads[result];
    sum = sum ? g.add(sum, grad) : grad;
  }
  LogicalResult swept = reverseSweep(builder, ops, wanted, grads);
  for (auto [i, argument] : llvm::enumerate(expansion.block.getArguments())) {
    if (Value grad = grads.lookup(argument); grad && needed[i])
      operandGrads[i] = grad == argument ? op->getOperand(i) : grad;
    argument.replaceAllUsesWith(op->getOperand(i));
  }
  return swept;
}
