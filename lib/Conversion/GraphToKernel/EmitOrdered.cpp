//===- EmitOrdered.cpp - scans and scatters -------------------------------===//
//
// Both have an order along one dimension and are independent along the others.
// So a point is a whole line of that dimension, and a loop inside the point
// walks it in order; it may read what it wrote.
//
//   scan      line (o, i):  y[o, j, i] = y[o, j - 1, i] + x[o, j, i]
//   scatter   line (o, i):  y[o, :, i] = data; then for each update j in order
//                           y[o, index[j], i] += updates[o, j, i]
//
// Narrow floats in a scan are summed anew for each element, in f32, so that
// they are rounded once.
//
//===----------------------------------------------------------------------===//
#include "ClusterEmitter.h"
#include "dialects/Kernel/Reduction.h"

using namespace mlir;
using namespace gpucc;
using kernel::LoopResultKind;

namespace {
/// A tensor seen as [outer, n, inner] around one dimension.
struct Around {
  int64_t outer = 1, n, inner = 1;
  Around(ArrayRef<int64_t> shape, int64_t dim) : n(shape[dim]) {
    for (int64_t e : shape.take_front(dim))
      outer *= e;
    for (int64_t e : shape.drop_front(dim + 1))
      inner *= e;
  }
};
} // namespace

/// Programs over (outer, tiles of inner), a loop over the tile; `line` writes one line.
static void forEachLine(KernelContext &k, const Around &a, ClusterDomain &domain,
                        function_ref<void(PointEmitter &, AffineExpr, AffineExpr)> line) {
  domain.extents = {a.outer, a.inner};
  domain.reduced = {false, false};
  int64_t tile = chooseTile(a.inner, k.target.columnsPerProgram());
  SmallVector<int64_t> programs{a.outer, (a.inner + tile - 1) / tile}, loop{tile};
  PointEmitter point(k.context(), domain, k.views);
  OpBuilder top = k.builder();
  kernel::ProgramOp::create(top, k.loc(), programs, [&](OpBuilder &b, Location loc, ValueRange at) {
    point.setLoc(loc);
    SmallVector<unsigned> grid = point.pushScope(b, at, programs);
    OpBuilder body = b;
    kernel::LoopOp::create(
        body, loc, loop, {}, {}, [&](OpBuilder &inner, Location, ValueRange variables) {
          SmallVector<unsigned> numbers = point.pushScope(inner, variables, loop);
          AffineExpr lane = point.variable(grid[1]) * tile + point.variable(numbers[0]);
          point.bindDim(0, point.variable(grid[0]));
          point.bindDim(1, lane);
          if (a.inner % tile != 0)
            point.guardScope(lane, a.inner);
          auto dim = [&](unsigned d) {
            return domain.extents[d] == 1 ? point.math.constant(0) : point.math.dim(d);
          };
          line(point, dim(0), dim(1));
          point.popScope();
          return SmallVector<Value>();
        });
    point.popScope();
  });
}

/// x ∘ y in the type of accumulation, rounded to the type of x.
static Value combine(OpBuilder &b, Location loc, LoopResultKind kind, bool isUnsigned, Value x,
                     Value y) {
  Value wide = kernel::buildCombine(b, loc, kind, toAccumulator(b, loc, x, isUnsigned),
                                    toAccumulator(b, loc, y, isUnsigned));
  return fromAccumulator(b, loc, wide, x.getType());
}

/// What a running combination starts from.
static Value startValue(OpBuilder &b, Location loc, graph::ReductionKind kind, bool isUnsigned,
                        Type type) {
  if (kind == graph::ReductionKind::Sum) // +0, as the op says; a reduction's own start is -0
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return kernel::buildIdentity(b, loc, loopKindOf(kind, isUnsigned), type);
}

static bool isUnsignedTensor(Value v) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(v.getType()));
  return integer && integer.isUnsigned();
}

/// lhs < rhs (or ==), as unsigned indices.
static Value compareIndex(PointEmitter &point, arith::CmpIPredicate predicate, AffineExpr lhs,
                          Value rhs) {
  OpBuilder &b = point.builderAt(point.innermost());
  return arith::CmpIOp::create(b, point.loc(), predicate, point.indexValue(lhs), rhs);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {
class ScanLine {
public:
  ScanLine(KernelContext &k, graph::ScanOp op, const Around &around, PointEmitter &point,
           AffineExpr outer, AffineExpr inner)
      : k(k), op(op), around(around), point(point), outer(outer), inner(inner),
        isUnsigned(isUnsignedTensor(op.getX())), kind(loopKindOf(op.getKind(), isUnsigned)),
        type(scalarType(getElementTypeOrSelf(op.getType()))) {}

  void emit() {
    auto f = dyn_cast<FloatType>(type);
    bool narrow = f && f.getWidth() < 32;
    SmallVector<Value> none;
    point.innerLoop(
        {around.n}, {}, {},
        [&](ArrayRef<AffineExpr> j) -> SmallVector<Value> {
          Value v = narrow ? sumAnew(j[0]) : sumOn(j[0]);
          point.store(v, k.outputViews[0], {outer, place(j[0]), inner},
                      {around.outer, around.n, around.inner});
          return {};
        },
        none);
  }

private:
  OpBuilder &b() { return point.builderAt(point.innermost()); }
  /// Where step j of the line lies.
  AffineExpr place(AffineExpr j) {
    return point.math.simplify(op.getReverse() ? j * -1 + (around.n - 1) : j);
  }
  Value element(AffineExpr j) {
    SmallVector<int64_t> shape{around.outer, around.n, around.inner};
    return point.get(op.getX(),
                     point.math.reshape({outer, place(j), inner}, shape, shapeOf(op.getX())));
  }
  Value start() { return startValue(b(), point.loc(), op.getKind(), isUnsigned, type); }

  /// y[j - 1] ∘ x[j], or y[j - 1] ∘ x[j - 1] when exclusive; the start in front of the first.
  Value sumOn(AffineExpr j) {
    Value zero = arith::ConstantIndexOp::create(b(), point.loc(), 0);
    Value later = compareIndex(point, arith::CmpIPredicate::ne, j, zero);
    AffineExpr before = point.math.simplify(j - 1);
    auto previous = [&] {
      Value y = point.load(k.outputViews[0], {outer, place(before), inner},
                           {around.outer, around.n, around.inner});
      return op.getExclusive() ? combine(b(), point.loc(), kind, isUnsigned, y, element(before))
                               : y;
    };
    Value sum = point.underGuard(later, point.innermost(), previous);
    sum = arith::SelectOp::create(b(), point.loc(), later, sum, start());
    return op.getExclusive() ? sum : combine(b(), point.loc(), kind, isUnsigned, sum, element(j));
  }

  /// Combines x[q] for q up to j (below j when exclusive).
  Value sumAnew(AffineExpr j) {
    Value limit = point.indexValue(j);
    Type wide = toAccumulator(b(), point.loc(), start(), isUnsigned).getType();
    SmallVector<Value> sum;
    point.innerLoop(
        {around.n}, {kind}, {wide},
        [&](ArrayRef<AffineExpr> q) -> SmallVector<Value> {
          auto predicate =
              op.getExclusive() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::ule;
          Value taken = compareIndex(point, predicate, q[0], limit);
          Value x = point.underGuard(taken, point.innermost(), [&] { return element(q[0]); });
          x = toAccumulator(b(), point.loc(), x, isUnsigned);
          Value identity = kernel::buildIdentity(b(), point.loc(), kind, wide);
          return {arith::SelectOp::create(b(), point.loc(), taken, x, identity)};
        },
        sum);
    return fromAccumulator(b(), point.loc(), sum.front(), type);
  }

  KernelContext &k;
  graph::ScanOp op;
  Around around;
  PointEmitter &point;
  AffineExpr outer, inner;
  bool isUnsigned;
  LoopResultKind kind;
  Type type;
};
} // namespace

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

static void emitScatterLine(KernelContext &k, graph::ScatterOp op, const Around &around,
                            PointEmitter &point, AffineExpr outer, AffineExpr inner) {
  SmallVector<int64_t> shape{around.outer, around.n, around.inner};
  bool isUnsigned = isUnsignedTensor(op.getData());
  auto b = [&]() -> OpBuilder & { return point.builderAt(point.innermost()); };
  SmallVector<Value> none;
  point.innerLoop(
      {around.n}, {}, {},
      [&](ArrayRef<AffineExpr> r) -> SmallVector<Value> {
        Index at = point.math.reshape({outer, r[0], inner}, shape, shapeOf(op.getData()));
        point.store(point.get(op.getData(), at), k.outputViews[0], {outer, r[0], inner}, shape);
        return {};
      },
      none);

  int64_t count = cast<RankedTensorType>(op.getIndices().getType()).getNumElements();
  point.innerLoop(
      {count}, {}, {},
      [&](ArrayRef<AffineExpr> j) -> SmallVector<Value> {
        Location loc = point.loc();
        Index row = point.math.delinearize(j[0], shapeOf(op.getIndices()));
        AffineExpr slot = point.dynamicIndex(
            {DynamicIndex::Gather, op, 1, row, 0, around.n}); // clamped; dropped below when outside
        Value raw = point.get(op.getIndices(), row);
        auto constant = [&](int64_t v) -> Value {
          return arith::ConstantOp::create(b(), loc, IntegerAttr::get(raw.getType(), v));
        };
        Value shifted = arith::AddIOp::create(b(), loc, raw, constant(around.n));
        Value inside = arith::CmpIOp::create(b(), loc, arith::CmpIPredicate::ult, shifted,
                                             constant(2 * around.n)); // -n <= index < n
        point.underGuard(inside, point.innermost(), [&] {
          Index from = point.math.reshape({outer, j[0], inner}, {around.outer, count, around.inner},
                                          shapeOf(op.getUpdates()));
          Value update = point.get(op.getUpdates(), from);
          if (std::optional<graph::ReductionKind> kind = op.getKind()) {
            Value old = point.load(k.outputViews[0], {outer, slot, inner}, shape);
            update = combine(b(), loc, loopKindOf(*kind, isUnsigned), isUnsigned, old, update);
          }
          point.store(update, k.outputViews[0], {outer, slot, inner}, shape);
          return update;
        });
        return {};
      },
      none);
}

LogicalResult gpucc::emitOrdered(KernelContext &k) {
  ClusterDomain domain;
  for (Operation *op : k.ops) {
    if (auto scan = dyn_cast<graph::ScanOp>(op)) {
      Around around(shapeOf(scan.getX()), scan.getDim());
      forEachLine(k, around, domain, [&](PointEmitter &point, AffineExpr outer, AffineExpr inner) {
        ScanLine(k, scan, around, point, outer, inner).emit();
      });
      return success();
    }
    if (auto scatter = dyn_cast<graph::ScatterOp>(op)) {
      Around around(shapeOf(scatter.getData()), scatter.getDim());
      forEachLine(k, around, domain, [&](PointEmitter &point, AffineExpr outer, AffineExpr inner) {
        emitScatterLine(k, scatter, around, point, outer, inner);
      });
      return success();
    }
  }
  return failure();
}
