//===- SimplifyConvolutions.cpp - convolutions over fewer dimensions ------===//
//
// A spatial dimension of size 1 under a window of size 1 is none. Exporters that know only images
// write a convolution over a sequence so:
//
//   [1,256,512,1] * [512,256,5,1]  →  [1,256,512] * [512,256,5]
//
// and libraries, which make tiles of the last spatial dimension, get nothing to tile.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Graph.h"
#include "lib/Transforms/Graph/SimplifyPatterns.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

using Dims = SmallVector<int64_t>;

/// `values` without the entries in `gone`, which are shifted by `shift`.
static Dims without(ArrayRef<int64_t> values, ArrayRef<int64_t> gone, int64_t shift = 0) {
  Dims left;
  for (auto [i, v] : llvm::enumerate(values))
    if (!llvm::is_contained(gone, static_cast<int64_t>(i) - shift))
      left.push_back(v);
  return left;
}

/// `x` without the spatial dimensions `gone`, which have size 1; a transpose stays the last step.
static Value squeeze(GraphBuilder &g, Value x, ArrayRef<int64_t> gone) {
  auto transpose = x.getDefiningOp<TransposeOp>();
  if (!transpose)
    return g.reshape(x, without(tensorOf(x).getShape(), gone, 2));
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  Dims fromGone = llvm::map_to_vector(gone, [&](int64_t d) { return permutation[d + 2]; });
  Dims shorter;
  for (int64_t p : without(permutation, gone, 2))
    shorter.push_back(p - llvm::count_if(fromGone, [&](int64_t d) { return d < p; }));
  Value from = transpose.getX();
  return g.transpose(g.reshape(from, without(tensorOf(from).getShape(), fromGone)), shorter);
}

namespace {
struct SqueezeConvolution : OpRewritePattern<ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> in = tensorOf(op.getInput()).getShape(),
                      filter = tensorOf(op.getFilter()).getShape();
    Dims gone;
    auto spatial = static_cast<int64_t>(op.getStrides().size());
    for (int64_t d = 0; d < spatial; ++d)
      if (in[d + 2] == 1 && filter[d + 2] == 1 && op.getPadsLow()[d] == 0 &&
          op.getPadsHigh()[d] == 0)
        gone.push_back(d);
    if (static_cast<int64_t>(gone.size()) == spatial)
      gone.erase(gone.begin()); // one must stay
    if (gone.empty() || op.getChannelsLast())
      return failure();
    GraphBuilder g(rewriter, op.getLoc());
    auto conv = ConvolutionOp::create(
        rewriter, op.getLoc(), squeeze(g, op.getInput(), gone),
        g.reshape(op.getFilter(), without(filter, gone, 2)), without(op.getStrides(), gone),
        without(op.getPadsLow(), gone), without(op.getPadsHigh(), gone),
        without(op.getDilations(), gone), op.getGroups());
    conv->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, g.reshape(conv, tensorOf(op.getResult()).getShape()));
    return success();
  }
};
} // namespace

void graph_passes::addConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<SqueezeConvolution>(patterns.getContext());
}
