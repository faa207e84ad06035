//===- MergeOps.cpp - ops of a graph as the kernels they become -----------===//
#include "MergeOps.h"

#include "ComposeRules.h"
#include <algorithm>
#include <functional>

using namespace gpucc;
using namespace gpucc::planner;

namespace {

class Merger {
public:
  Merger(PlanProblem &problem, std::vector<MergeKind> kinds)
      : p(problem), kinds(std::move(kinds)) {}

  void run() {
    moveViewsToReaders();
    count();
    for (int op = 0; op < size(); ++op)
      mergeProducers(op);
    keepEpiloguesInRegisters();
    compact();
  }

private:
  int size() const { return static_cast<int>(p.ops.size()); }
  static bool isMatrix(const PlanOp &op) { return op.facts.matrixFlops > 0; }

  void findProducers() {
    producer.assign(p.tensors.size(), -1);
    for (int op = 0; op < size(); ++op)
      for (int t : p.ops[op].results)
        producer[t] = op;
  }

  /// Every reader gets views of its own, in its phase and segment.
  void moveViewsToReaders() {
    findProducers();
    std::vector<PlanOp> placed;
    std::vector<MergeKind> placedKinds;
    std::function<void(PlanOp)> place = [&](PlanOp op) {
      for (int &t : op.operands)
        if (int from = producer[t]; from >= 0 && kinds[from] == MergeKind::View) {
          PlanOp view = p.ops[from];
          view.phase = op.phase;
          view.segment = op.segment;
          p.tensors.push_back(p.tensors[t]);
          producer.push_back(-1);
          t = view.results[0] = static_cast<int>(p.tensors.size()) - 1;
          place(view);
        }
      placed.push_back(std::move(op));
    };
    for (int op = 0; op < size(); ++op)
      if (kinds[op] != MergeKind::View) {
        place(p.ops[op]);
        placedKinds.resize(placed.size(), MergeKind::View);
        placedKinds.back() = kinds[op];
      }
    p.ops = std::move(placed);
    kinds = std::move(placedKinds);
  }

  void count() {
    findProducers();
    readers.assign(p.tensors.size(), 0);
    dead.assign(p.ops.size(), false);
    for (const PlanOp &op : p.ops)
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (firstUse(op, op.operands[i]) == i)
          ++readers[op.operands[i]];
  }

  static size_t firstUse(const PlanOp &op, int tensor) {
    return std::find(op.operands.begin(), op.operands.end(), tensor) - op.operands.begin();
  }

  bool mayMerge(const PlanOp &from, int fromIndex, const PlanOp &into, int intoIndex) const {
    if (from.results.size() != 1 || readers[from.results[0]] != 1 || from.phase != into.phase ||
        from.segment != into.segment || !from.newStateOf.empty())
      return false;
    if (kinds[fromIndex] == MergeKind::View)
      return true;
    bool plain = kinds[fromIndex] == MergeKind::Plain && kinds[intoIndex] == MergeKind::Plain;
    // A matrix op takes a following op that only adds up (an accumulator), see composeRules.
    return plain && !isMatrix(into) && (!isMatrix(from) || into.operands.size() == 1);
  }

  void mergeProducers(int index) {
    for (bool merged = true; merged;) {
      merged = false;
      for (int t : p.ops[index].operands) {
        int from = producer[t];
        if (from >= 0 && !dead[from] && mayMerge(p.ops[from], from, p.ops[index], index) &&
            merge(from, index)) {
          merged = true;
          break; // the operands have changed
        }
      }
    }
  }

  bool merge(int from, int index) {
    const PlanOp &a = p.ops[from];
    PlanOp b = p.ops[index];
    int between = a.results[0];
    std::vector<size_t> uses;
    for (size_t i = 0; i < b.operands.size(); ++i)
      if (b.operands[i] == between)
        uses.push_back(i);
    std::optional<ShardingRule> rule = composeRules(a.rule, b.rule, uses);
    if (!rule)
      return false;
    std::vector<int> operands;
    for (size_t i = 0; i < b.operands.size(); ++i)
      if (i == uses[0])
        operands.insert(operands.end(), a.operands.begin(), a.operands.end());
      else if (b.operands[i] != between)
        operands.push_back(b.operands[i]);
    double twice = 0;
    if (!dropRepeated(operands, *rule, isMatrix(a) || isMatrix(b), twice))
      return false;
    double bytes = p.tensors[between].bytes();
    OpFacts facts = isMatrix(a) ? a.facts : b.facts; // keeps the shape of the matrix work
    if (kinds[from] != MergeKind::View) {
      facts.aluFlops = a.facts.aluFlops + b.facts.aluFlops;
      facts.specialFlops = a.facts.specialFlops + b.facts.specialFlops;
      facts.bytesRead = std::max(0.0, a.facts.bytesRead + b.facts.bytesRead - bytes - twice);
      facts.bytesWritten = b.facts.bytesWritten;
    } else if (p.tensors[a.operands[0]].bytes() < bytes) { // a broadcast: reads less than it shows
      facts.bytesRead = std::max(0.0, facts.bytesRead - bytes + p.tensors[a.operands[0]].bytes());
    }
    b.operands = std::move(operands);
    b.rule = std::move(*rule);
    b.facts = facts;
    b.noRecompute |= a.noRecompute;
    if (isMatrix(a))
      b.name = a.name;
    p.ops[index] = std::move(b);
    dead[from] = true;
    return true;
  }

  /// A tensor that is read twice alike is read once. False where it is read in two different ways.
  bool dropRepeated(std::vector<int> &operands, ShardingRule &rule, bool matrix, double &bytes) {
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t k = i + 1; k < operands.size();) {
        if (operands[i] != operands[k] || matrix) {
          ++k;
          continue;
        }
        if (rule.operands[i] != rule.operands[k])
          return false;
        bytes += p.tensors[operands[k]].bytes();
        bool together =
            !rule.linearTogether.empty() && rule.linearTogether[i] && rule.linearTogether[k];
        if (!rule.linearIn.empty())
          rule.linearIn[i] = false;
        if (!together)
          rule.linearTogether.clear();
        operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(k));
        rule.operands.erase(rule.operands.begin() + static_cast<std::ptrdiff_t>(k));
        for (std::vector<bool> *flags : {&rule.linearIn, &rule.linearTogether})
          if (!flags->empty())
            flags->erase(flags->begin() + static_cast<std::ptrdiff_t>(k));
        --readers[operands[i]];
      }
    return true;
  }

  void keepEpiloguesInRegisters() {
    for (int op = 0; op < size(); ++op) {
      if (dead[op] || isMatrix(p.ops[op]))
        continue;
      for (int t : p.ops[op].operands) {
        int from = producer[t];
        if (from < 0 || dead[from] || !isMatrix(p.ops[from]) || readers[t] != 1 ||
            p.ops[from].phase != p.ops[op].phase)
          continue;
        double bytes = p.tensors[t].bytes();
        OpFacts &written = p.ops[from].facts, &read = p.ops[op].facts;
        written.bytesWritten = std::max(0.0, written.bytesWritten - bytes);
        read.bytesRead = std::max(0.0, read.bytesRead - bytes);
        break; // one epilogue
      }
      if (kinds[op] == MergeKind::View)
        p.ops[op].facts = {};
    }
  }

  void compact() {
    std::vector<PlanOp> ops;
    std::vector<char> used(p.tensors.size(), 0);
    for (int op = 0; op < size(); ++op)
      if (!dead[op]) {
        ops.push_back(std::move(p.ops[op]));
        for (const auto *list : {&ops.back().operands, &ops.back().results})
          for (int t : *list)
            used[t] = 1;
      }
    std::vector<int> place(p.tensors.size(), -1);
    std::vector<PlanTensor> tensors;
    for (size_t t = 0; t < p.tensors.size(); ++t)
      if (used[t] || p.tensors[t].isState) {
        place[t] = static_cast<int>(tensors.size());
        tensors.push_back(std::move(p.tensors[t]));
      }
    for (PlanOp &op : ops) {
      for (auto *list : {&op.operands, &op.results})
        for (int &t : *list)
          t = place[t];
      for (int &t : op.newStateOf)
        t = t < 0 ? t : place[t];
    }
    p.ops = std::move(ops);
    p.tensors = std::move(tensors);
  }

  PlanProblem &p;
  std::vector<MergeKind> kinds;
  std::vector<int> producer, readers;
  std::vector<char> dead;
};

} // namespace

void gpucc::mergeOps(PlanProblem &problem, const std::vector<MergeKind> &kinds) {
  Merger(problem, kinds).run();
}

void gpucc::markAttention(PlanProblem &p) {
  std::vector<int> producer(p.tensors.size(), -1);
  std::vector<char> isMoving(p.tensors.size(), 0); // computed from an input
  for (size_t t = 0; t < p.tensors.size(); ++t)
    isMoving[t] = p.tensors[t].batchDim >= 0 && !p.tensors[t].isState;
  auto isProduct = [&](const PlanOp &op) { // of two activations
    return op.facts.matrixFlops > 0 && op.operands.size() >= 2 && isMoving[op.operands[0]] &&
           isMoving[op.operands[1]];
  };
  for (int op = 0; op < static_cast<int>(p.ops.size()); ++op)
    for (int t : p.ops[op].results)
      producer[t] = op;
  for (const PlanOp &last : p.ops) {
    if (last.phase != Phase::Forward || !isProduct(last))
      continue;
    // From the first operand back through what is no matrix op, up to a product of activations.
    for (int first : {last.operands[0], last.operands[1]}) {
      std::vector<int> way, work{producer[first]};
      bool reaches = false;
      while (!work.empty() && way.size() < 64) {
        int op = work.back();
        work.pop_back();
        if (op < 0 || std::find(way.begin(), way.end(), op) != way.end())
          continue;
        bool matrix = p.ops[op].facts.matrixFlops > 0;
        if (matrix && !isProduct(p.ops[op]))
          continue;
        way.push_back(op);
        reaches |= matrix;
        if (!matrix && p.ops[op].segment == last.segment)
          for (int t : p.ops[op].operands)
            work.push_back(producer[t]);
      }
      if (reaches)
        for (int op : way)
          p.ops[op].cheap = true;
    }
  }
}
