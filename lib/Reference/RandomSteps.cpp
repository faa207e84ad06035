//===- RandomSteps.cpp - drawing values and pointwise steps ---------------===//
#include "RandomSteps.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using gpucc::detail::RandomSteps;

RandomSteps::RandomSteps(func::FuncOp function, uint64_t seed, const RandomProgramOptions &options)
    : function(function), builder(function.getContext()), g(builder, function.getLoc()),
      options(options), element(toType(function.getContext(), options.type)), random(seed) {
  builder.setInsertionPointToEnd(&function.getBody().front());
  auto add = [&](bool on, auto family, int weight) {
    families.insert(families.end(), on * weight, family);
  };
  add(options.pointwise, &RandomSteps::pointwise, 4);
  add(options.reductions, &RandomSteps::reduction, 2);
  add(options.movement, &RandomSteps::movement, 3);
  add(options.contractions, &RandomSteps::contraction, 2);
  add(options.windows && !options.smooth, &RandomSteps::window, 1);
  add(options.composites, &RandomSteps::composite, 3);
  add(options.integers, &RandomSteps::integers, 2);
  add(options.random, &RandomSteps::dropout, 1);
  add(options.numbers, &RandomSteps::narrow, 1);
  add(options.numbers, &RandomSteps::arithmetic, 1);
  add(options.numbers, &RandomSteps::special, 1);
  assert(!families.empty() && "switch on a family");
}

void RandomSteps::step() { (this->*families[below(families.size())])(); }

double RandomSteps::real(double lo, double hi) {
  return lo + (hi - lo) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

RandomSteps::Shape RandomSteps::shape(size_t rank) {
  Shape s;
  for (size_t d = 0; d < rank; ++d)
    s.push_back(size());
  while (elements(s) > options.maxElements)
    *llvm::max_element(s) = 1;
  return s;
}

int64_t RandomSteps::elements(ArrayRef<int64_t> s) {
  int64_t n = 1;
  for (int64_t d : s)
    n *= d;
  return n;
}

Value RandomSteps::argument(ArrayRef<int64_t> s, Type e) {
  Value v = function.getBody().front().addArgument(tensorOf(s, e), function.getLoc());
  made.push_back(v);
  return v;
}

Value RandomSteps::pick(size_t least, size_t most) {
  std::vector<Value> fitting;
  for (Value v : made) {
    size_t rank = tensorOf(v).getRank();
    if (tensorOf(v).getElementType() == element && rank >= least && rank <= most)
      fitting.push_back(v);
  }
  if (fitting.empty() || below(8) == 0)
    return argument(shape(least + below(most - least + 1)));
  // Mostly a recent one: chains grow long, and some values get several uses.
  size_t back = std::min(below(fitting.size()), below(fitting.size()));
  return fitting[fitting.size() - 1 - back];
}

Value RandomSteps::like(Value x) {
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  std::vector<Value> same;
  for (Value v : made)
    if (v.getType() == x.getType() && v != x)
      same.push_back(v);
  if (!same.empty() && below(3))
    return same[below(same.size())];
  if (s.empty() || coin())
    return argument(s);
  // Broadcast of a vector along one dimension, as biases are.
  auto dim = static_cast<int64_t>(below(s.size()));
  Value vector = argument({s[dim]});
  return g.broadcast(vector, s, {dim});
}

void RandomSteps::done(Value v, double bound) {
  if (bound > 20) {
    v = g.tanh(v);
    bound = 1;
  }
  made.push_back(v);
  bounds[v] = bound;
}

Value RandomSteps::positive(Value x) {
  Value y = options.smooth ? g.mul(x, x) : g.unary(UnaryKind::Abs, x);
  return g.add(y, 0.5);
}

void RandomSteps::pointwise() { coin() ? unary() : binary(); }

void RandomSteps::unary() {
  Value x = pick();
  double b = bound(x);
  constexpr UnaryKind smooth[] = {UnaryKind::Neg,      UnaryKind::Tanh, UnaryKind::Erf,
                                  UnaryKind::Logistic, UnaryKind::Sin,  UnaryKind::Cos,
                                  UnaryKind::Atan,     UnaryKind::Asinh};
  constexpr UnaryKind kinked[] = {UnaryKind::Abs, UnaryKind::Relu, UnaryKind::Sign};
  constexpr UnaryKind ofPositive[] = {UnaryKind::Log, UnaryKind::Log1p, UnaryKind::Sqrt,
                                      UnaryKind::Rsqrt, UnaryKind::Reciprocal};
  switch (below(4)) {
  case 0: {
    UnaryKind kind = ofPositive[below(std::size(ofPositive))];
    return done(g.unary(kind, positive(x)), std::max(2.0, options.smooth ? b * b + 1 : b + 1));
  }
  case 1:
    if (b <= 3)
      return done(g.unary(coin() ? UnaryKind::Exp : UnaryKind::Expm1, x), std::exp(b));
    return done(g.tanh(x), 1);
  case 2:
    if (!options.smooth)
      return done(g.unary(kinked[below(std::size(kinked))], x), std::max(b, 1.0));
    [[fallthrough]];
  default: {
    UnaryKind kind = smooth[below(std::size(smooth))];
    return done(g.unary(kind, x), kind == UnaryKind::Neg ? b : std::max(1.6, std::min(b, 4.0)));
  }
  }
}

void RandomSteps::binary() {
  Value a = pick(), b = like(a);
  switch (below(options.smooth ? 4 : 6)) {
  case 0:
    return done(g.add(a, b), bound(a) + bound(b));
  case 1:
    return done(g.sub(a, b), bound(a) + bound(b));
  case 2:
    return done(g.mul(a, b), bound(a) * bound(b));
  case 3:
    return done(g.div(a, positive(b)), 2 * bound(a));
  case 4:
    return done(g.binary(BinaryKind::Max, a, b), std::max(bound(a), bound(b)));
  default:
    return done(g.binary(BinaryKind::Min, a, b), std::max(bound(a), bound(b)));
  }
}

void RandomSteps::dropout() {
  Value x = pick(1);
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  SmallVector<Value> offsets(s.size(), g.scalarI64(0));
  Value step = g.scalarI64(static_cast<int64_t>(below(5)));
  double ratio = 0.25 * static_cast<double>(below(3));
  done(
      DropoutOp::create(builder, g.loc, x, step, offsets, APFloat(ratio), /*seed=*/7, ordinal++, s),
      bound(x) / (1 - ratio));
}
