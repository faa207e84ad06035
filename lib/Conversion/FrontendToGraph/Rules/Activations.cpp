//===- Activations.cpp - functions between layers -------------------------===//
//
// Written so that NaN passes through where the definition's comparison lets it.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

#include <cmath>

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static Value less(Node &n, Value x, double bound) {
  return n.g.compare(CompareKind::Lt, x, n.g.splatLike(x, bound));
}
static Value scaled(Node &n, Value x, double by) { return n.g.binary(BinaryKind::Mul, x, by); }
static Value shifted(Node &n, Value x, double by) { return n.g.binary(BinaryKind::Add, x, by); }

static LogicalResult relu(Node &n) { return n.yield(n.g.unary(UnaryKind::Relu, n[0])); }
static LogicalResult sigmoid(Node &n) { return n.yield(n.g.unary(UnaryKind::Logistic, n[0])); }
static LogicalResult tanh(Node &n) { return n.yield(n.g.unary(UnaryKind::Tanh, n[0])); }

static LogicalResult leakyRelu(Node &n) {
  return n.yield(n.g.select(less(n, n[0], 0), scaled(n, n[0], n.getFloat("alpha", 0.01f)), n[0]));
}

static LogicalResult pRelu(Node &n) {
  Value slope = n.g.broadcastTo(n[1], shapeOf(n[0]));
  return n.yield(n.g.select(less(n, n[0], 0), n.g.mul(n[0], slope), n[0]));
}

/// alpha * (exp(x) - 1) below zero
static Value eluBelow(Node &n, double alpha) {
  return scaled(n, n.g.unary(UnaryKind::Expm1, n[0]), alpha);
}
static LogicalResult elu(Node &n) {
  return n.yield(n.g.select(less(n, n[0], 0), eluBelow(n, n.getFloat("alpha", 1)), n[0]));
}
static LogicalResult selu(Node &n) {
  float alpha = n.getFloat("alpha", 1.67326319217681884765625f);
  float gamma = n.getFloat("gamma", 1.05070102214813232421875f);
  Value inner = n.g.select(n.g.compare(CompareKind::Gt, n[0], n.g.splatLike(n[0], 0)), n[0],
                           eluBelow(n, alpha));
  return n.yield(scaled(n, inner, gamma));
}
/// max(0,x) + min(0, alpha * (exp(x / alpha) - 1))
static LogicalResult celu(Node &n) {
  float alpha = n.getFloat("alpha", 1);
  Value inner =
      scaled(n, n.g.unary(UnaryKind::Expm1, n.g.binary(BinaryKind::Div, n[0], alpha)), alpha);
  return n.yield(n.g.add(n.g.unary(UnaryKind::Relu, n[0]),
                         n.g.binary(BinaryKind::Min, inner, n.g.splatLike(n[0], 0))));
}

static Value hardSigmoidOf(Node &n, double alpha, double beta) {
  Value line = shifted(n, scaled(n, n[0], alpha), beta);
  Value low = n.g.binary(BinaryKind::Max, line, n.g.splatLike(line, 0));
  return n.g.binary(BinaryKind::Min, low, n.g.splatLike(line, 1));
}
static LogicalResult hardSigmoid(Node &n) {
  return n.yield(hardSigmoidOf(n, n.getFloat("alpha", 0.2f), n.getFloat("beta", 0.5f)));
}
static LogicalResult hardSwish(Node &n) {
  return n.yield(n.g.mul(n[0], hardSigmoidOf(n, 1.0 / 6, 0.5)));
}

/// log(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-|x|))
static Value softplusOf(Node &n, Value x) {
  Value tail =
      n.g.unary(UnaryKind::Log1p,
                n.g.unary(UnaryKind::Exp, n.g.unary(UnaryKind::Neg, n.g.unary(UnaryKind::Abs, x))));
  return n.g.add(n.g.unary(UnaryKind::Relu, x), tail);
}
static LogicalResult softplus(Node &n) { return n.yield(softplusOf(n, n[0])); }
static LogicalResult softsign(Node &n) {
  return n.yield(n.g.div(n[0], shifted(n, n.g.unary(UnaryKind::Abs, n[0]), 1)));
}
static LogicalResult mish(Node &n) { return n.yield(n.g.create<MishOp>(n[0])); }

static LogicalResult thresholdedRelu(Node &n) {
  Value above = n.g.compare(CompareKind::Gt, n[0], n.g.splatLike(n[0], n.getFloat("alpha", 1)));
  return n.yield(n.g.select(above, n[0], n.g.splatLike(n[0], 0)));
}
static LogicalResult shrink(Node &n) {
  float bias = n.getFloat("bias", 0), lambd = n.getFloat("lambd", 0.5f);
  Value above = n.g.compare(CompareKind::Gt, n[0], n.g.splatLike(n[0], lambd));
  Value high = n.g.select(above, n.g.binary(BinaryKind::Sub, n[0], bias), n.g.splatLike(n[0], 0));
  return n.yield(n.g.select(less(n, n[0], -lambd), n.g.binary(BinaryKind::Add, n[0], bias), high));
}

static LogicalResult swish(Node &n) {
  float alpha = n.getFloat("alpha", 1);
  if (alpha == 1)
    return n.yield(n.g.create<SiluOp>(n[0]));
  return n.yield(n.g.mul(n[0], n.g.unary(UnaryKind::Logistic, scaled(n, n[0], alpha))));
}

static LogicalResult gelu(Node &n) {
  StringRef form = n.getString("approximate", "none");
  if (form != "none" && form != "tanh")
    return n.invalid("approximate is '" + form + "'; 'none' and 'tanh' are allowed");
  return n.yield(n.g.create<GeluOp>(form == "tanh" ? GeluKind::Tanh : GeluKind::Erf, n[0]));
}
static LogicalResult fastGelu(Node &n) {
  Value x = n.has(1) ? n.g.add(n[0], n[1]) : n[0];
  return n.yield(n.g.create<GeluOp>(GeluKind::Tanh, x));
}
static LogicalResult biasGelu(Node &n) {
  return n.yield(n.g.create<GeluOp>(GeluKind::Erf, n.g.add(n[0], n[1])));
}
/// x * logistic(alpha * x)
static LogicalResult quickGelu(Node &n) {
  Value gate = n.g.unary(UnaryKind::Logistic, scaled(n, n[0], n.getFloat("alpha", 1.702f)));
  return n.yield(n.g.mul(n[0], gate));
}

/// Bounds as attributes (to 10), as scalar operands afterwards; NaN passes.
static LogicalResult clip(Node &n) {
  Value x = n[0];
  auto bound = [&](BinaryKind kind, Value limit) { x = n.g.binary(kind, x, limit); };
  if (n.version() < 11) {
    if (n.hasAttr("min"))
      bound(BinaryKind::Max, n.g.splatLike(x, n.getFloat("min", 0)));
    if (n.hasAttr("max"))
      bound(BinaryKind::Min, n.g.splatLike(x, n.getFloat("max", 0)));
    return n.yield(x);
  }
  for (unsigned i : {1u, 2u})
    if (n.has(i)) {
      if (elementsOf(shapeOf(n[i])) != 1)
        return n.invalid("its bounds must be scalars");
      bound(i == 1 ? BinaryKind::Max : BinaryKind::Min, n.g.reshape(n[i], {}));
    }
  return n.yield(x);
}

ArrayRef<Entry> gpucc::frontend_to_graph::activationRules() {
  static const Entry rules[] = {
      {"Relu", 6, latest, 1, relu},
      {"Sigmoid", 6, latest, 1, sigmoid},
      {"Tanh", 6, latest, 1, tanh},
      {"LeakyRelu", 6, latest, 1, leakyRelu},
      {"PRelu", 7, latest, 2, pRelu},
      {"Elu", 6, latest, 1, elu},
      {"Selu", 6, latest, 1, selu},
      {"Celu", 12, latest, 1, celu},
      {"HardSigmoid", 6, latest, 1, hardSigmoid},
      {"HardSwish", 14, latest, 1, hardSwish},
      {"Softplus", 1, latest, 1, softplus},
      {"Softsign", 1, latest, 1, softsign},
      {"Mish", 18, latest, 1, mish},
      {"ThresholdedRelu", 10, latest, 1, thresholdedRelu},
      {"Shrink", 9, latest, 1, shrink},
      {"Swish", 24, latest, 1, swish},
      {"Gelu", 20, latest, 1, gelu},
      {"Clip", 6, latest, 1, clip},
      {"com.microsoft.Gelu", 1, latest, 1, gelu},
      {"com.microsoft.FastGelu", 1, latest, 1, fastGelu},
      {"com.microsoft.BiasGelu", 1, latest, 2, biasGelu},
      {"com.microsoft.QuickGelu", 1, latest, 1, quickGelu},
  };
  return rules;
}
