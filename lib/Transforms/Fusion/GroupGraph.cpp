//===- GroupGraph.cpp - groups of ops, kept free of cycles ----------------===//
#include "lib/Transforms/Fusion/GroupGraph.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpucc::fusion;

GroupGraph::GroupGraph(Block &block) {
  Operation *effect = nullptr;
  for (Operation &op : block.without_terminator()) {
    GroupId g = groups.size();
    owner[&op] = g;
    number[&op] = g;
    groups.push_back({&op});
    order.push_back(g);
    position.push_back(g);
    if (isMemoryEffectFree(&op))
      continue;
    if (effect) {
      nextEffect[effect] = &op;
      previousEffect[&op] = effect;
    }
    effect = &op;
  }
}

template <typename Neighbours>
static SmallVector<GroupId> collect(const GroupGraph &graph, GroupId g, Neighbours neighbours) {
  llvm::SetVector<GroupId> found;
  for (Operation *op : graph.opsOf(g))
    neighbours(op, [&](Operation *other) {
      if (other && graph.contains(other) && graph.groupOf(other) != g)
        found.insert(graph.groupOf(other));
    });
  SmallVector<GroupId> sorted(found.getArrayRef());
  llvm::sort(sorted,
             [&](GroupId a, GroupId b) { return graph.positionOf(a) < graph.positionOf(b); });
  return sorted;
}

SmallVector<GroupId> GroupGraph::producersOf(GroupId g) const {
  return collect(*this, g, [&](Operation *op, auto add) {
    for (Value v : op->getOperands())
      add(v.getDefiningOp());
    add(previousEffect.lookup(op));
  });
}

SmallVector<GroupId> GroupGraph::consumersOf(GroupId g) const {
  return collect(*this, g, [&](Operation *op, auto add) {
    for (Operation *user : op->getUsers())
      add(user);
    add(nextEffect.lookup(op));
  });
}

SmallVector<Value> GroupGraph::outputsOf(ArrayRef<Operation *> ops) const {
  llvm::DenseSet<Operation *> members(ops.begin(), ops.end());
  SmallVector<Value> out;
  for (Operation *op : ops)
    for (Value v : op->getResults())
      if (llvm::any_of(v.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        out.push_back(v);
  return out;
}

void GroupGraph::reachableBetween(GroupId from, unsigned limit, llvm::DenseSet<GroupId> &reached,
                                  GroupId skip) const {
  SmallVector<GroupId> stack{from};
  while (!stack.empty()) {
    GroupId g = stack.pop_back_val();
    for (GroupId next : consumersOf(g))
      if (next != skip && position[next] <= limit && reached.insert(next).second)
        stack.push_back(next);
  }
}

bool GroupGraph::canMerge(GroupId a, GroupId b) const {
  if (position[a] > position[b])
    std::swap(a, b);
  llvm::DenseSet<GroupId> reached;
  reachableBetween(a, position[b], reached, b);
  for (GroupId producer : producersOf(b))
    if (producer != a && reached.contains(producer))
      return false;
  return true;
}

void GroupGraph::reindex(unsigned from) {
  for (unsigned i = from; i < order.size(); ++i)
    position[order[i]] = i;
}

SmallVector<Operation *> GroupGraph::unite(GroupId a, GroupId b) const {
  SmallVector<Operation *> ops(groups[a]);
  ops.append(groups[b]);
  llvm::stable_sort(ops, [&](Operation *x, Operation *y) {
    unsigned nx = number.lookup(x), ny = number.lookup(y);
    return nx < ny;
  });
  return ops;
}

GroupId GroupGraph::merge(GroupId a, GroupId b) {
  if (position[a] > position[b])
    std::swap(a, b);
  unsigned first = position[a], last = position[b];
  llvm::DenseSet<GroupId> reached;
  reachableBetween(a, last, reached, b);
  SmallVector<GroupId> before, after;
  for (unsigned i = first + 1; i < last; ++i)
    (reached.contains(order[i]) ? after : before).push_back(order[i]);
  SmallVector<Operation *> united = unite(a, b);
  unsigned at = first;
  for (GroupId g : before)
    order[at++] = g;
  order[at++] = b;
  for (GroupId g : after)
    order[at++] = g;
  order.erase(order.begin() + at);
  for (Operation *op : groups[a])
    owner[op] = b;
  groups[a].clear();
  groups[b] = std::move(united);
  reindex(first);
  return b;
}

GroupId GroupGraph::addCopy(Operation *copy, Operation *of) {
  GroupId g = groups.size(), original = owner.lookup(of);
  owner[copy] = g;
  number[copy] = number.lookup(of);
  groups.push_back({copy});
  position.push_back(0);
  order.insert(order.begin() + position[original] + 1, g);
  reindex(position[original]);
  return g;
}
