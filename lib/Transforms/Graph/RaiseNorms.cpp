//===- RaiseNorms.cpp - layer norm, RMS norm, softmax ---------------------===//
//
//   layer norm   d = x - mean(x);  d / sqrt(mean(d*d) + eps)  [* scale] [+ bias]
//   RMS norm     x / sqrt(mean(x*x) + eps)  [* scale]
//   softmax      e = exp(x - max(x));  e / sum(e)
//
// `/ sqrt(v)` may also be `* rsqrt(v)`, `* reciprocal(sqrt(v))`, `* (1 / sqrt(v))`.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Graph/ConstantExpressions.h"
#include "lib/Transforms/Graph/RaiseMatch.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using namespace gpucc::graph_passes;

/// The view is reduce(kind, of) over `dims`, each result standing where it came from.
static bool isReduction(const View &view, ReductionKind kind, Value of, Dims &dims, Match &match) {
  auto reduce = view.source.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != kind || reduce.getX() != of)
    return false;
  dims = Dims(reduce.getDims());
  size_t next = 0;
  for (int64_t d = 0; d < rankOf(of); ++d) {
    if (llvm::is_contained(dims, d))
      continue;
    int64_t place = view.place[next++];
    if (place != -1 && place != d)
      return false;
  }
  match.add(reduce);
  return true;
}

/// The view is the mean of `of`: sum / n or sum * (1/n).
static bool isMean(View view, Value of, Dims &dims, Match &match) {
  auto op = view.source.getDefiningOp<BinaryOp>();
  if (!op || (op.getKind() != BinaryKind::Div && op.getKind() != BinaryKind::Mul))
    return false;
  std::optional<double> c = splatNumber(op.getRhs());
  if (!c)
    return false;
  match.add(op);
  if (!isReduction(peelFurther(view, op.getLhs(), &match), ReductionKind::Sum, of, dims, match))
    return false;
  double count = 1;
  for (int64_t d : dims)
    count *= typeOf(of).getDimSize(d);
  auto type = cast<FloatType>(typeOf(of).getElementType());
  return *c == roundedTo(type, op.getKind() == BinaryKind::Div ? count : 1 / count);
}

/// The view is 1 / root or root (`inverse` says which) of mean(of * of) + epsilon.
static bool isRoot(View view, bool inverse, Value of, Dims &dims, double &epsilon, Match &match) {
  if (inverse) {
    if (auto rsqrt = unary(view.source, UnaryKind::Rsqrt)) {
      match.add(rsqrt);
      view = peelFurther(view, rsqrt.getX(), &match);
    } else {
      if (auto reciprocal = unary(view.source, UnaryKind::Reciprocal)) {
        match.add(reciprocal);
        view = peelFurther(view, reciprocal.getX(), &match);
      } else if (auto div = binary(view.source, BinaryKind::Div);
                 div && splatNumber(div.getLhs()) == 1.0) {
        match.add(div);
        view = peelFurther(view, div.getRhs(), &match);
      } else {
        return false;
      }
      inverse = false;
    }
  }
  if (!inverse) {
    auto root = unary(view.source, UnaryKind::Sqrt);
    if (!root)
      return false;
    match.add(root);
    view = peelFurther(view, root.getX(), &match);
  }
  auto add = binary(view.source, BinaryKind::Add);
  if (!add)
    return false;
  std::optional<double> e = splatNumber(add.getRhs());
  if (!e || *e < 0)
    return false;
  epsilon = *e;
  match.add(add);
  view = peelFurther(view, add.getLhs(), &match);
  // The mean's operand is the square; find it from the reduction.
  auto scaled = view.source.getDefiningOp<BinaryOp>();
  if (!scaled)
    return false;
  View sum = peelFurther(view, scaled.getLhs());
  auto reduce = sum.source.getDefiningOp<ReduceOp>();
  auto square = reduce ? reduce.getX().getDefiningOp<BinaryOp>() : BinaryOp();
  bool isSquare = square && square.getLhs() == of &&
                  ((square.getKind() == BinaryKind::Mul && square.getRhs() == of) ||
                   (square.getKind() == BinaryKind::Pow && splatNumber(square.getRhs()) == 2.0));
  if (!isSquare || !isMean(view, square, dims, match))
    return false;
  match.add(square);
  return true;
}

/// root = of / sqrt(...) or of * (1 / sqrt(...)), with `of` any operand that fits.
static bool isNormalized(Operation *root, Value &of, Dims &dims, double &epsilon, Match &match) {
  auto op = dyn_cast<BinaryOp>(root);
  if (!op || !isa<FloatType>(typeOf(op.getResult()).getElementType()))
    return false;
  auto attempt = [&](Value value, Value by, bool inverse) {
    Match fresh;
    View view = peel(by, &fresh);
    of = value;
    if (!isRoot(view, inverse, of, dims, epsilon, fresh))
      return false;
    match = fresh;
    return true;
  };
  if (op.getKind() == BinaryKind::Div)
    return attempt(op.getLhs(), op.getRhs(), false);
  return op.getKind() == BinaryKind::Mul &&
         (attempt(op.getLhs(), op.getRhs(), true) || attempt(op.getRhs(), op.getLhs(), true));
}

/// dims = begin … rank-1
static std::optional<int64_t> suffix(ArrayRef<int64_t> dims, int64_t rank) {
  for (auto [i, d] : llvm::enumerate(dims))
    if (d != rank - static_cast<int64_t>(dims.size()) + static_cast<int64_t>(i))
      return std::nullopt;
  return dims.empty() ? std::nullopt : std::optional<int64_t>(rank - dims.size());
}

bool graph_passes::matchLayerNorm(Operation *root, Found &found) {
  Value centered;
  Dims dims, meanDims;
  double epsilon;
  if (!isNormalized(root, centered, dims, epsilon, found.match))
    return false;
  auto sub = binary(centered, BinaryKind::Sub);
  auto begin = suffix(dims, rankOf(centered));
  if (!sub || !begin)
    return false;
  Value x = sub.getLhs();
  if (!isMean(peel(sub.getRhs(), &found.match), x, meanDims, found.match) || meanDims != dims)
    return false;
  found.match.add(sub);
  found.name = "layer_norm";
  found.build = [=](OpBuilder &b) -> Value {
    return LayerNormOp::create(b, root->getLoc(), x, Value(), Value(), *begin,
                               llvm::APFloat(epsilon));
  };
  return true;
}

bool graph_passes::matchRmsNorm(Operation *root, Found &found) {
  Value x;
  Dims dims;
  double epsilon;
  if (!isNormalized(root, x, dims, epsilon, found.match))
    return false;
  auto begin = suffix(dims, rankOf(x));
  if (!begin)
    return false;
  found.name = "rms_norm";
  found.build = [=](OpBuilder &b) -> Value {
    return RmsNormOp::create(b, root->getLoc(), x, Value(), *begin, llvm::APFloat(epsilon));
  };
  return true;
}

/// A value that is one number per normalized element, in the shape the composite wants; null when
/// it is something else (per row, or of another size).
static std::function<Value(OpBuilder &)> perElement(Value value, Value x, int64_t begin) {
  ArrayRef<int64_t> normalized = typeOf(x).getShape().drop_front(begin);
  View view = peel(value);
  if (typeOf(view.source).getNumElements() != ShapedType::getNumElements(normalized) ||
      splatNumber(view.source))
    return nullptr;
  for (int64_t place : view.place)
    if (place != -1 && place < begin)
      return nullptr;
  Location loc = value.getLoc();
  return [=](OpBuilder &b) -> Value {
    if (typeOf(view.source).getShape() == normalized)
      return view.source;
    return ReshapeOp::create(b, loc, view.source, normalized);
  };
}

/// norm(x) * w, where the norm has no scale (nor bias) yet.
bool graph_passes::matchNormScale(Operation *root, Found &found) {
  auto mul = dyn_cast<BinaryOp>(root);
  if (!mul || mul.getKind() != BinaryKind::Mul)
    return false;
  for (auto [norm, other] :
       {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    auto layer = norm.getDefiningOp<LayerNormOp>();
    auto rms = norm.getDefiningOp<RmsNormOp>();
    if (!(layer && !layer.getScale() && !layer.getBias()) && !(rms && !rms.getScale()))
      continue;
    int64_t begin = layer ? layer.getBegin() : rms.getBegin();
    auto scale = perElement(other, layer ? layer.getX() : rms.getX(), begin);
    if (!scale)
      continue;
    found.match.add(norm.getDefiningOp());
    found.name = layer ? "layer_norm with scale" : "rms_norm with scale";
    found.build = [=](OpBuilder &b) mutable -> Value {
      Value w = scale(b);
      if (layer)
        return LayerNormOp::create(b, root->getLoc(), layer.getX(), w, Value(), layer.getBegin(),
                                   layer.getEpsilon());
      return RmsNormOp::create(b, root->getLoc(), rms.getX(), w, rms.getBegin(), rms.getEpsilon());
    };
    return true;
  }
  return false;
}

/// layer_norm(x) + b
bool graph_passes::matchNormBias(Operation *root, Found &found) {
  auto add = dyn_cast<BinaryOp>(root);
  if (!add || add.getKind() != BinaryKind::Add)
    return false;
  for (auto [norm, other] :
       {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    auto layer = norm.getDefiningOp<LayerNormOp>();
    if (!layer || layer.getBias() || !layer.getScale())
      continue;
    auto bias = perElement(other, layer.getX(), layer.getBegin());
    if (!bias)
      continue;
    found.match.add(layer);
    found.name = "layer_norm with bias";
    found.build = [=](OpBuilder &b) mutable -> Value {
      return LayerNormOp::create(b, root->getLoc(), layer.getX(), layer.getScale(), bias(b),
                                 layer.getBegin(), layer.getEpsilon());
    };
    return true;
  }
  return false;
}

bool graph_passes::matchSoftmax(Operation *root, Found &found) {
  auto div = dyn_cast<BinaryOp>(root);
  if (!div || div.getKind() != BinaryKind::Div)
    return false;
  auto exp = unary(div.getLhs(), UnaryKind::Exp);
  auto sub = exp ? binary(exp.getX(), BinaryKind::Sub) : BinaryOp();
  if (!sub)
    return false;
  Value x = sub.getLhs();
  Dims sumDims, maxDims;
  Match &match = found.match;
  if (!isReduction(peel(div.getRhs(), &match), ReductionKind::Sum, exp, sumDims, match) ||
      !isReduction(peel(sub.getRhs(), &match), ReductionKind::Max, x, maxDims, match) ||
      sumDims != maxDims || sumDims.size() != 1)
    return false;
  match.add(exp);
  match.add(sub);
  found.name = "softmax";
  int64_t dim = sumDims[0];
  found.build = [=](OpBuilder &b) -> Value {
    return SoftmaxOp::create(b, root->getLoc(), x, dim, false);
  };
  return true;
}
