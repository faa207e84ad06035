//===- CollapseLoops.cpp - neighbouring dimensions that are one -----------===//
//
// Dimensions d, d+1 of a loop join when each access steps in d by exactly what it steps over all of
// d+1: stride(d) = extent(d+1) * stride(d+1). The joint index n replaces (i, j) by
// (n floordiv extent, n mod extent); maps whose offset is linear in both are rewritten to a map
// with that offset, so that the strides stay visible:
//
//   x[%r, %i, %j] : memref<8x7x7xf32>   i: 7, j: 1   →   offset %r * 49 + %n
//
//===----------------------------------------------------------------------===//
#include "dialects/Kernel/Access.h"
#include "gpucc/Transforms/Kernel/Passes.h"

namespace gpucc {
#define GEN_PASS_DEF_COLLAPSELOOPS
#include "lib/Transforms/Kernel/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::kernel;

namespace {

/// A load or store seen as view, map and indices.
struct Access {
  Operation *op;
  Value view;
  AffineMap map;
  ValueRange indices;
};

Access accessOf(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return {op, load.getSource(), load.getMap(), load.getIndices()};
  auto store = cast<StoreOp>(op);
  return {op, store.getDest(), store.getMap(), store.getIndices()};
}

/// The change of the access's offset per step of `index`; none if not constant.
std::optional<int64_t> strideIn(const Access &access, Value index) {
  AffineExpr offset = getOffsetExpr(access.map, cast<ShapedType>(access.view.getType()));
  int64_t total = 0;
  for (auto [d, value] : llvm::enumerate(access.indices)) {
    if (value != index)
      continue;
    std::optional<int64_t> stride = getStride(offset, d);
    if (!stride)
      return std::nullopt;
    total += *stride;
  }
  return total;
}

/// All users are accesses that use `arg` as an index only.
bool collectAccesses(BlockArgument arg, SmallVectorImpl<Operation *> &users) {
  for (OpOperand &use : arg.getUses()) {
    Operation *op = use.getOwner();
    unsigned number = use.getOperandNumber();
    bool isIndex = false;
    if (auto load = dyn_cast<LoadOp>(op))
      isIndex = number >= 1 && number < 1 + load.getIndices().size();
    else if (auto store = dyn_cast<StoreOp>(op))
      isIndex = number >= 2 && number < 2 + store.getIndices().size();
    if (!isIndex)
      return false;
    users.push_back(op);
  }
  return true;
}

bool canJoin(LoopOp loop, unsigned d) {
  BlockArgument outer = loop.getBody().getArgument(d), inner = loop.getBody().getArgument(d + 1);
  SmallVector<Operation *> users;
  if (!collectAccesses(outer, users) || !collectAccesses(inner, users))
    return false;
  int64_t extent = loop.getExtents()[d + 1];
  return llvm::all_of(users, [&](Operation *op) {
    Access access = accessOf(op);
    // The rewritten map addresses the view by rank; only maps that are linear can be.
    std::optional<int64_t> a = strideIn(access, outer), b = strideIn(access, inner);
    return a && b && *a == extent * *b;
  });
}

/// Replaces the pair by n: i → n floordiv e, j → n mod e. Where a result of the map is e·i + j it
/// becomes n; where i and j are neighbouring results of it, getOffsetExpr of the new map simplifies
/// through Access.cpp.
void rewrite(Operation *op, BlockArgument outer, BlockArgument inner, Value joint, int64_t extent) {
  Access access = accessOf(op);
  MLIRContext *context = op->getContext();
  SmallVector<Value> indices;
  SmallVector<AffineExpr> replacements;
  AffineExpr n;
  for (Value index : access.indices) {
    if (index == outer || index == inner) {
      if (!n) {
        n = getAffineDimExpr(indices.size(), context);
        indices.push_back(joint);
      }
      replacements.push_back(index == outer ? n.floorDiv(extent) : n % extent);
      continue;
    }
    replacements.push_back(getAffineDimExpr(indices.size(), context));
    indices.push_back(index);
  }
  AffineMap map = access.map.replaceDimsAndSymbols(replacements, {}, indices.size(), 0);
  OpBuilder b(op);
  if (auto load = dyn_cast<LoadOp>(op)) {
    Value v = LoadOp::create(b, op->getLoc(), load.getSource(), map, indices, load.getPredicate(),
                             load.getOtherwise());
    load.replaceAllUsesWith(v);
  } else {
    auto store = cast<StoreOp>(op);
    StoreOp::create(b, op->getLoc(), store.getValue(), store.getDest(), map, indices,
                    store.getPredicate());
  }
  op->erase();
}

/// Joins dimensions d and d + 1.
LoopOp join(LoopOp loop, unsigned d) {
  SmallVector<int64_t> extents(loop.getExtents());
  int64_t extent = extents[d + 1];
  extents[d] *= extent;
  extents.erase(extents.begin() + d + 1);
  Block &body = loop.getBody().front();
  BlockArgument outer = body.getArgument(d), inner = body.getArgument(d + 1);
  BlockArgument joint = body.insertArgument(d, outer.getType(), loop.getLoc());
  SetVector<Operation *> users;
  for (BlockArgument arg : {outer, inner})
    for (Operation *user : arg.getUsers())
      users.insert(user);
  for (Operation *user : users)
    rewrite(user, outer, inner, joint, extent);
  body.eraseArgument(d + 2);
  body.eraseArgument(d + 1);
  loop.setExtents(extents);
  return loop;
}

/// Tiles fix the shape of their loop; columns fix the last dimension.
unsigned joinableDims(LoopOp loop) {
  unsigned rank = loop.getExtents().size();
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (loop.getKind(i) == LoopResultKind::Keep)
      return 0;
    if (loop.isColumnReduction(i))
      rank = std::min<unsigned>(rank, loop.getExtents().size() - 1);
  }
  return rank;
}

struct CollapseLoops : gpucc::impl::CollapseLoopsBase<CollapseLoops> {
  void runOnOperation() override {
    getOperation().walk([&](LoopOp loop) {
      for (int64_t d = int64_t(joinableDims(loop)) - 2; d >= 0; --d)
        if (canJoin(loop, d)) {
          loop = join(loop, d);
          ++numCollapsed;
        }
    });
  }
};

} // namespace
