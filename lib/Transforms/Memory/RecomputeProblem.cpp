//===- RecomputeProblem.cpp - a step as a problem of what to keep ---------===//
#include "RecomputeProblem.h"

#include "dialects/Interfaces/OpInterfaces.h"
#include "gpucc/Transforms/Memory/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <functional>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

RecomputeProblem::RecomputeProblem(func::FuncOp function) : memory(function) {
  split();
  addTensors();
}

/// Backward is what differentiation marked and everything that reads it.
void RecomputeProblem::split() {
  for (Operation *op : memory.ops) {
    bool reads = llvm::any_of(op->getOperands(), [&](Value v) {
      Operation *producer = v.getDefiningOp();
      return producer && isBackward.contains(producer);
    });
    if (reads || op->hasAttr(base::backwardAttr)) {
      isBackward.insert(op);
      backward.push_back(op);
    } else {
      forward.push_back(op);
    }
  }
}

/// Flops and a time in bytes moved: devices do about 16 f32 operations while they move one byte.
static std::pair<double, double> workOf(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return {0, 1};
  OpFacts facts = cost.getFacts();
  double flops = facts.matrixFlops + facts.aluFlops + facts.specialFlops;
  return {flops, std::max(flops / 16, facts.bytesRead + facts.bytesWritten) + 1};
}

/// Communication and effects happen once.
static bool mayRepeat(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return (dialect == "graph" || dialect == "kernel") && isMemoryEffectFree(op);
}

int RecomputeProblem::tensorOf(Value root) {
  auto [it, added] = tensors.insert({root, static_cast<int>(keep.tensors.size())});
  if (added)
    keep.tensors.push_back({0, -1, false, false, {}});
  return it->second;
}

void RecomputeProblem::addTensors() {
  for (Operation *op : forward) {
    if (isFree(op))
      continue;
    int index = static_cast<int>(keepOps.size());
    solvers::KeepOp keepOp{workOf(op).second, {}, !mayRepeat(op)};
    for (Value operand : op->getOperands())
      keepOp.reads.push_back(tensorOf(rootOf(operand)));
    for (Value result : op->getResults()) {
      solvers::KeepTensor &tensor = keep.tensors[static_cast<size_t>(tensorOf(result))];
      tensor.size = arenaBytes(result);
      tensor.producer = index;
      tensor.alwaysKept = memory.isReturned(result);
    }
    keepIndex[op] = index;
    keepOps.push_back(op);
    keep.ops.push_back(keepOp);
  }
  for (auto [position, op] : llvm::enumerate(backward))
    for (Value operand : op->getOperands()) {
      auto it = tensors.find(rootOf(operand));
      if (it == tensors.end())
        continue;
      solvers::KeepTensor &tensor = keep.tensors[static_cast<size_t>(it->second)];
      tensor.needed = true;
      tensor.backwardUses.push_back(static_cast<int>(position));
    }
}

/// True when backward reads a second copy of this value.
bool RecomputeProblem::isRepeated(Value root, const std::vector<char> &repeated) const {
  Operation *op = root.getDefiningOp();
  auto it = op ? keepIndex.find(op) : keepIndex.end();
  return it != keepIndex.end() && repeated[static_cast<size_t>(it->second)] &&
         !memory.isReturned(root);
}

std::vector<Run> RecomputeProblem::listRuns(const std::vector<char> &repeated) const {
  std::vector<Run> runs;
  for (Operation *op : forward)
    runs.push_back({op, false});
  std::vector<char> done(keepOps.size(), 0);
  // A repeated op runs right before its first reader, after what it reads itself.
  std::function<void(Value)> need = [&](Value value) {
    Value root = rootOf(value);
    if (!isRepeated(root, repeated))
      return;
    auto index = static_cast<size_t>(keepIndex.lookup(root.getDefiningOp()));
    if (done[index])
      return;
    done[index] = 1;
    for (Value operand : keepOps[index]->getOperands())
      need(operand);
    runs.push_back({keepOps[index], true});
  };
  for (Operation *op : backward) {
    for (Value operand : op->getOperands())
      need(operand);
    runs.push_back({op, false});
  }
  return runs;
}

/// Lifetimes over the runs. A value is its root and whether it is the repeated copy.
void RecomputeProblem::measure(Outcome &outcome, const std::vector<char> &repeated) const {
  llvm::DenseMap<Value, std::pair<int, int>> lives[2]; // first, last run
  int end = static_cast<int>(outcome.runs.size()), boundary = static_cast<int>(forward.size());
  for (auto [position, run] : llvm::enumerate(outcome.runs)) {
    int now = static_cast<int>(position);
    bool late = run.again || isBackward.contains(run.op);
    for (Value operand : run.op->getOperands()) {
      Value root = rootOf(operand);
      bool copy = late && isRepeated(root, repeated);
      if (auto it = lives[copy].find(root); it != lives[copy].end())
        it->second.second = now;
    }
    for (Value result : run.op->getResults())
      if (memory.inArena(result) || (run.again && memory.isReturned(result)))
        lives[run.again][result] = {now, memory.isReturned(result) && !run.again ? end : now};
  }
  std::vector<int64_t> change(static_cast<size_t>(end) + 2, 0);
  for (auto &copies : lives)
    for (auto &[root, life] : copies) {
      int64_t bytes = arenaBytes(root);
      change[static_cast<size_t>(life.first)] += bytes;
      change[static_cast<size_t>(life.second) + 1] -= bytes;
      if (life.first < boundary && life.second >= boundary && !memory.isReturned(root))
        outcome.crossing += bytes;
    }
  int64_t live = 0;
  for (int64_t delta : change)
    outcome.peak = std::max(outcome.peak, live += delta);
}

Outcome RecomputeProblem::unchanged() const {
  solvers::KeepSolution all;
  all.feasible = true;
  return outcome(all);
}

Outcome RecomputeProblem::outcome(const solvers::KeepSolution &solution) const {
  Outcome result;
  result.solution = solution;
  std::vector<char> repeated(keepOps.size(), 0);
  for (int op : solution.recomputed) {
    repeated[static_cast<size_t>(op)] = 1;
    result.flops += workOf(keepOps[static_cast<size_t>(op)]).first;
  }
  result.runs = listRuns(repeated);
  measure(result, repeated);
  return result;
}

int64_t RecomputeProblem::apply(const Outcome &outcome) {
  Operation *end = memory.function.getBody().front().getTerminator();
  OpBuilder builder(end);
  llvm::DenseMap<Value, Value> copies; // of repeated ops' results and of views of them
  std::function<Value(Value)> late = [&](Value value) -> Value {
    if (Value known = copies.lookup(value))
      return known;
    auto view = value.getDefiningOp<graph::ReshapeOp>();
    if (!view || isBackward.contains(view))
      return value;
    Value source = late(view.getX());
    if (source == view.getX())
      return value;
    IRMapping mapping;
    mapping.map(view.getX(), source);
    Operation *clone = builder.clone(*view, mapping);
    clone->setAttr(base::backwardAttr, builder.getUnitAttr());
    return copies[value] = clone->getResult(0);
  };
  int64_t clones = 0;
  for (const Run &run : outcome.runs) {
    if (!run.again) {
      if (isBackward.contains(run.op))
        for (OpOperand &operand : run.op->getOpOperands())
          operand.set(late(operand.get()));
      run.op->moveBefore(end);
      continue;
    }
    IRMapping mapping;
    for (Value operand : run.op->getOperands())
      mapping.map(operand, late(operand));
    Operation *clone = builder.clone(*run.op, mapping);
    clone->setAttr(base::backwardAttr, builder.getUnitAttr());
    clone->setAttr(base::recomputeAttr, builder.getUnitAttr());
    for (auto [result, copy] : llvm::zip(run.op->getResults(), clone->getResults()))
      if (!memory.isReturned(result))
        copies[result] = copy;
    ++clones;
  }
  return clones;
}
