//===- SplitReductions.cpp - very many elements to few, in two steps ------===//
//
// A reduction is one program per result (per 32 columns), in order inside. A
// sum of a million elements to one would leave a machine idle, so it becomes
//
//   [1048576] → reshape [1024, 1024] → reduce 1 → [1024] → reduce 0 → []
//
// Only the extents decide, on every target, because the split changes the
// order of additions and with it the bits. Small floats stay in f32 between.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Graph.h"
#include "lib/Transforms/Fusion/Prepare.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

/// Elements per result from which a reduction is split (rows, columns), and programs below which.
static constexpr int64_t manyInRow = 16384, manyInColumn = 2048, fewPrograms = 64;
/// Elements that the first step combines at most.
static constexpr int64_t longestStep = 4096;

/// The greatest divisor of n that is at most `most`.
static int64_t divisorUpTo(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0)
      return d;
  return 1;
}

/// Dimensions to reduce first and the shape to see x under; none when nothing splits well.
namespace {
struct Split {
  SmallVector<int64_t> shape, first, second;
};
} // namespace

static std::optional<Split> findSplit(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  Split split;
  SmallVector<bool> reduced(shape.size(), false);
  for (int64_t d : dims)
    reduced[d] = true;
  // The innermost reduced dimensions go first while they are short; one that is long is cut near
  // the root of the number of elements, so that both steps are of similar length.
  int64_t step = 1, total = 1;
  for (int64_t d : dims)
    total *= shape[d];
  int64_t middle = std::min<int64_t>(longestStep, int64_t(1) << (llvm::Log2_64(total) / 2));
  std::optional<size_t> cut;
  SmallVector<bool> early(shape.size(), false);
  for (int64_t d : llvm::reverse(dims)) {
    if (step * shape[d] <= middle) {
      step *= shape[d];
      early[d] = true;
      continue;
    }
    if (step < 64)
      cut = d;
    break;
  }
  int64_t inner = cut ? divisorUpTo(shape[*cut], std::max<int64_t>(1, middle / step)) : 1;
  if (step * inner < 16)
    return std::nullopt;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto add = [&](int64_t extent, bool isReduced, bool isEarly) {
      if (isReduced)
        (isEarly ? split.first : split.second).push_back(split.shape.size());
      split.shape.push_back(extent);
    };
    if (cut == d && inner > 1) {
      if (shape[d] != inner)
        add(shape[d] / inner, true, false);
      add(inner, true, true);
    } else {
      add(shape[d], reduced[d], early[d]);
    }
  }
  if (split.first.empty() || split.second.empty())
    return std::nullopt;
  return split;
}

static bool splitReduction(graph::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  int64_t results = elementsOf(op.getResult());
  bool rows = llvm::is_contained(op.getDims(), type.getRank() - 1);
  int64_t programs = rows ? results : results / 32;
  if (results == 0 || programs >= fewPrograms ||
      type.getNumElements() / results < (rows ? manyInRow : manyInColumn))
    return false;
  std::optional<Split> split = findSplit(type.getShape(), op.getDims());
  if (!split)
    return false;
  OpBuilder builder(op);
  graph::GraphBuilder g(builder, op.getLoc());
  Type element = type.getElementType();
  Value x = isa<FloatType>(element) ? g.widen(op.getX()) : op.getX();
  Value partial = g.reduce(op.getKind(), g.reshape(x, split->shape), split->first);
  SmallVector<int64_t> rest;
  for (int64_t d : split->second)
    rest.push_back(d - llvm::count_if(split->first, [&](int64_t f) { return f < d; }));
  op.replaceAllUsesWith(g.convert(g.reduce(op.getKind(), partial, rest), element));
  op.erase();
  return true;
}

unsigned fusion::splitReductions(func::FuncOp function) {
  unsigned count = 0;
  SmallVector<graph::ReduceOp> work(function.getBody().front().getOps<graph::ReduceOp>());
  for (graph::ReduceOp op : work)
    count += splitReduction(op);
  return count;
}
