//===- RaiseActivations.cpp - GELU and SiLU -------------------------------===//
//
// Exporters write GELU in many orders. What is compared is the polynomial:
//
//   erf form:   (x/2) * (1 + erf(x / sqrt 2))
//   tanh form:  (x/2) * (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
// The factor beside (1 + f(u)) must be the polynomial x/2, and u must be
// x/sqrt 2, or the cubic, in whatever operations it is written.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Graph/ConstantExpressions.h"
#include "lib/Transforms/Graph/RaiseMatch.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using namespace gpucc::graph_passes;

namespace {
/// Coefficients of 1, x, x², x³.
using Polynomial = std::array<double, 4>;

/// `value` as a polynomial in `x`; ops on the way are added to the match.
std::optional<Polynomial> polynomial(Value value, Value x, Match &match, unsigned depth = 0) {
  if (value == x)
    return Polynomial{0, 1, 0, 0};
  if (std::optional<double> c = splatNumber(value))
    return Polynomial{*c, 0, 0, 0};
  auto op = value.getDefiningOp<BinaryOp>();
  if (!op || depth > 8)
    return std::nullopt;
  auto a = polynomial(op.getLhs(), x, match, depth + 1);
  if (!a)
    return std::nullopt;
  auto b = polynomial(op.getRhs(), x, match, depth + 1);
  if (!b)
    return std::nullopt;
  match.add(op);
  Polynomial r{};
  switch (op.getKind()) {
  case BinaryKind::Add:
    for (int i = 0; i < 4; ++i)
      r[i] = (*a)[i] + (*b)[i];
    return r;
  case BinaryKind::Mul:
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        double product = (*a)[i] * (*b)[j];
        if (i + j < 4)
          r[i + j] += product;
        else if (product != 0)
          return std::nullopt;
      }
    return r;
  case BinaryKind::Div:
    if ((*b)[1] != 0 || (*b)[2] != 0 || (*b)[3] != 0 || (*b)[0] == 0)
      return std::nullopt;
    for (int i = 0; i < 4; ++i)
      r[i] = (*a)[i] / (*b)[0];
    return r;
  case BinaryKind::Pow: // of x itself
    if (op.getLhs() == x && *b == Polynomial{3, 0, 0, 0})
      return Polynomial{0, 0, 0, 1};
    if (op.getLhs() == x && *b == Polynomial{2, 0, 0, 0})
      return Polynomial{0, 0, 1, 0};
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

bool nearPolynomial(const Polynomial &a, const Polynomial &b, Type type) {
  for (int i = 0; i < 4; ++i)
    if (b[i] == 0 ? a[i] != 0 : !near(a[i], b[i], type))
      return false;
  return true;
}

/// Leaves of a product of values, constants included.
void factors(Value value, SmallVectorImpl<Value> &leaves, Match &match, Value stop,
             unsigned depth) {
  auto mul = value == stop || depth > 4 ? BinaryOp() : binary(value, BinaryKind::Mul);
  if (!mul || splatNumber(value)) {
    leaves.push_back(value);
    return;
  }
  match.add(mul);
  factors(mul.getLhs(), leaves, match, stop, depth + 1);
  factors(mul.getRhs(), leaves, match, stop, depth + 1);
}

/// Values that may be the x of an expression u(x).
void candidates(Value u, SmallVectorImpl<Value> &values, unsigned depth) {
  if (depth > 5 || splatNumber(u) || llvm::is_contained(values, u))
    return;
  values.push_back(u);
  if (auto op = u.getDefiningOp<BinaryOp>()) {
    candidates(op.getLhs(), values, depth + 1);
    candidates(op.getRhs(), values, depth + 1);
  }
}
} // namespace

/// gate = 1 + f(u), or null
static UnaryOp gateOf(Value value, BinaryOp &add) {
  add = binary(value, BinaryKind::Add);
  if (!add || splatNumber(add.getRhs()) != 1.0)
    return {};
  auto f = add.getLhs().getDefiningOp<UnaryOp>();
  bool fits = f && (f.getKind() == UnaryKind::Erf || f.getKind() == UnaryKind::Tanh);
  return fits ? f : UnaryOp();
}

/// The rest of the product beside the gate, as a polynomial in x.
static bool restIsHalf(ArrayRef<Value> leaves, Value gate, Value x, Type type, Match &match) {
  Polynomial rest{1, 0, 0, 0};
  unsigned gates = 0;
  for (Value leaf : leaves) {
    if (leaf == gate) {
      ++gates;
      continue;
    }
    auto p = polynomial(leaf, x, match);
    if (!p || (*p)[2] != 0 || (*p)[3] != 0)
      return false;
    if (rest[1] != 0 && (*p)[1] != 0)
      return false; // x²
    rest = {rest[0] * (*p)[0], rest[0] * (*p)[1] + rest[1] * (*p)[0], 0, 0};
  }
  return gates == 1 && nearPolynomial(rest, {0, 0.5, 0, 0}, type);
}

bool graph_passes::matchGelu(Operation *root, Found &found) {
  auto mul = dyn_cast<BinaryOp>(root);
  if (!mul || mul.getKind() != BinaryKind::Mul)
    return false;
  Type type = typeOf(mul.getResult()).getElementType();
  if (!isa<FloatType>(type))
    return false;
  SmallVector<Value> leaves;
  Match ignored;
  factors(mul, leaves, ignored, Value(), 0);
  for (Value leaf : leaves) {
    BinaryOp add;
    UnaryOp f = gateOf(leaf, add);
    if (!f)
      continue;
    SmallVector<Value> bases;
    candidates(f.getX(), bases, 0);
    bool tanh = f.getKind() == UnaryKind::Tanh;
    double outer = std::sqrt(2 / M_PI);
    Polynomial wanted =
        tanh ? Polynomial{0, outer, 0, 0.044715 * outer} : Polynomial{0, std::sqrt(0.5), 0, 0};
    for (Value x : bases) {
      Match match;
      SmallVector<Value> parts;
      factors(mul, parts, match, x, 0);
      auto u = polynomial(f.getX(), x, match);
      if (!u || !nearPolynomial(*u, wanted, type) || !restIsHalf(parts, leaf, x, type, match))
        continue;
      match.add(f);
      match.add(add);
      Match inside;
      for (Operation *op : match.inside())
        if (op != root)
          inside.add(op);
      found.match = inside;
      found.name = tanh ? "gelu tanh" : "gelu erf";
      found.build = [=](OpBuilder &b) -> Value {
        return GeluOp::create(b, root->getLoc(), tanh ? GeluKind::Tanh : GeluKind::Erf, x);
      };
      return true;
    }
  }
  return false;
}

bool graph_passes::matchSilu(Operation *root, Found &found) {
  auto mul = dyn_cast<BinaryOp>(root);
  if (!mul || mul.getKind() != BinaryKind::Mul)
    return false;
  for (auto [x, gate] :
       {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    auto logistic = unary(gate, UnaryKind::Logistic);
    if (!logistic || logistic.getX() != x)
      continue;
    found.match.add(logistic);
    found.name = "silu";
    found.build = [root, x = x](OpBuilder &b) -> Value {
      return SiluOp::create(b, root->getLoc(), x);
    };
    return true;
  }
  return false;
}
