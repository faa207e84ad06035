//===- RecomputeProblem.cpp - a step as a problem of what to keep ---------===//
#include "RecomputeProblem.h"

#include "dialects/Interfaces/OpInterfaces.h"
#include "gpucc/Transforms/Memory/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

RecomputeProblem::RecomputeProblem(func::FuncOp function, StepStorage storage)
    : memory(function), storage(std::move(storage)) {
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

double RecomputeProblem::flopsOf(Operation *op) { return workOf(op).first; }

std::pair<double, double> RecomputeProblem::workOfStep() const {
  double flops = 0, cost = 0;
  for (Operation *op : memory.ops) {
    if (isFree(op))
      continue;
    auto [opFlops, opCost] = workOf(op);
    flops += opFlops;
    cost += opCost;
  }
  return {flops, cost};
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
      tensor.size = arenaBytes(result) * copies();
      tensor.producer = index;
      tensor.alwaysKept = staysAnyway(result);
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
  return it != keepIndex.end() && repeated[static_cast<size_t>(it->second)] && !staysAnyway(root);
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

std::vector<char> RecomputeProblem::repeatedOf(const Outcome &outcome) const {
  std::vector<char> repeated(keepOps.size(), 0);
  for (int op : outcome.solution.recomputed)
    repeated[static_cast<size_t>(op)] = 1;
  return repeated;
}

/// Like FunctionMemory::orderProblem, over runs: a value is its root and whether it is the copy.
/// What crosses a stage lies outside the arena that the runs share.
solvers::OrderProblem RecomputeProblem::orderProblem(const Outcome &outcome) const {
  std::vector<char> repeated = repeatedOf(outcome);
  llvm::SetVector<Value> crossing = isStage() ? crossingRoots(outcome) : llvm::SetVector<Value>();
  solvers::OrderProblem problem;
  problem.numOps = static_cast<int>(outcome.runs.size());
  llvm::DenseMap<Value, size_t> tensors[2];
  llvm::DenseMap<Operation *, int> position[2];
  for (auto [i, run] : llvm::enumerate(outcome.runs)) {
    int now = static_cast<int>(i);
    position[run.again][run.op] = now;
    bool late = run.again || isBackward.contains(run.op);
    for (Value operand : run.op->getOperands()) {
      Value root = rootOf(operand);
      bool copy = late && isRepeated(root, repeated);
      // A view of a copy is a copy of the view: it has no run of its own.
      Operation *producer = copy ? root.getDefiningOp() : operand.getDefiningOp();
      if (copy && operand.getDefiningOp() && isBackward.contains(operand.getDefiningOp()))
        problem.precedence.push_back({position[0].lookup(operand.getDefiningOp()), now});
      if (producer)
        problem.precedence.push_back({position[copy].lookup(producer), now});
      auto it = tensors[copy].find(root);
      if (it == tensors[copy].end())
        continue;
      std::vector<int> &consumers = problem.tensors[it->second].consumers;
      if (consumers.empty() || consumers.back() != now)
        consumers.push_back(now);
    }
    for (Value result : run.op->getResults()) {
      bool returned = memory.isReturned(result);
      if (!memory.inArena(result) && !(run.again && returned))
        continue;
      if (!run.again && crossing.contains(result))
        continue;
      tensors[run.again][result] = problem.tensors.size();
      problem.tensors.push_back({arenaBytes(result), now, {}, returned && !run.again});
    }
  }
  memory.addStateEdges(problem, outcome.runs.size(), [&](size_t i) { return outcome.runs[i].op; });
  return problem;
}

llvm::SetVector<Value> RecomputeProblem::crossingRoots(const Outcome &outcome) const {
  std::vector<char> repeated = repeatedOf(outcome);
  llvm::SetVector<Value> crossing;
  for (const Run &run : outcome.runs) {
    if (!run.again && !isBackward.contains(run.op))
      continue;
    for (Value operand : run.op->getOperands()) {
      Value root = rootOf(operand);
      Operation *op = root.getDefiningOp();
      bool made = op ? !isFree(op) && !isBackward.contains(op) : storage.overwritten.contains(root);
      if (made && !staysAnyway(root) && !isRepeated(root, repeated))
        crossing.insert(root);
    }
  }
  return crossing;
}

int64_t RecomputeProblem::crossingBytes(const Outcome &outcome) const {
  int64_t bytes = 0;
  for (Value root : crossingRoots(outcome))
    bytes += arenaBytes(root) * copies();
  return bytes;
}

Outcome RecomputeProblem::unchanged() const {
  solvers::KeepSolution all;
  all.feasible = true;
  return outcome(all);
}

static std::vector<int> identity(size_t size) {
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Outcome RecomputeProblem::outcome(const solvers::KeepSolution &solution) const {
  Outcome result;
  result.solution = solution;
  for (int op : solution.recomputed)
    result.flops += workOf(keepOps[static_cast<size_t>(op)]).first;
  result.runs = listRuns(repeatedOf(result));
  result.crossing = crossingBytes(result);
  result.peak = solvers::peakOfOrder(orderProblem(result), identity(result.runs.size())) +
                (isStage() ? result.crossing : 0);
  return result;
}

/// The part of a problem that lies among the ops begin to end; nothing flows in or out in memory.
static solvers::OrderProblem cut(const solvers::OrderProblem &whole, int begin, int end) {
  auto inside = [&](int op) { return op >= begin && op < end; };
  solvers::OrderProblem part;
  part.numOps = end - begin;
  for (auto [before, after] : whole.precedence)
    if (inside(before) && inside(after))
      part.precedence.push_back({before - begin, after - begin});
  for (const solvers::OrderTensor &t : whole.tensors) {
    if (!inside(t.producer))
      continue;
    part.tensors.push_back({t.size, t.producer - begin, {}, t.kept});
    for (int consumer : t.consumers)
      if (inside(consumer))
        part.tensors.back().consumers.push_back(consumer - begin);
  }
  return part;
}

void RecomputeProblem::reorderRange(Outcome &outcome, size_t begin, size_t end) const {
  solvers::OrderProblem problem =
      cut(orderProblem(outcome), static_cast<int>(begin), static_cast<int>(end));
  solvers::OrderOptions quick;
  quick.start = identity(end - begin);
  quick.stepBudget = 1000;
  quick.beamWidth = 4;
  quick.windowRounds = 1;
  quick.windowSize = 8;
  int64_t before = solvers::peakOfOrder(problem, quick.start);
  solvers::OrderSolution solution = solvers::solveOrder(problem, quick);
  if (solution.peak >= before || !solvers::verifyOrder(problem, solution.order).empty())
    return;
  std::vector<Run> runs;
  for (int i : solution.order)
    runs.push_back(outcome.runs[begin + static_cast<size_t>(i)]);
  std::copy(runs.begin(), runs.end(), outcome.runs.begin() + static_cast<std::ptrdiff_t>(begin));
}

/// The functions of a stage are ordered each by itself.
void RecomputeProblem::reorder(Outcome &outcome) const {
  size_t size = outcome.runs.size(), middle = isStage() ? forward.size() : 0;
  if (middle > 0)
    reorderRange(outcome, 0, middle);
  if (middle < size)
    reorderRange(outcome, middle, size);
  outcome.peak = solvers::peakOfOrder(orderProblem(outcome), identity(size)) +
                 (isStage() ? outcome.crossing : 0);
}

int64_t RecomputeProblem::apply(const Outcome &outcome) {
  Operation *end = memory.function.getBody().front().getTerminator();
  OpBuilder builder(end);
  llvm::DenseMap<Value, Value> again; // copies of repeated ops' results and of views of them
  std::function<Value(Value)> late = [&](Value value) -> Value {
    if (Value known = again.lookup(value))
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
    return again[value] = clone->getResult(0);
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
      if (!staysAnyway(result))
        again[result] = copy;
    ++clones;
  }
  return clones;
}
