//===- MergeGroups.cpp - which groups become one --------------------------===//
#include "lib/Transforms/Fusion/MergeGroups.h"

#include "dialects/Base/Base.h"
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

/// Siblings further apart than this are not merged: they would make tensors live long.
static constexpr unsigned siblingDistance = 24;

bool fusion::isFreeLeaf(Operation *op) {
  return roleOf(op) == OpRole::Leaf && op->getNumOperands() == 0;
}

bool fusion::isFusable(Operation *op, const Policy &policy) {
  if (op->getNumResults() != 1 || elementsOf(op->getResult(0)) == 0)
    return false;
  for (Value v : op->getOperands())
    if (!isa<RankedTensorType>(v.getType()) || elementsOf(v) == 0)
      return false;
  switch (roleOf(op)) {
  case OpRole::Pointwise:
  case OpRole::Movement:
  case OpRole::Reduction:
  case OpRole::Window:
    return true;
  case OpRole::Leaf:
    return !isFreeLeaf(op);
  case OpRole::Skeleton:
    return !policy.isLibraryCall(op);
  case OpRole::Ordered:
  case OpRole::Other:
    return false;
  }
  return false;
}

SmallVector<Operation *> fusion::withFreeLeaves(ArrayRef<Operation *> ops) {
  llvm::SetVector<Operation *> leaves;
  llvm::DenseSet<Operation *> inMemory; // products read their operands from there
  for (Operation *op : ops)
    for (Value v : op->getOperands())
      if (Operation *def = v.getDefiningOp(); def && isFreeLeaf(def)) {
        leaves.insert(def);
        if (roleOf(op) == OpRole::Skeleton)
          inMemory.insert(def);
      }
  SmallVector<Operation *> all;
  for (Operation *leaf : leaves)
    if (!inMemory.contains(leaf))
      all.push_back(leaf);
  all.append(ops.begin(), ops.end());
  return all;
}

static bool isBackward(Operation *op) { return op->hasAttr(base::backwardAttr); }

bool GroupMerger::mayJoin(GroupId g) const {
  return !graph.opsOf(g).empty() &&
         llvm::all_of(graph.opsOf(g), [&](Operation *op) { return isFusable(op, policy); });
}

bool GroupMerger::hasLoops(ArrayRef<Operation *> ops, ArrayRef<Value> outputs,
                           std::string &why) const {
  SmallVector<Operation *> all = withFreeLeaves(ops);
  std::optional<ClusterDomain> domain = findDomain(all, outputs, why);
  if (!domain)
    return false;
  why = policy.refuse(ops, outputs, *domain);
  return why.empty();
}

int64_t GroupMerger::savedBytes(GroupId producer, GroupId consumer) const {
  llvm::DenseSet<Value> seen;
  int64_t saved = 0;
  for (Operation *op : graph.opsOf(consumer))
    for (Value v : op->getOperands()) {
      Operation *def = v.getDefiningOp();
      if (!def || !graph.contains(def) || graph.groupOf(def) != producer || !seen.insert(v).second)
        continue;
      bool internal = llvm::all_of(v.getUsers(), [&](Operation *user) {
        return graph.contains(user) &&
               (graph.groupOf(user) == producer || graph.groupOf(user) == consumer);
      });
      saved += bytesOf(v) * (internal ? 2 : 1);
    }
  return saved;
}

void GroupMerger::remark(GroupId producer, GroupId consumer, StringRef why) const {
  if (!remarks)
    return;
  Operation *from = graph.opsOf(producer).back();
  InFlightDiagnostic diag = from->emitRemark("not fused into its user: ") << why;
  diag.attachNote(graph.opsOf(consumer).front()->getLoc()) << "the user";
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

bool GroupMerger::tryMerge(GroupId producer, GroupId consumer, std::string &why) {
  ArrayRef<Operation *> made = graph.opsOf(producer);
  bool cheap = made.size() == 1 && policy.isCheapToCopy(made.front());
  if (!cheap && isBackward(made.front()) != isBackward(graph.opsOf(consumer).front())) {
    why = "one is forward, the other backward: recomputation needs them apart";
    return false;
  }
  SmallVector<Operation *> ops = graph.unite(producer, consumer);
  if (!hasLoops(ops, graph.outputsOf(ops), why))
    return false;
  if (!graph.canMerge(producer, consumer)) {
    why = "another kernel must run between them";
    return false;
  }
  graph.merge(producer, consumer);
  return true;
}

bool GroupMerger::tryCopy(GroupId producer, GroupId &consumer, std::string &why) {
  if (graph.opsOf(producer).size() != 1)
    return false;
  Operation *op = graph.opsOf(producer).front();
  bool usedElsewhere = llvm::any_of(op->getUsers(), [&](Operation *user) {
    return !graph.contains(user) || graph.groupOf(user) != consumer;
  });
  if (!usedElsewhere || !policy.isCheapToCopy(op))
    return false;
  SmallVector<Operation *> ops = graph.unite(producer, consumer);
  if (!hasLoops(ops, graph.outputsOf(graph.opsOf(consumer)), why))
    return false;
  OpBuilder builder(op);
  Operation *copy = builder.clone(*op);
  copy->setDiscardableAttrs(graph.opsOf(consumer).front()->getDiscardableAttrDictionary());
  SmallVector<Operation *> users(graph.opsOf(consumer));
  for (Operation *user : users)
    user->replaceUsesOfWith(op->getResult(0), copy->getResult(0));
  consumer = graph.merge(graph.addCopy(copy, op), consumer);
  ++copies;
  return true;
}

bool GroupMerger::mergeOneProducer(GroupId &consumer) {
  SmallVector<std::pair<int64_t, GroupId>> candidates;
  for (GroupId p : graph.producersOf(consumer))
    if (mayJoin(p))
      candidates.push_back({savedBytes(p, consumer), p});
  llvm::stable_sort(candidates, [](auto &a, auto &b) { return a.first > b.first; });
  for (auto [saved, p] : candidates) {
    std::string why;
    if (tryCopy(p, consumer, why))
      return true;
    if (tryMerge(p, consumer, why)) {
      // merge() keeps the id of the later group, which is the consumer.
      return true;
    }
    if (!why.empty())
      remark(p, consumer, why);
  }
  return false;
}

void GroupMerger::mergeTerms() {
  SmallVector<GroupId> work(graph.getOrder());
  for (GroupId g : work) {
    if (graph.opsOf(g).size() != 1 || !mayJoin(g))
      continue;
    auto reduce = dyn_cast<graph::ReduceOp>(graph.opsOf(g).front());
    auto term = reduce ? reduce.getX().getDefiningOp<graph::BinaryOp>() : graph::BinaryOp();
    bool isProduct = term && term->hasOneUse() && graph.contains(term) &&
                     llvm::all_of(term->getOperands(),
                                  [](Value v) { return v.getDefiningOp<graph::BroadcastOp>(); });
    std::string why;
    if (!isProduct || !tryMerge(graph.groupOf(term), g, why))
      continue;
    for (Value factor : term->getOperands()) // may be one value twice
      if (Operation *def = factor.getDefiningOp();
          def->hasOneUse() && graph.contains(def) && graph.groupOf(def) != g)
        tryMerge(graph.groupOf(def), g, why);
  }
}

void GroupMerger::mergeProducers() {
  SmallVector<GroupId> work(graph.getOrder());
  for (GroupId g : work) {
    if (graph.opsOf(g).empty() || !mayJoin(g))
      continue;
    while (mergeOneProducer(g)) {
    }
  }
}

//===----------------------------------------------------------------------===//
// Siblings
//===----------------------------------------------------------------------===//

/// Values from outside that the group reads, large ones.
static llvm::SetVector<Value> readsOf(const GroupGraph &graph, GroupId g) {
  llvm::SetVector<Value> reads;
  for (Operation *op : graph.opsOf(g))
    for (Value v : op->getOperands()) {
      Operation *def = v.getDefiningOp();
      bool inside = def && graph.contains(def) && graph.groupOf(def) == g;
      bool constant = def && isFreeLeaf(def); // no memory is read for it
      if (!inside && !constant && elementsOf(v) >= 1024)
        reads.insert(v);
    }
  return reads;
}

/// Elements of the largest value that the group reads from memory or writes to it.
static int64_t largestOf(const GroupGraph &graph, GroupId g) {
  auto inside = [&](Operation *op) { return graph.contains(op) && graph.groupOf(op) == g; };
  int64_t largest = 0;
  for (Operation *op : graph.opsOf(g)) {
    for (Value v : op->getOperands())
      if (Operation *def = v.getDefiningOp(); !def || (!inside(def) && !isFreeLeaf(def)))
        largest = std::max<int64_t>(largest, elementsOf(v));
    for (Value v : op->getResults())
      if (llvm::any_of(v.getUsers(), [&](Operation *user) { return !inside(user); }))
        largest = std::max<int64_t>(largest, elementsOf(v));
  }
  return largest;
}

/// Reading `v` once instead of twice must be worth something: a small mask that all layers share
/// does not make one kernel of all layers, whose values would then live together.
static bool isWorthSharing(const GroupGraph &graph, Value v, GroupId a, GroupId b) {
  return 4 * elementsOf(v) >= std::max(largestOf(graph, a), largestOf(graph, b));
}

void GroupMerger::mergeSiblings() {
  SmallVector<GroupId> work(graph.getOrder());
  for (GroupId g : work) {
    if (graph.opsOf(g).empty() || !mayJoin(g))
      continue;
    for (Value v : readsOf(graph, g)) {
      SmallVector<GroupId> others;
      for (Operation *user : v.getUsers())
        if (graph.contains(user) && graph.groupOf(user) != g && mayJoin(graph.groupOf(user)))
          others.push_back(graph.groupOf(user));
      llvm::sort(others,
                 [&](GroupId a, GroupId b) { return graph.positionOf(a) < graph.positionOf(b); });
      others.erase(llvm::unique(others), others.end());
      for (GroupId other : others) {
        std::string why;
        if (graph.opsOf(g).empty() || graph.opsOf(other).empty() ||
            graph.positionOf(other) > graph.positionOf(g) ||
            graph.positionOf(g) - graph.positionOf(other) > siblingDistance ||
            !isWorthSharing(graph, v, g, other))
          continue;
        tryMerge(other, g, why); // `g` is the later one and keeps its id
      }
    }
  }
}
