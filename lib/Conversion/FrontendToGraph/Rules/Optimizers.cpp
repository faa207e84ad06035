//===- Optimizers.cpp - update steps of the preview training domain -------===//
//
// Operands R (rate), T (step), then the tensors, grouped: X1 X2 ... G1 G2 ...
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;

namespace {
/// Tensor i of group g.
struct Groups {
  Node &n;
  int64_t count;
  Value operator()(int64_t group, int64_t i) const { return n[2 + group * count + i]; }
};

std::optional<Groups> groupsOf(Node &n, int64_t groups) {
  int64_t tensors = int64_t(n.size()) - 2;
  if (tensors > 0 && tensors % groups == 0 &&
      llvm::all_of(n.all(), [](Value v) { return bool(v); }))
    return Groups{n, tensors / groups};
  (void)n.invalid("its tensors must come in groups of " + llvm::Twine(groups));
  return std::nullopt;
}

Value scale(GraphBuilder &g, Value x, double by) { return g.binary(BinaryKind::Mul, x, by); }
Value scalar(GraphBuilder &g, Value x, Type type) { return g.reshape(g.convert(x, type), {}); }
} // namespace

static LogicalResult adagrad(Node &n) {
  auto t = groupsOf(n, 3);
  if (!t)
    return failure();
  GraphBuilder &g = n.g;
  SmallVector<Value> values, sums;
  for (int64_t i = 0; i < t->count; ++i) {
    Value x = (*t)(0, i), type = x;
    Value decay = scale(g, scalar(g, n[1], elementOf(type)), n.getFloat("decay_factor", 0));
    Value rate = g.div(scalar(g, n[0], elementOf(x)), g.binary(BinaryKind::Add, decay, 1));
    Value gradient = g.add((*t)(1, i), scale(g, x, n.getFloat("norm_coefficient", 0)));
    Value sum = g.add((*t)(2, i), g.mul(gradient, gradient));
    Value root = g.binary(BinaryKind::Add, g.unary(UnaryKind::Sqrt, sum), n.getFloat("epsilon", 0));
    values.push_back(g.sub(x, g.div(g.mul(rate, gradient), root)));
    sums.push_back(sum);
  }
  llvm::append_range(values, sums);
  return n.yield(values);
}

static LogicalResult momentum(Node &n) {
  auto t = groupsOf(n, 3);
  if (!t)
    return failure();
  GraphBuilder &g = n.g;
  auto first = n.constantNumber(1, "the step");
  if (!first)
    return failure();
  double alpha = n.getFloat("alpha", 0);
  double beta = *first > 0 ? double(n.getFloat("beta", 0)) : 1.0;
  bool nesterov = n.getString("mode", "standard") == "nesterov";
  SmallVector<Value> values, velocities;
  for (int64_t i = 0; i < t->count; ++i) {
    Value x = (*t)(0, i), rate = scalar(g, n[0], elementOf(x));
    Value gradient = g.add((*t)(1, i), scale(g, x, n.getFloat("norm_coefficient", 0)));
    Value velocity = g.add(scale(g, (*t)(2, i), alpha), scale(g, gradient, beta));
    Value step = nesterov ? g.add(gradient, scale(g, velocity, alpha)) : velocity;
    values.push_back(g.sub(x, g.mul(rate, step)));
    velocities.push_back(velocity);
  }
  llvm::append_range(values, velocities);
  return n.yield(values);
}

static LogicalResult adam(Node &n) {
  auto t = groupsOf(n, 4);
  if (!t)
    return failure();
  GraphBuilder &g = n.g;
  double alpha = n.getFloat("alpha", 0.9f), beta = n.getFloat("beta", 0.999f);
  SmallVector<Value> values, firsts, seconds;
  for (int64_t i = 0; i < t->count; ++i) {
    Value x = (*t)(0, i), type = x;
    Value gradient = g.add((*t)(1, i), scale(g, x, n.getFloat("norm_coefficient", 0)));
    Value first = g.add(scale(g, (*t)(2, i), alpha), scale(g, gradient, 1 - alpha));
    Value second = g.add(scale(g, (*t)(3, i), beta), scale(g, g.mul(gradient, gradient), 1 - beta));
    Value root =
        g.binary(BinaryKind::Add, g.unary(UnaryKind::Sqrt, second), n.getFloat("epsilon", 0));
    Value step = scalar(g, n[1], elementOf(type)), rate = scalar(g, n[0], elementOf(type));
    auto left = [&](double base) { // 1 - base^step
      return g.sub(g.scalar(elementOf(type), 1),
                   g.binary(BinaryKind::Pow, g.scalar(elementOf(type), base), step));
    };
    Value corrected = g.div(g.mul(rate, g.unary(UnaryKind::Sqrt, left(beta))), left(alpha));
    rate =
        g.select(g.compare(CompareKind::Gt, step, g.scalar(elementOf(type), 0)), corrected, rate);
    Value next = g.sub(x, g.div(g.mul(rate, first), root));
    values.push_back(scale(g, next, 1 - n.getFloat("norm_coefficient_post", 0)));
    firsts.push_back(first);
    seconds.push_back(second);
  }
  llvm::append_range(values, firsts);
  llvm::append_range(values, seconds);
  return n.yield(values);
}

ArrayRef<Entry> gpucc::frontend_to_graph::optimizerRules() {
  static const Entry rules[] = {
      {"ai.onnx.preview.training.Adagrad", 1, latest, 2, adagrad},
      {"ai.onnx.preview.training.Momentum", 1, latest, 2, momentum},
      {"ai.onnx.preview.training.Adam", 1, latest, 2, adam},
  };
  return rules;
}
