//===- EmitLoop.cpp - kernels without reductions --------------------------===//
//
// The domain's innermost dimensions, up to some thousands of points, are the
// loop of a program; what is left outside is the grid. A dimension in between
// is cut into tiles; a tile that would reach beyond it is guarded.
//
//   domain 8 x 1000 x 768, 4096 points per program
//     loop (5, 768), programs (8, 200): d1 = p1 * 5 + c0
//
// A view that is contiguous in another dimension than the outputs (a transpose)
// is read through a tile of 32 x 32: one loop over its rows, then the outputs'
// loop reads the tile.
//
//===----------------------------------------------------------------------===//
#include "ClusterEmitter.h"

#include "StagedViews.h"

using namespace mlir;
using namespace gpucc;

int64_t gpucc::chooseTile(int64_t extent, int64_t most) {
  if (extent <= most)
    return extent;
  int64_t best = 1, bestVector = 1; // greatest divisor, and greatest that whole vectors fill
  for (int64_t d = 1; d <= most; ++d)
    if (extent % d == 0) {
      best = d;
      if (d % 16 == 0)
        bestVector = d;
    }
  if (bestVector * 4 >= most)
    return bestVector;
  if (best * 2 >= most)
    return best;
  return most; // guarded
}

namespace {
/// One domain dimension in the nest.
struct Cut {
  unsigned dim;
  int64_t extent;
  int64_t tile; ///< points in the loop: 1 = program only, extent = loop only
  bool isProgram() const { return tile < extent; }
  bool isLoop() const { return tile > 1; }
  int64_t programs() const { return llvm::divideCeil(extent, tile); }
};
} // namespace

static SmallVector<Cut> cutDomain(ArrayRef<int64_t> extents, int64_t points) {
  SmallVector<Cut> cuts;
  int64_t inLoop = 1;
  bool full = false;
  for (unsigned d = extents.size(); d-- > 0;) {
    int64_t extent = extents[d];
    if (extent == 1)
      continue;
    int64_t tile = 1;
    if (!full && inLoop * extent <= points)
      tile = extent;
    else if (!full && inLoop * 2 <= points)
      tile = chooseTile(extent, points / inLoop);
    full = full || tile < extent;
    inLoop *= tile;
    cuts.push_back({d, extent, tile});
  }
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

/// A transposing nest: square tiles over the outputs' and the staged views' contiguous dimensions.
static SmallVector<Cut> cutSquare(ArrayRef<int64_t> extents, unsigned inner, unsigned other) {
  SmallVector<Cut> cuts;
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent != 1)
      cuts.push_back({static_cast<unsigned>(d), extent,
                      d == inner || d == other ? std::min<int64_t>(extent, 32) : 1});
  return cuts;
}

LogicalResult gpucc::emitLoop(KernelContext &k, const ClusterDomain &domain) {
  std::optional<StagedViews> staged = StagedViews::find(k, domain);
  SmallVector<Cut> cuts = staged ? cutSquare(domain.extents, staged->innerDim(), staged->otherDim())
                                 : cutDomain(domain.extents, k.target.pointsPerProgram());
  SmallVector<int64_t> programs, loop;
  for (const Cut &c : cuts) {
    if (c.isProgram())
      programs.push_back(c.programs());
    if (c.isLoop())
      loop.push_back(c.tile);
  }
  bool scalar = loop.empty();
  if (scalar)
    loop.push_back(1);

  bool hasWindow = llvm::any_of(k.ops, [](Operation *op) { return roleOf(op) == OpRole::Window; });
  PointEmitter point(k.context(), domain, k.views);
  OpBuilder top = k.builder();
  kernel::ProgramOp::create(top, k.loc(), programs, [&](OpBuilder &b, Location loc, ValueRange at) {
    point.setLoc(loc);
    SmallVector<unsigned> grid = point.pushScope(b, at, programs);
    // Opens a loop's scope: binds the domain's dimensions, guards what reaches beyond them.
    auto open = [&](OpBuilder &inner, ValueRange variables) {
      SmallVector<unsigned> numbers = point.pushScope(inner, variables, loop);
      size_t nextProgram = 0, nextLoop = 0;
      SmallVector<std::pair<AffineExpr, int64_t>> bounds;
      for (const Cut &c : cuts) {
        AffineExpr e = point.math.constant(0);
        if (c.isProgram())
          e = point.variable(grid[nextProgram++]) * c.tile;
        if (c.isLoop())
          e = e + point.variable(numbers[nextLoop++]);
        point.bindDim(c.dim, e);
        if (c.extent % c.tile != 0)
          bounds.push_back({e, c.extent});
      }
      for (auto [e, size] : bounds)
        point.guardScope(e, size);
      return numbers;
    };
    if (staged)
      staged->load(b, loc, point, loop, open);
    OpBuilder body = b; // a copy: building the loop moves it
    kernel::LoopOp::create(
        body, loc, loop, {}, {}, [&](OpBuilder &inner, Location, ValueRange variables) {
          SmallVector<unsigned> numbers = open(inner, variables);
          if (hasWindow)
            point.setLowestLevel(1);
          if (staged)
            staged->use(point, numbers);
          SmallVector<Value> scalars;
          for (Value v : k.outputs)
            scalars.push_back(point.get(v, domain.positions.lookup(v)));
          for (auto [v, s, view] : llvm::zip_equal(k.outputs, scalars, k.outputViews))
            point.store(s, view, domain.positions.lookup(v), shapeOf(v));
          point.popScope();
          return SmallVector<Value>();
        });
    point.popScope();
  });
  return success();
}
