//===- BuildClusters.cpp - groups become cluster ops ----------------------===//
#include "lib/Transforms/Fusion/BuildClusters.h"

#include "dialects/Base/Base.h"
#include "lib/Transforms/Fusion/MergeGroups.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

/// What one group turns into: views in front, the kernel's ops, views behind.
namespace {
struct Layout {
  SmallVector<Operation *> before, inside, behind;
};
} // namespace

/// A reshape at the border of a group reads or makes a tensor of its own: outside it is a view.
static Layout ejectReshapes(ArrayRef<Operation *> ops) {
  Layout layout;
  llvm::SetVector<Operation *> inside(ops.begin(), ops.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : ops) {
      if (!isa<graph::ReshapeOp>(op) || !inside.contains(op))
        continue;
      Operation *def = op->getOperand(0).getDefiningOp();
      bool fromOutside = !def || (!inside.contains(def) && !isFreeLeaf(def));
      bool toOutside =
          llvm::none_of(op->getUsers(), [&](Operation *user) { return inside.contains(user); });
      if (!fromOutside && !toOutside)
        continue;
      (fromOutside ? layout.before : layout.behind).push_back(op);
      inside.remove(op);
      changed = true;
    }
  }
  std::reverse(layout.behind.begin(), layout.behind.end()); // last reshapes left first
  layout.inside.assign(inside.begin(), inside.end());
  return layout;
}

static graph::ClusterKind kindOf(ArrayRef<Operation *> ops) {
  auto holds = [&](auto test) { return llvm::any_of(ops, test); };
  for (Operation *op : ops) {
    if (isa<graph::ContractOp>(op))
      return graph::ClusterKind::Contract;
    if (isa<graph::AttentionOp>(op))
      return graph::ClusterKind::Attention;
    if (roleOf(op) == OpRole::Skeleton)
      return graph::ClusterKind::Convolution;
    if (isa<graph::ScatterOp>(op))
      return graph::ClusterKind::Scatter;
    if (isa<graph::ScanOp>(op))
      return graph::ClusterKind::Scan;
  }
  if (holds([](Operation *op) { return roleOf(op) == OpRole::Reduction; }))
    return graph::ClusterKind::Reduction;
  if (holds([](Operation *op) { return roleOf(op) == OpRole::Window; }))
    return graph::ClusterKind::Window;
  if (holds([](Operation *op) { return isa<graph::GatherOp>(op); }))
    return graph::ClusterKind::Gather;
  if (holds(movesLastDim))
    return graph::ClusterKind::Transpose;
  return graph::ClusterKind::Loop;
}

/// The user reads the value from memory, not inside its own cluster.
static bool readsMemory(Operation *user, const Policy &policy) {
  return roleOf(user) == OpRole::Skeleton ||
         (!isFusable(user, policy) && roleOf(user) != OpRole::Ordered);
}

/// An iota or a large splat that must lie in memory.
static bool isNeededInMemory(Operation *leaf, const Policy &policy) {
  if (isa<graph::ConstantOp>(leaf) && elementsOf(leaf->getResult(0)) <= 256)
    return false; // part of the plan
  return elementsOf(leaf->getResult(0)) > 0 &&
         llvm::any_of(leaf->getUsers(), [&](Operation *user) { return readsMemory(user, policy); });
}

/// Whether a group is work for a kernel at all.
static bool isKernelWork(ArrayRef<Operation *> ops, const Policy &policy) {
  if (ops.size() == 1 && isFreeLeaf(ops.front()))
    return isNeededInMemory(ops.front(), policy);
  return !ops.empty() && llvm::all_of(ops, [&](Operation *op) {
    if (roleOf(op) != OpRole::Ordered)
      return isFusable(op, policy);
    return llvm::all_of(op->getOperands(), [](Value v) { return elementsOf(v) > 0; }) &&
           elementsOf(op->getResult(0)) > 0;
  });
}

/// Attributes that hold for the cluster as a whole.
static void copyAttributes(graph::ClusterOp cluster, ArrayRef<Operation *> ops) {
  for (StringRef name : {StringRef(base::backwardAttr), StringRef(base::stageAttr)})
    for (Operation *op : ops)
      if (Attribute attr = op->getDiscardableAttr(name)) {
        cluster->setDiscardableAttr(name, attr);
        break;
      }
}

/// `mergeEqual`: of equal ops, such as copied broadcasts, one is kept.
static graph::ClusterOp buildBody(OpBuilder &builder, ArrayRef<Operation *> ops,
                                  ArrayRef<Value> outputs, graph::ClusterKind kind,
                                  bool mergeEqual) {
  SmallVector<Operation *> all = withFreeLeaves(ops);
  llvm::DenseSet<Operation *> members(all.begin(), all.end());
  llvm::SetVector<Value> inputs;
  SmallVector<Location> locs;
  for (Operation *op : ops) {
    locs.push_back(op->getLoc());
    for (Value v : op->getOperands())
      if (!v.getDefiningOp() || !members.contains(v.getDefiningOp()))
        inputs.insert(v);
  }
  auto cluster =
      graph::ClusterOp::create(builder, builder.getFusedLoc(locs), ValueRange(outputs).getTypes(),
                               kind, inputs.getArrayRef());
  Block *body = new Block;
  cluster.getBody().push_back(body);
  IRMapping mapping;
  for (Value v : inputs)
    mapping.map(v, body->addArgument(v.getType(), v.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  std::map<std::vector<const void *>, Operation *> seen;
  for (Operation *op : all) {
    Operation *copy = inner.clone(*op, mapping);
    copy->removeDiscardableAttr(base::backwardAttr);
    copy->removeDiscardableAttr(base::stageAttr);
    std::vector<const void *> key{copy->getName().getAsOpaquePointer(),
                                  copy->getAttrDictionary().getAsOpaquePointer()};
    for (Type t : copy->getResultTypes())
      key.push_back(t.getAsOpaquePointer());
    for (Value v : copy->getOperands())
      key.push_back(v.getAsOpaquePointer());
    auto [it, isNew] = seen.try_emplace(key, copy);
    if (isNew || !mergeEqual)
      continue;
    copy->erase();
    mapping.map(op->getResults(), it->second->getResults());
  }
  SmallVector<Value> yielded;
  for (Value v : outputs)
    yielded.push_back(mapping.lookup(v));
  graph::YieldOp::create(inner, cluster.getLoc(), yielded);
  copyAttributes(cluster, ops);
  return cluster;
}

/// Copies of an op may be asked for at different points of the loops (a pad, by a reduction and
/// again by its epilogue); then they stay apart, as they were when the group was found to have
/// common loops.
static graph::ClusterOp buildKernel(OpBuilder &builder, ArrayRef<Operation *> ops,
                                    ArrayRef<Value> outputs) {
  graph::ClusterOp cluster = buildBody(builder, ops, outputs, kindOf(ops), /*mergeEqual=*/true);
  Block &body = cluster.getBody().front();
  SmallVector<Operation *> merged;
  for (Operation &op : body.without_terminator())
    merged.push_back(&op);
  SmallVector<Value> yielded(body.getTerminator()->getOperands());
  std::string why;
  if (merged.size() == withFreeLeaves(ops).size() || findDomain(merged, yielded, why))
    return cluster;
  cluster->erase();
  return buildBody(builder, ops, outputs, kindOf(ops), /*mergeEqual=*/false);
}

graph::ClusterOp fusion::buildCluster(OpBuilder &builder, ArrayRef<Operation *> ops,
                                      ArrayRef<Value> outputs, graph::ClusterKind kind) {
  return buildBody(builder, ops, outputs, kind, /*mergeEqual=*/true);
}

/// Free leaves that only clusters used, and copied ops whose users are all gone.
static void eraseUnused(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isMemoryEffectFree(op) &&
        isa_and_present<graph::GraphDialect>(op->getDialect()))
      op->erase();
}

SmallVector<graph::ClusterOp> fusion::buildClusters(Block &block, GroupGraph &groups,
                                                    const Policy &policy) {
  SmallVector<graph::ClusterOp> clusters;
  SmallVector<Operation *> replaced;
  OpBuilder builder(block.getTerminator());
  Operation *end = block.getTerminator();
  DenseMap<std::pair<Value, Type>, Value> views; // copies of a reshape become one again
  auto move = [&](ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      if (isa<graph::ReshapeOp>(op)) {
        auto [it, isNew] =
            views.try_emplace({op->getOperand(0), op->getResult(0).getType()}, op->getResult(0));
        if (!isNew) {
          op->getResult(0).replaceAllUsesWith(it->second);
          replaced.push_back(op);
          continue;
        }
      }
      op->moveBefore(end);
    }
  };
  for (GroupId g : groups.getOrder()) {
    Layout layout = ejectReshapes(groups.opsOf(g));
    SmallVector<Operation *> &inside = layout.inside;
    move(layout.before);
    if (!isKernelWork(inside, policy)) {
      move(inside);
    } else if (SmallVector<Value> outputs = groups.outputsOf(inside); !outputs.empty()) {
      clusters.push_back(buildKernel(builder, inside, outputs));
      bool leaf = isFreeLeaf(inside.front()); // clusters make it again inside
      for (auto [from, to] : llvm::zip_equal(outputs, clusters.back().getOutputs()))
        Value(from).replaceUsesWithIf(
            to, [&](OpOperand &use) { return !leaf || readsMemory(use.getOwner(), policy); });
      if (!leaf)
        replaced.append(inside);
    }
    move(layout.behind);
  }
  for (Operation *op : llvm::reverse(replaced)) {
    op->dropAllUses();
    op->erase();
  }
  eraseUnused(block);
  return clusters;
}
