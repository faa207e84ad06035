//===- ClusterDomain.cpp - the loop nest that a group of ops shares -------===//
#include "gpucc/Analysis/ClusterDomain.h"

#include "dialects/Graph/Graph.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace gpucc;

namespace {
class DomainFinder {
public:
  DomainFinder(ArrayRef<Operation *> ops, ArrayRef<Value> outputs, std::string &why)
      : ops(ops), outputs(outputs), why(why), members(ops.begin(), ops.end()) {}
  std::optional<ClusterDomain> run();

private:
  bool fail(const Twine &reason) {
    why = reason.str();
    return false;
  }
  bool chooseRoot();
  void spreadPositions(IndexMath &math);
  bool placeSiblings(IndexMath &math);
  bool place(Value value, const Index &index);
  bool findReducedDims(IndexMath &math);
  bool checkOutputs(IndexMath &math);
  bool checkDemands(IndexMath &math);
  bool demand(Value value, const Index &index, IndexMath &math, DynamicIndices &dynamic);
  void findDepths();

  ArrayRef<Operation *> ops;
  ArrayRef<Value> outputs;
  std::string &why;
  llvm::DenseSet<Operation *> members;
  Value root;
  ClusterDomain domain;
  std::set<std::pair<void *, std::vector<const void *>>> asked;
};
} // namespace

static int64_t sizeOf(Value v) { return cast<RankedTensorType>(v.getType()).getNumElements(); }

bool ClusterDomain::isFull(Value value) const {
  auto it = positions.find(value);
  if (it == positions.end())
    return false;
  return sizeOf(value) == keptPoints() * reducedPoints();
}

int64_t ClusterDomain::keptPoints() const {
  int64_t n = 1;
  for (auto [e, r] : llvm::zip_equal(extents, reduced))
    n *= r ? 1 : e;
  return n;
}

int64_t ClusterDomain::reducedPoints() const {
  int64_t n = 1;
  for (auto [e, r] : llvm::zip_equal(extents, reduced))
    n *= r ? e : 1;
  return n;
}

bool gpucc::isOneToOne(const IndexMath &math, ArrayRef<AffineExpr> index, ArrayRef<int64_t> shape,
                       ArrayRef<bool> dims) {
  LinearForm form = math.toLinear(math.linearize(index, shape));
  if (form.constant != 0)
    return false;
  SmallVector<std::pair<int64_t, int64_t>> strides; // stride, extent
  size_t expected = 0;
  for (auto [e, on] : llvm::zip(math.getExtents(), dims))
    expected += on && e != 1;
  for (auto [t, c] : form.terms) {
    auto d = dyn_cast<AffineDimExpr>(t);
    if (!d || d.getPosition() >= dims.size() || !dims[d.getPosition()])
      return false;
    strides.push_back({c, math.getExtents()[d.getPosition()]});
  }
  llvm::sort(strides);
  int64_t next = 1;
  for (auto [stride, extent] : strides) {
    if (stride != next)
      return false;
    next *= extent;
  }
  int64_t size = 1;
  for (int64_t n : shape)
    size *= n;
  return strides.size() == expected && next == size;
}

//===----------------------------------------------------------------------===//
// Root and positions (rules 1, 2)
//===----------------------------------------------------------------------===//

bool DomainFinder::chooseRoot() {
  for (Operation *op : ops) {
    if (roleOf(op) != OpRole::Skeleton)
      continue;
    if (root)
      return fail("it would hold two products");
    root = op->getResult(0);
    for (Value v : op->getOperands())
      if (v.getDefiningOp() && members.contains(v.getDefiningOp()))
        return fail("a product reads its operands from memory");
  }
  if (root) {
    for (Operation *op : ops)
      if (roleOf(op) == OpRole::Reduction || roleOf(op) == OpRole::Window)
        return fail("only pointwise work follows a product in its kernel");
    return sizeOf(root) > 0 || fail("it has no elements");
  }
  for (Operation *op : ops)
    if (auto reduce = dyn_cast<graph::ReduceOp>(op)) {
      domain.reductions.push_back(op);
      if (!root || sizeOf(reduce.getX()) > sizeOf(root))
        root = reduce.getX();
    }
  if (!root)
    for (Value v : outputs)
      if (!root || sizeOf(v) > sizeOf(root))
        root = v;
  if (!root)
    return fail("nothing is used outside");
  return sizeOf(root) > 0 || fail("it has no elements");
}

bool DomainFinder::place(Value value, const Index &index) {
  return domain.positions.try_emplace(value, index).second;
}

void DomainFinder::spreadPositions(IndexMath &math) {
  DynamicIndices dynamic(math.getContext());
  bool changed = true;
  while (changed) {
    changed = false;
    auto step = [&](Operation *op) {
      if (op->getNumOperands() == 0 || op->getNumResults() != 1)
        return;
      Value result = op->getResult(0);
      OpRole role = roleOf(op);
      if (role != OpRole::Pointwise && role != OpRole::Movement && role != OpRole::Reduction)
        return;
      auto known = domain.positions.find(result);
      if (known == domain.positions.end()) {
        unsigned operands = role == OpRole::Pointwise ? op->getNumOperands() : 1;
        for (unsigned i = 0; i < operands; ++i) {
          auto from = domain.positions.find(op->getOperand(i));
          if (from == domain.positions.end())
            continue;
          if (std::optional<Index> at = forwardIndex(op, Index(from->second), math)) {
            changed |= place(result, *at);
            break;
          }
        }
        return;
      }
      if (role == OpRole::Reduction ||
          isa<graph::SliceOp, graph::PadOp, graph::ConcatOp, graph::GatherOp>(op))
        return;
      Index at = known->second;
      for (const OperandAccess &a : accessesOf(op, at, math, dynamic))
        changed |= place(op->getOperand(a.operand), a.index);
    };
    for (Operation *op : llvm::reverse(ops))
      step(op);
    for (Operation *op : ops)
      step(op);
  }
}

bool DomainFinder::placeSiblings(IndexMath &math) {
  // Values of equal size that nothing relates are walked side by side.
  SmallVector<Value> wanted(outputs);
  for (Operation *op : domain.reductions)
    wanted.push_back(op->getOperand(0));
  for (Value v : wanted)
    if (!domain.positions.contains(v) && sizeOf(v) == sizeOf(root)) {
      Index at = domain.positions.lookup(root);
      return place(v, math.reshape(at, shapeOf(root), shapeOf(v)));
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Reductions and outputs (rules 3, 4)
//===----------------------------------------------------------------------===//

/// Marks the dimensions that appear in `e`; false when something else does.
static bool dimsOf(AffineExpr e, const IndexMath &math, SmallVectorImpl<bool> &dims) {
  for (auto [t, c] : math.toLinear(e).terms) {
    auto d = dyn_cast<AffineDimExpr>(t);
    if (!d)
      return false;
    dims[d.getPosition()] = true;
  }
  return true;
}

/// Row-major number of a point of the dimensions in `dims`.
static AffineExpr rowMajor(const IndexMath &math, ArrayRef<bool> dims) {
  Index index;
  SmallVector<int64_t> shape;
  for (auto [d, on] : llvm::enumerate(dims))
    if (on) {
      index.push_back(math.dim(d));
      shape.push_back(math.getExtents()[d]);
    }
  return math.linearize(index, shape);
}

/// The last dimension with more than one element is reduced.
static bool isInnermostReduced(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  for (int64_t d = shape.size() - 1; d >= 0; --d)
    if (shape[d] != 1)
      return llvm::is_contained(dims, d);
  return true;
}

static bool innermost(const IndexMath &math, ArrayRef<bool> dims) {
  for (size_t d = dims.size(); d-- > 0;)
    if (math.getExtents()[d] != 1)
      return dims[d];
  return true;
}

bool DomainFinder::findReducedDims(IndexMath &math) {
  size_t rank = math.getExtents().size();
  domain.reduced.assign(rank, false);
  bool first = true;
  for (Operation *op : domain.reductions) {
    auto reduce = cast<graph::ReduceOp>(op);
    auto it = domain.positions.find(reduce.getX());
    if (it == domain.positions.end())
      return fail("the operands of its reductions are not related");
    SmallVector<bool> dims(rank, false), all(rank, true);
    Index reducedIndex;
    SmallVector<int64_t> reducedShape;
    for (int64_t d : reduce.getDims()) {
      reducedIndex.push_back(it->second[d]);
      reducedShape.push_back(shapeOf(reduce.getX())[d]);
      if (!dimsOf(it->second[d], math, dims))
        return fail("a reduction's dimension is not a loop");
    }
    if (!isOneToOne(math, it->second, shapeOf(reduce.getX()), all) ||
        !isOneToOne(math, reducedIndex, reducedShape, dims))
      return fail("a reduction does not run over whole loops");
    if (!first && !llvm::equal(dims, domain.reduced))
      return fail("its reductions combine different dimensions");
    // The order of combination is the op's own: reduced loops numbered as its operand numbers
    // them, and the innermost loop reduced if its innermost dimension is.
    if (math.linearize(reducedIndex, reducedShape) != rowMajor(math, dims) ||
        isInnermostReduced(shapeOf(reduce.getX()), reduce.getDims()) != innermost(math, dims))
      return fail("a reduction would run in another order than alone");
    domain.reduced.assign(dims.begin(), dims.end());
    first = false;
  }
  return true;
}

bool DomainFinder::checkOutputs(IndexMath &math) {
  SmallVector<bool> all(math.getExtents().size(), true), kept;
  for (bool r : domain.reduced)
    kept.push_back(!r);
  for (Value v : outputs) {
    auto it = domain.positions.find(v);
    if (it == domain.positions.end())
      return fail("an output is not related to the loops");
    if (!isOneToOne(math, it->second, shapeOf(v), all) &&
        (domain.reductions.empty() || !isOneToOne(math, it->second, shapeOf(v), kept)))
      return fail("an output is not one element per point");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Demands (rules 3, 5)
//===----------------------------------------------------------------------===//

bool DomainFinder::demand(Value value, const Index &index, IndexMath &math,
                          DynamicIndices &dynamic) {
  std::vector<const void *> key;
  for (AffineExpr e : index)
    key.push_back(e.getAsOpaquePointer());
  if (!asked.insert({value.getAsOpaquePointer(), key}).second)
    return true;
  if (asked.size() > 64 + 8 * ops.size())
    return fail("too much would be computed repeatedly");
  Operation *op = value.getDefiningOp();
  if (!op || !members.contains(op))
    return true;
  OpRole role = roleOf(op);
  if (role == OpRole::Reduction || role == OpRole::Skeleton) {
    auto it = domain.positions.find(value);
    return (it != domain.positions.end() && it->second == index) ||
           fail("it needs results of another program");
  }
  if (role == OpRole::Window) {
    if (!domain.reductions.empty() || !domain.isFull(value) ||
        domain.positions.lookup(value) != index)
      return fail("a window's result is computed once per point");
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp() && members.contains(operand.getDefiningOp()) &&
          roleOf(operand.getDefiningOp()) != OpRole::Leaf)
        return fail("what a window looks at is computed once, outside");
    return true;
  }
  for (const OperandAccess &a : accessesOf(op, index, math, dynamic))
    if (!demand(op->getOperand(a.operand), a.index, math, dynamic))
      return false;
  for (unsigned i = 0; i < dynamic.size(); ++i) { // may grow while it runs
    DynamicIndex d = dynamic[i];
    bool scalar = d.kind == DynamicIndex::Offset;
    if (scalar || d.kind == DynamicIndex::Gather)
      if (!demand(d.op->getOperand(d.operand), scalar ? Index() : d.source, math, dynamic))
        return false;
  }
  return true;
}

bool DomainFinder::checkDemands(IndexMath &math) {
  asked.clear();
  DynamicIndices dynamic(math.getContext());
  for (Value v : outputs)
    if (!demand(v, domain.positions.lookup(v), math, dynamic))
      return false;
  for (Operation *op : domain.reductions)
    if (!demand(op->getOperand(0), domain.positions.lookup(op->getOperand(0)), math, dynamic))
      return false;
  return true;
}

void DomainFinder::findDepths() {
  for (Operation *op : ops) {
    unsigned depth = 0;
    for (Value v : op->getOperands())
      depth = std::max(depth, domain.depths.lookup(v));
    for (Value v : op->getResults())
      domain.depths[v] = depth + (roleOf(op) == OpRole::Reduction);
  }
}

std::optional<ClusterDomain> DomainFinder::run() {
  if (!chooseRoot())
    return std::nullopt;
  MLIRContext *context = root.getContext();
  SmallVector<int64_t> extents(shapeOf(root));
  if (extents.empty())
    extents.push_back(1);
  for (int attempt = 0; attempt < 16; ++attempt) {
    IndexMath math(context, extents);
    Index dims;
    for (unsigned d = 0; d < extents.size(); ++d)
      dims.push_back(extents[d] == 1 ? math.constant(0) : math.dim(d));
    domain.extents = extents;
    domain.positions.clear();
    domain.positions[root] = math.reshape(dims, extents, shapeOf(root));
    do
      spreadPositions(math);
    while (placeSiblings(math));
    if (!math.isInexact() && (!findReducedDims(math) || !checkOutputs(math)))
      return std::nullopt;
    if (!math.isInexact() && !checkDemands(math) && !math.isInexact())
      return std::nullopt;
    if (!math.isInexact()) {
      findDepths();
      return std::move(domain);
    }
    std::optional<DimSplit> split = math.getSplit();
    if (!split) {
      why = "a reshape in it cuts across the loops";
      return std::nullopt;
    }
    int64_t outer = extents[split->dim] / split->inner;
    extents[split->dim] = outer;
    extents.insert(extents.begin() + split->dim + 1, split->inner);
  }
  why = "its reshapes need too many loops";
  return std::nullopt;
}

std::optional<ClusterDomain> gpucc::findDomain(ArrayRef<Operation *> ops, ArrayRef<Value> outputs,
                                               std::string &why) {
  return DomainFinder(ops, outputs, why).run();
}
