//===- RandomFamilies.cpp - steps of the other families -------------------===//
#include "RandomSteps.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using gpucc::detail::RandomSteps;

void RandomSteps::reduction() {
  Value x = pick(1);
  int64_t rank = tensorOf(x).getRank();
  Shape dims;
  for (int64_t d = 0; d < rank; ++d)
    if (coin())
      dims.push_back(d);
  if (dims.empty())
    dims.push_back(static_cast<int64_t>(below(rank)));
  double n = 1;
  for (int64_t d : dims)
    n *= static_cast<double>(tensorOf(x).getDimSize(d));
  switch (below(options.smooth ? 3 : 6)) {
  case 0: // a mean
    return done(g.mul(g.sum(x, dims), 1 / n), bound(x));
  case 1:
    return done(g.sum(x, dims), bound(x) * n);
  case 2: {
    auto dim = static_cast<int64_t>(below(rank));
    if (!options.smooth && below(3) == 0) { // an exclusive one would begin with an infinity
      ReductionKind kind = coin() ? ReductionKind::Max : ReductionKind::Min;
      return done(ScanOp::create(builder, g.loc, kind, x, dim, false, coin()), bound(x));
    }
    Value y = ScanOp::create(builder, g.loc, ReductionKind::Sum, x, dim, coin(), coin());
    return done(y, bound(x) * static_cast<double>(tensorOf(x).getDimSize(dim)));
  }
  case 3: // few factors, or small ones
    if (std::pow(bound(x), n) < 20)
      return done(g.reduce(ReductionKind::Prod, x, dims), std::pow(bound(x), n));
    return done(g.reduce(ReductionKind::Max, g.unary(UnaryKind::Abs, x), dims), bound(x));
  default: {
    ReductionKind kind = coin() ? ReductionKind::Max : ReductionKind::Min;
    return done(g.reduce(kind, x, dims), bound(x));
  }
  }
}

void RandomSteps::reshape() {
  Value x = pick();
  int64_t n = elements(tensorOf(x).getShape());
  Shape to; // random divisors, the rest last
  for (size_t d = below(3); d > 0; --d) {
    int64_t s = size();
    if (n % s == 0) {
      to.push_back(s);
      n /= s;
    }
  }
  to.push_back(n);
  Value y = g.reshape(x, to);
  if (y != x)
    done(y, bound(x));
  else
    unary();
}

void RandomSteps::sliceOrPad() {
  Value x = pick(1);
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  Shape start(s.size(), 0), sizes(s), strides(s.size(), 1), none(s.size(), 0);
  auto d = below(s.size());
  if (coin() && s[d] > 1) {
    int64_t stride = 1 + static_cast<int64_t>(below(2));
    sizes[d] = 1 + static_cast<int64_t>(below((s[d] - 1) / stride + 1));
    int64_t reach = (sizes[d] - 1) * stride;
    start[d] = static_cast<int64_t>(below(s[d] - reach));
    strides[d] = stride;
    if (below(3) == 0) {
      start[d] += reach;
      strides[d] = -stride;
    }
    Value y = g.slice(x, start, sizes, strides);
    return y == x ? unary() : done(y, bound(x));
  }
  if (elements(s) / s[d] * (s[d] + 4) > options.maxElements)
    return unary();
  Shape low(none), high(none), interior(none);
  low[d] = static_cast<int64_t>(below(3));
  high[d] = static_cast<int64_t>(below(3));
  if (coin() && s[d] > 2) {
    constexpr PadKind modes[] = {PadKind::Reflect, PadKind::Edge, PadKind::Wrap};
    Value y = PadOp::create(builder, g.loc, modes[below(3)], x, Value(), low, high, none);
    return done(y, bound(x));
  }
  interior[d] = static_cast<int64_t>(s[d] < 4 && below(3) == 0);
  Value fill = g.splat(tensorOf({}, element), coin() ? 0.0 : 0.5);
  done(PadOp::create(builder, g.loc, PadKind::Constant, x, fill, low, high, interior), bound(x));
}

void RandomSteps::movement() {
  switch (below(5)) {
  case 0:
    return reshape();
  case 1: {
    Value x = pick(2);
    Shape order = llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(x).getRank()));
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[below(i + 1)]);
    Value y = g.transpose(x, order);
    return y == x ? reshape() : done(y, bound(x));
  }
  case 2: {
    Value x = pick(0, 3);
    Shape to(tensorOf(x).getShape());
    auto at = static_cast<int64_t>(below(to.size() + 1));
    to.insert(to.begin() + at, 1 + static_cast<int64_t>(below(4)));
    if (elements(to) > options.maxElements)
      return reshape();
    return done(g.broadcastOver(x, argument(to), {at}), bound(x));
  }
  case 3: {
    Value x = pick(1);
    Value y = like(x);
    if (2 * elements(tensorOf(x).getShape()) > options.maxElements)
      return reshape();
    return done(g.concat({x, y}, static_cast<int64_t>(below(tensorOf(x).getRank()))),
                std::max(bound(x), bound(y)));
  }
  default:
    return sliceOrPad();
  }
}

void RandomSteps::contraction() {
  if (below(3) == 0)
    return convolution();
  Value x = pick(1, 4);
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  auto contracted = static_cast<int64_t>(below(s.size()));
  Shape weight, batch, weightBatch;
  if (s.size() > 2 && coin() && contracted != 0) {
    batch.push_back(0);
    weight.push_back(s[0]);
    weightBatch.push_back(0);
  }
  auto inner = static_cast<int64_t>(weight.size());
  weight.push_back(s[contracted]);
  weight.push_back(size());
  if (elements(s) / s[contracted] * weight.back() > options.maxElements)
    return reduction();
  Value y = g.contract(x, argument(weight), batch, weightBatch, {contracted}, {inner});
  done(y, bound(x) * static_cast<double>(s[contracted]));
}

void RandomSteps::convolution() {
  Value x = pick(3, 4);
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  Shape filter{size(), s[1]}, strides, low, high, dilations;
  int64_t groups = 1;
  if (s[1] > 1 && below(3) == 0) { // depthwise
    groups = s[1];
    filter = {s[1], 1};
  }
  for (int64_t d : s.drop_front(2)) {
    int64_t window = 1 + static_cast<int64_t>(below(std::min<int64_t>(3, d)));
    filter.push_back(window);
    strides.push_back(1 + static_cast<int64_t>(below(2)));
    low.push_back(static_cast<int64_t>(below(2)));
    high.push_back(static_cast<int64_t>(below(2)));
    dilations.push_back(1);
  }
  Value w = argument(filter);
  Value y = ConvolutionOp::create(builder, g.loc, x, w, strides, low, high, dilations, groups);
  if (tensorOf(y).getNumElements() > options.maxElements) {
    y.getDefiningOp()->erase();
    return reduction();
  }
  done(y, bound(x) * static_cast<double>(elements(filter) / filter[0]));
}

void RandomSteps::window() {
  Value x = pick(3, 4);
  Shape window, strides, low, high, extra, dilations;
  for (int64_t d : tensorOf(x).getShape().drop_front(2)) {
    window.push_back(1 + static_cast<int64_t>(below(std::min<int64_t>(3, d))));
    strides.push_back(1 + static_cast<int64_t>(below(2)));
    low.push_back(static_cast<int64_t>(below(window.back())));
    high.push_back(static_cast<int64_t>(below(window.back())));
    // A window of nothing but padding would be an infinity.
    extra.push_back(window.back() > 1 && high.back() == 0 ? strides.back() - 1 : 0);
    dilations.push_back(2 * (window.back() - 1) < d && below(3) == 0 ? 2 : 1);
  }
  PoolKind kind = coin() ? PoolKind::Max : PoolKind::Avg;
  done(
      PoolOp::create(builder, g.loc, kind, x, window, strides, low, high, extra, dilations, coin()),
      bound(x));
}

void RandomSteps::norm() {
  Value x = pick(2);
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  int64_t begin = 1 + static_cast<int64_t>(below(s.size() - 1));
  Shape affine(s.drop_front(begin));
  double reach = std::sqrt(static_cast<double>(elements(affine)));
  Value scale = coin() ? argument(affine) : Value(), bias = coin() ? argument(affine) : Value();
  APFloat epsilon(1e-2);
  if (coin())
    return done(LayerNormOp::create(builder, g.loc, x, scale, bias, begin, epsilon), reach + 1);
  done(RmsNormOp::create(builder, g.loc, x, scale, begin, epsilon), reach);
}

void RandomSteps::attention() {
  int64_t batch = 1 + static_cast<int64_t>(below(2)), heads = 1 + static_cast<int64_t>(below(2));
  int64_t groups = 1 + static_cast<int64_t>(below(2)), rows = size(), columns = size();
  Value q = argument({batch, heads * groups, rows, 4}), k = argument({batch, heads, columns, 4}),
        v = argument({batch, heads, columns, 4});
  Value bias = coin() ? argument({1, 1, rows, columns}) : Value();
  done(AttentionOp::create(builder, g.loc, q, k, v, bias, APFloat(0.5), /*causal=*/coin()), 1);
}

void RandomSteps::batchNorm() {
  Value x = pick(2, 4);
  int64_t channels = tensorOf(x).getDimSize(1);
  double n = static_cast<double>(tensorOf(x).getNumElements()) / static_cast<double>(channels);
  Value scale = argument({channels}), bias = argument({channels}), mean = argument({channels});
  Value variance = positive(argument({channels}));
  bool training = below(3) != 0;
  auto op = BatchNormOp::create(builder, g.loc, x, scale, bias, mean, variance, APFloat(1e-2),
                                APFloat(0.75), training);
  done(op.getResult(), training ? std::sqrt(n) + 1 : 2 * (bound(x) + 1) + 1);
  done(op.getNewMean(), bound(x) + 1);
  done(op.getNewVariance(), bound(x) * bound(x) + 2);
}

void RandomSteps::crossEntropy() {
  Value x = pick(1, 3);
  Shape s(tensorOf(x).getShape());
  s.pop_back();
  Value labels = argument(s, builder.getI64Type());
  auto op = CrossEntropyOp::create(builder, g.loc, x, labels, /*ignore_index=*/-1);
  double count = static_cast<double>(elements(s));
  Value mean = g.mul(op.getLoss(), 1 / count);
  done(g.convert(mean, element), 2 * bound(x) + 3);
  done(g.convert(g.mul(op.getCount(), 1 / count), element), 1);
}

void RandomSteps::composite() {
  switch (below(8)) {
  case 0: {
    Value x = pick(1);
    bool log = coin();
    auto dim = static_cast<int64_t>(below(tensorOf(x).getRank()));
    return done(SoftmaxOp::create(builder, g.loc, x, dim, log), log ? 2 * bound(x) + 3 : 1);
  }
  case 1:
    return norm();
  case 2: {
    Value x = pick();
    return done(GeluOp::create(builder, g.loc, coin() ? GeluKind::Erf : GeluKind::Tanh, x),
                bound(x));
  }
  case 3: {
    Value x = pick();
    return done(SiluOp::create(builder, g.loc, x), bound(x));
  }
  case 4:
    return attention();
  case 5:
    return batchNorm();
  case 6:
    return crossEntropy();
  default: {
    int64_t rows = 1 + static_cast<int64_t>(below(4));
    Value x = argument({2, 2, rows, 6});
    Value angle = argument({rows, 2});
    Value cos = g.unary(UnaryKind::Cos, angle), sin = g.unary(UnaryKind::Sin, angle);
    return done(RopeOp::create(builder, g.loc, x, cos, sin, /*interleaved=*/coin()), 2);
  }
  }
}

void RandomSteps::gatherOrScatter() {
  Value x = pick(1, 3);
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  auto dim = static_cast<int64_t>(below(s.size()));
  Value indices = argument(shape(1 + below(2)), builder.getI64Type());
  if (elements(s) / s[dim] * tensorOf(indices).getNumElements() > options.maxElements)
    return binary();
  Value rows = GatherOp::create(builder, g.loc, x, indices, dim);
  if (coin())
    return done(rows, bound(x));
  Value back = ScatterOp::create(builder, g.loc, coin() ? x : g.like(x, 0), indices, rows, dim,
                                 ReductionKindAttr::get(builder.getContext(), ReductionKind::Sum));
  done(back, bound(x) * static_cast<double>(tensorOf(indices).getNumElements() + 1));
}

void RandomSteps::integers() {
  switch (below(options.smooth ? 2 : 4)) {
  case 0:
    return gatherOrScatter();
  case 1: { // a mask from index arithmetic
    Value x = pick(1);
    RankedTensorType index = tensorOf(x).clone(builder.getI64Type());
    auto rank = static_cast<uint64_t>(index.getRank());
    Value a = g.iota(index, static_cast<int64_t>(below(rank)));
    Value b = g.iota(index, static_cast<int64_t>(below(rank)));
    constexpr BinaryKind kinds[] = {BinaryKind::Add, BinaryKind::Mul, BinaryKind::Sub,
                                    BinaryKind::Mod, BinaryKind::Max};
    Value mixed = g.binary(kinds[below(5)], a, g.add(b, 1));
    Value mask = g.compare(coin() ? CompareKind::Le : CompareKind::Ne, mixed, 3.0);
    return done(g.select(mask, x, g.like(x, 0.25)), bound(x));
  }
  case 2: { // a mask from values
    Value x = pick(), y = like(x);
    Value mask = g.compare(coin() ? CompareKind::Lt : CompareKind::Ge, x, y);
    return done(g.select(mask, y, x), std::max(bound(x), bound(y)));
  }
  default: {
    Value x = pick(1);
    auto dim = static_cast<int64_t>(below(tensorOf(x).getRank()));
    Value y = ArgReduceOp::create(builder, g.loc, coin() ? ReductionKind::Max : ReductionKind::Min,
                                  x, dim, /*select_last=*/coin());
    return done(g.convert(y, element), 8);
  }
  }
}
