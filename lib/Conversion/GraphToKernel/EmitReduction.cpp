//===- EmitReduction.cpp - kernels around reductions ----------------------===//
//
// rows      the innermost dimension is reduced: a program per kept index, loops over what is
//           reduced, results are scalars of the program
// columns   the innermost dimensions are kept: they are numbered as one, cut into tiles of some
//           tens; loops over (reduced..., tile), results are tiles over the last index
//
// The order in which elements are combined depends on the reduced extents
// alone (KernelBase.td); ClusterDomain keeps them in the op's own order.
//
//===----------------------------------------------------------------------===//
#include "ReductionPlan.h"

using namespace mlir;
using namespace gpucc;
using kernel::LoopResultKind;

namespace {
class ReductionEmitter {
public:
  ReductionEmitter(KernelContext &k, const ClusterDomain &domain)
      : k(k), domain(domain), point(k.context(), domain, k.views) {}
  void run();

private:
  void cutDomain();
  void emitStep(const ReductionStep &step, OpBuilder &b);
  void emitReductions(const ReductionStep &step, OpBuilder &b);
  void storeRows(const ReductionStep &step, OpBuilder &b);
  /// Opens the scope of a loop over (reduced...) and, for columns, the tile.
  SmallVector<unsigned> open(OpBuilder &b, ValueRange variables, bool withReduced);
  SmallVector<int64_t> loopExtents(bool withReduced) const;
  void useTiles(ArrayRef<unsigned> variables, bool withReduced);
  LoopResultKind kindOf(graph::ReduceOp op) const;

  KernelContext &k;
  const ClusterDomain &domain;
  PointEmitter point;
  SmallVector<unsigned> programDims, reducedDims, laneDims;
  int64_t lanes = 1, tile = 0; ///< columns; tile = 0 for rows
  SmallVector<int64_t> programs;
  SmallVector<unsigned> grid;
  llvm::MapVector<Value, Value> fullTiles, columnTiles;
};
} // namespace

void ReductionEmitter::cutDomain() {
  ArrayRef<int64_t> extents = domain.extents;
  std::optional<unsigned> lastReduced;
  for (auto [d, e] : llvm::enumerate(extents))
    if (domain.reduced[d] && e != 1) {
      reducedDims.push_back(d);
      lastReduced = d;
    }
  for (auto [d, e] : llvm::enumerate(extents)) {
    if (domain.reduced[d] || e == 1)
      continue;
    bool behind = lastReduced && d > *lastReduced;
    (behind ? laneDims : programDims).push_back(d);
    (behind ? lanes : programs.emplace_back(1)) *= e;
  }
  if (laneDims.empty())
    return;
  int64_t rows = 1;
  for (unsigned d : reducedDims)
    rows *= extents[d];
  tile = std::min(lanes, k.target.columnsPerProgram(rows, lanes));
  programs.push_back(llvm::divideCeil(lanes, tile));
}

SmallVector<int64_t> ReductionEmitter::loopExtents(bool withReduced) const {
  SmallVector<int64_t> extents;
  if (withReduced)
    for (unsigned d : reducedDims)
      extents.push_back(domain.extents[d]);
  if (tile)
    extents.push_back(tile);
  if (extents.empty())
    extents.push_back(1);
  return extents;
}

SmallVector<unsigned> ReductionEmitter::open(OpBuilder &b, ValueRange variables, bool withReduced) {
  SmallVector<unsigned> numbers = point.pushScope(b, variables, loopExtents(withReduced));
  if (withReduced)
    for (auto [d, n] : llvm::zip(reducedDims, numbers))
      point.bindDim(d, point.variable(n));
  if (tile) {
    AffineExpr lane = point.variable(grid.back()) * tile + point.variable(numbers.back());
    AffineExpr rest = lane;
    for (unsigned d : llvm::reverse(laneDims)) {
      bool outermost = d == laneDims.front();
      point.bindDim(d, outermost ? rest : rest % domain.extents[d]);
      rest = rest.floorDiv(domain.extents[d]);
    }
    if (lanes % tile != 0)
      point.guardScope(lane, lanes);
  }
  useTiles(numbers, withReduced);
  return numbers;
}

void ReductionEmitter::useTiles(ArrayRef<unsigned> variables, bool withReduced) {
  for (auto [v, t] : columnTiles)
    point.defineTile(v, t, {variables.back()});
  for (auto [v, t] : fullTiles)
    if (withReduced)
      point.defineTile(v, t, SmallVector<unsigned>(variables));
    else
      point.forgetTile(v);
}

LoopResultKind ReductionEmitter::kindOf(graph::ReduceOp op) const {
  if (mayIgnoreNan(op))
    return LoopResultKind::MaxNum;
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
  return loopKindOf(op.getKind(), integer && integer.isUnsigned());
}

/// What `toAccumulator` makes of an element.
static Type accumulatorType(Type element) {
  if (auto f = dyn_cast<FloatType>(element))
    return f.getWidth() >= 32 ? Type(f) : Float32Type::get(element.getContext());
  unsigned width = cast<IntegerType>(element).getWidth();
  return IntegerType::get(element.getContext(), width == 1 ? 1 : std::max(32u, width));
}

void ReductionEmitter::emitStep(const ReductionStep &step, OpBuilder &b) {
  SmallVector<LoopResultKind> kinds;
  SmallVector<Type> types;
  SmallVector<int64_t> extents = loopExtents(true);
  for (graph::ReduceOp op : step.reductions) {
    kinds.push_back(kindOf(op));
    Type type = accumulatorType(getElementTypeOrSelf(op.getType()));
    types.push_back(tile ? Type(RankedTensorType::get({tile}, type)) : type);
  }
  for (Value v : step.kept) {
    kinds.push_back(LoopResultKind::Keep);
    types.push_back(RankedTensorType::get(extents, scalarType(getElementTypeOrSelf(v.getType()))));
  }
  OpBuilder body = b; // a copy: building the loop moves it
  auto loop = kernel::LoopOp::create(
      body, k.loc(), extents, kinds, types,
      [&](OpBuilder &inner, Location loc, ValueRange variables) -> SmallVector<Value> {
        open(inner, variables, true);
        SmallVector<Value> values, scalars;
        for (graph::ReduceOp op : step.reductions) {
          Value x = point.get(op.getX(), domain.positions.lookup(op.getX()));
          auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
          values.push_back(toAccumulator(point.builderAt(point.innermost()), op.getLoc(), x,
                                         integer && integer.isUnsigned()));
        }
        for (Value v : step.kept)
          values.push_back(point.get(v, domain.positions.lookup(v)));
        for (unsigned i : step.fullOutputs)
          scalars.push_back(point.get(k.outputs[i], domain.positions.lookup(k.outputs[i])));
        for (auto [i, s] : llvm::zip_equal(step.fullOutputs, scalars))
          point.store(s, k.outputViews[i], domain.positions.lookup(k.outputs[i]),
                      shapeOf(k.outputs[i]));
        point.popScope();
        return values;
      });
  size_t next = 0;
  for (graph::ReduceOp op : step.reductions) {
    Value result = loop.getResult(next++);
    if (tile) {
      columnTiles[op.getResult()] = result;
      continue;
    }
    result =
        fromAccumulator(b, op.getLoc(), result, scalarType(getElementTypeOrSelf(op.getType())));
    point.define(op.getResult(), result);
  }
  for (Value v : step.kept)
    fullTiles[v] = loop.getResult(next++);
}

void ReductionEmitter::storeRows(const ReductionStep &step, OpBuilder &b) {
  auto store = [&] {
    SmallVector<Value> scalars;
    for (unsigned i : step.rowOutputs)
      scalars.push_back(point.get(k.outputs[i], domain.positions.lookup(k.outputs[i])));
    for (auto [i, s] : llvm::zip_equal(step.rowOutputs, scalars))
      point.store(s, k.outputViews[i], domain.positions.lookup(k.outputs[i]),
                  shapeOf(k.outputs[i]));
  };
  if (step.rowOutputs.empty())
    return;
  if (!tile)
    return store();
  OpBuilder body = b;
  kernel::LoopOp::create(body, k.loc(), loopExtents(false), {}, {},
                         [&](OpBuilder &inner, Location, ValueRange variables) {
                           open(inner, variables, false);
                           store();
                           point.popScope();
                           return SmallVector<Value>();
                         });
}

void ReductionEmitter::run() {
  cutDomain();
  int64_t tilePoints = 1;
  for (int64_t e : loopExtents(true))
    tilePoints *= e;
  SmallVector<ReductionStep> steps = planReduction(k, domain, tilePoints);
  OpBuilder top = k.builder();
  kernel::ProgramOp::create(top, k.loc(), programs, [&](OpBuilder &b, Location loc, ValueRange at) {
    point.setLoc(loc);
    grid = point.pushScope(b, at, programs);
    for (auto [d, n] : llvm::zip(programDims, grid))
      point.bindDim(d, point.variable(n));
    for (const ReductionStep &step : steps) {
      storeRows(step, b);
      if (step.hasLoop())
        emitStep(step, b);
    }
    point.popScope();
  });
}

LogicalResult gpucc::emitReduction(KernelContext &kernel, const ClusterDomain &domain) {
  ReductionEmitter(kernel, domain).run();
  return success();
}
