//===- StagedViews.cpp - transposes go through a tile ---------------------===//
#include "StagedViews.h"

using namespace mlir;
using namespace gpucc;

/// The only domain dimension in which a value at its own position has stride 1; none when there is
/// none or the position is no plain index.
static std::optional<unsigned> contiguousDim(const IndexMath &math, Value v,
                                             const Index &position) {
  LinearForm form = math.toLinear(math.linearize(position, shapeOf(v)));
  std::optional<unsigned> found;
  for (auto [t, c] : form.terms) {
    auto d = dyn_cast<AffineDimExpr>(t);
    if (!d)
      return std::nullopt;
    if (c == 1)
      found = d.getPosition();
  }
  return found;
}

/// All uses of an argument inside the cluster ask for it at its own position.
static bool isReadInPlace(KernelContext &k, const ClusterDomain &domain, Value argument) {
  IndexMath math(k.context(), domain.extents);
  DynamicIndices dynamic(k.context());
  for (OpOperand &use : argument.getUses()) {
    Operation *op = use.getOwner();
    if (roleOf(op) != OpRole::Pointwise && !isa<graph::ReshapeOp, graph::TransposeOp>(op))
      return false;
    auto position = domain.positions.find(op->getResult(0));
    if (position == domain.positions.end())
      return false;
    for (const OperandAccess &a : accessesOf(op, Index(position->second), math, dynamic))
      if (a.operand == use.getOperandNumber() && a.index != domain.positions.lookup(argument))
        return false;
  }
  return true;
}

std::optional<StagedViews> StagedViews::find(KernelContext &k, const ClusterDomain &domain) {
  IndexMath math(k.context(), domain.extents);
  StagedViews staged;
  staged.domain = &domain;
  std::optional<unsigned> inner;
  for (Value v : k.outputs) {
    std::optional<unsigned> d = contiguousDim(math, v, domain.positions.lookup(v));
    if (!d || (inner && inner != d))
      return std::nullopt;
    inner = d;
  }
  std::optional<unsigned> other;
  for (BlockArgument argument : k.cluster.getBody().getArguments()) {
    auto position = domain.positions.find(argument);
    if (position == domain.positions.end() || !domain.isFull(argument))
      continue;
    std::optional<unsigned> d = contiguousDim(math, argument, position->second);
    if (!d || d == inner || !isReadInPlace(k, domain, argument) || (other && other != d))
      continue;
    other = d;
    staged.values.push_back(argument);
  }
  if (!other || domain.extents[*inner] < 8 || domain.extents[*other] < 8)
    return std::nullopt;
  staged.inner = *inner;
  staged.other = *other;
  staged.swapped = *other > *inner;
  return staged;
}

void StagedViews::load(OpBuilder &b, Location loc, PointEmitter &point, ArrayRef<int64_t> loop,
                       Open open) {
  // The outputs' loop has the dimensions in the domain's order; this one ends in `other`.
  bool flip = !swapped;
  SmallVector<int64_t> extents(loop);
  if (flip)
    std::swap(extents[0], extents[1]);
  SmallVector<Type> types;
  SmallVector<kernel::LoopResultKind> kinds(values.size(), kernel::LoopResultKind::Keep);
  for (Value v : values)
    types.push_back(RankedTensorType::get(extents, scalarType(getElementTypeOrSelf(v.getType()))));
  OpBuilder body = b;
  auto op = kernel::LoopOp::create(
      body, loc, extents, kinds, types,
      [&](OpBuilder &inner, Location, ValueRange variables) -> SmallVector<Value> {
        SmallVector<Value> ordered(variables);
        if (flip)
          std::swap(ordered[0], ordered[1]);
        open(inner, ordered);
        SmallVector<Value> scalars;
        for (Value v : values)
          scalars.push_back(point.get(v, domain->positions.lookup(v)));
        point.popScope();
        return scalars;
      });
  tiles.assign(op.getResults().begin(), op.getResults().end());
}

void StagedViews::use(PointEmitter &point, ArrayRef<unsigned> variables) {
  SmallVector<unsigned> at(variables);
  if (!swapped)
    std::swap(at[0], at[1]);
  for (auto [v, tile] : llvm::zip_equal(values, tiles))
    point.defineTile(v, tile, at);
}
