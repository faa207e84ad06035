//===- FoldWeights.cpp - what is computed from weights alone --------------===//
//
// A batch normalization with given statistics is an affine map per channel,
//
//   y[c] = s[c] · x[c] + t[c],   s = scale / sqrt(variance + epsilon),   t = bias - mean · s
//
// Behind a convolution s goes into the filter and t joins the bias:
//
//   batch_norm(convolution(x, w) + b)  →  convolution(x, s · w) + (s · b + t)
//
// Elsewhere one product and one sum remain. s and t are computed in double and rounded once.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Support/WeightFiles.h"
#include "gpucc/Transforms/Graph/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

namespace gpucc {
#define GEN_PASS_DEF_FOLDWEIGHTS
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

using Doubles = SmallVector<double>;

namespace {
struct FoldWeightsPass : gpucc::impl::FoldWeightsBase<FoldWeightsPass> {
  using FoldWeightsBase::FoldWeightsBase;

  void runOnOperation() override {
    WeightFiles mapped(folder);
    files = &mapped;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front()))
      if (auto norm = dyn_cast<BatchNormOp>(op))
        fold(norm);
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op) && isa<GraphDialect>(op.getDialect()))
        op.erase(); // weights and filters as they were
  }

private:
  /// The value of a constant or a whole weight; none when it is neither, or its file is not there.
  std::optional<HostTensor> read(Value v) {
    if (auto constant = v.getDefiningOp<ConstantOp>())
      return toHostTensor(constant.getValue());
    auto weight = v.getDefiningOp<WeightOp>();
    if (!weight)
      return std::nullopt;
    auto module = getOperation()->getParentOfType<ModuleOp>();
    auto data = module.lookupSymbol<WeightDataOp>(weight.getKey());
    auto names = module->getAttrOfType<ArrayAttr>(filesAttr);
    if (!data || !names || data.getType() != weight.getResult().getType())
      return std::nullopt;
    std::string error;
    return files->get(cast<StringAttr>(names[data.getFile()]).str(), data.getOffset(),
                      *toDType(getElementTypeOrSelf(data.getType())), toShape(data.getType()),
                      error);
  }

  std::optional<Doubles> readChannels(Value v) {
    std::optional<HostTensor> tensor = read(v);
    if (!tensor)
      return std::nullopt;
    Doubles values;
    for (int64_t i = 0; i < tensor->numElements(); ++i)
      values.push_back(tensor->getFloat(i));
    return values;
  }

  void fold(BatchNormOp op) {
    if (op.getTraining() || !op.getNewMean().use_empty() || !op.getNewVariance().use_empty())
      return;
    std::optional<Doubles> scale = readChannels(op.getScale()), bias = readChannels(op.getBias()),
                           mean = readChannels(op.getMean()),
                           variance = readChannels(op.getVariance());
    if (!scale || !bias || !mean || !variance)
      return;
    double epsilon = op.getEpsilon().convertToDouble();
    for (size_t c = 0; c < scale->size(); ++c) {
      (*scale)[c] /= std::sqrt((*variance)[c] + epsilon);
      (*bias)[c] -= (*mean)[c] * (*scale)[c];
    }
    OpBuilder builder(op);
    GraphBuilder g(builder, op.getLoc());
    Value y = intoConvolution(g, op.getX(), *scale, *bias);
    if (!y)
      y = g.mul(op.getX(), perChannel(g, op.getX(), *scale));
    else
      ++numFolded;
    op.getResult().replaceAllUsesWith(g.add(y, perChannel(g, y, *bias)));
    op.erase();
  }

  /// `values` over dimension 1 of a tensor like `like`.
  static Value perChannel(GraphBuilder &g, Value like, ArrayRef<double> values) {
    RankedTensorType type = tensorOf(like);
    HostTensor tensor(*toDType(type.getElementType()), {static_cast<int64_t>(values.size())});
    for (auto [i, v] : llvm::enumerate(values))
      tensor.setFloat(static_cast<int64_t>(i), v);
    Value constant =
        ConstantOp::create(g.builder, g.loc, toElementsAttr(g.builder.getContext(), tensor));
    return g.broadcast(constant, type.getShape(), {1});
  }

  /// The convolution (or transposed convolution) behind `x`, multiplied by `scale`; its bias goes
  /// into `bias`. Null when nothing is folded.
  Value intoConvolution(GraphBuilder &g, Value x, ArrayRef<double> scale, Doubles &bias) {
    Doubles joined(bias);
    if (auto add = x.getDefiningOp<BinaryOp>();
        add && add.getKind() == BinaryKind::Add && add->hasOneUse()) {
      auto broadcast = add.getRhs().getDefiningOp<BroadcastOp>();
      if (!broadcast || broadcast.getDims() != ArrayRef<int64_t>{1})
        return {};
      std::optional<Doubles> old = readChannels(broadcast.getX());
      if (!old || old->size() != scale.size())
        return {};
      for (size_t c = 0; c < old->size(); ++c)
        joined[c] += (*old)[c] * scale[c];
      x = add.getLhs();
    }
    Operation *conv = x.getDefiningOp();
    if (!conv || !isa<ConvolutionOp, ConvolutionInputGradOp>(conv) || !conv->hasOneUse())
      return {};
    std::optional<HostTensor> filter = read(conv->getOperand(1));
    if (!filter)
      return {};
    Value factors = scaledFilter(g, conv, filter->clone(), scale);
    Operation *scaled = g.builder.clone(*conv);
    scaled->setOperand(1, factors);
    bias = joined;
    return scaled->getResult(0);
  }

  /// Filters are O,C/groups,window; those of transposed convolutions C,O/groups,window.
  static Value scaledFilter(GraphBuilder &g, Operation *conv, HostTensor filter,
                            ArrayRef<double> scale) {
    int64_t first = filter.shape()[0], second = filter.shape()[1];
    int64_t window = first * second ? filter.numElements() / (first * second) : 0;
    auto transposed = dyn_cast<ConvolutionInputGradOp>(conv);
    int64_t perGroup = transposed ? first / static_cast<int64_t>(transposed.getGroups()) : 1;
    int64_t at = 0;
    for (int64_t i = 0; i < first; ++i)
      for (int64_t j = 0; j < second; ++j) {
        double factor = scale[transposed ? i / perGroup * second + j : i];
        for (int64_t k = 0; k < window; ++k, ++at)
          filter.setFloat(at, filter.getFloat(at) * factor);
      }
    return ConstantOp::create(g.builder, g.loc, toElementsAttr(g.builder.getContext(), filter));
  }

  WeightFiles *files = nullptr;
};
} // namespace
