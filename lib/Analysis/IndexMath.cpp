//===- IndexMath.cpp - index expressions over dimensions of known size ----===//
#include "gpucc/Analysis/IndexMath.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace gpucc;

IndexMath::IndexMath(MLIRContext *context, ArrayRef<int64_t> extents)
    : context(context), extents(extents.begin(), extents.end()) {}

AffineExpr IndexMath::constant(int64_t value) const {
  return getAffineConstantExpr(value, context);
}
AffineExpr IndexMath::dim(unsigned d) const { return getAffineDimExpr(d, context); }
AffineExpr IndexMath::addDim(int64_t extent) {
  extents.push_back(extent);
  return dim(extents.size() - 1);
}

//===----------------------------------------------------------------------===//
// Linear forms
//===----------------------------------------------------------------------===//

static void addTerm(LinearForm &form, AffineExpr term, int64_t coefficient) {
  for (auto &[t, c] : form.terms)
    if (t == term) {
      c += coefficient;
      return;
    }
  form.terms.push_back({term, coefficient});
}

static void addScaled(LinearForm &to, const LinearForm &from, int64_t factor) {
  to.constant += from.constant * factor;
  for (auto [t, c] : from.terms)
    addTerm(to, t, c * factor);
}

/// Numerator and divisor of a quotient, nested quotients as one: (x floordiv 4) floordiv 2 = (x,
/// 8).
static std::pair<AffineExpr, int64_t> quotientOf(AffineExpr e) {
  int64_t divisor = 1;
  while (e.getKind() == AffineExprKind::FloorDiv) {
    auto binary = cast<AffineBinaryOpExpr>(e);
    divisor *= cast<AffineConstantExpr>(binary.getRHS()).getValue();
    e = binary.getLHS();
  }
  return {e, divisor};
}

/// c·(x mod k) + c·k·(x floordiv k) = c·x. Returns true when it found such a pair.
static bool recombine(const IndexMath &math, LinearForm &form) {
  for (auto [m, c] : form.terms) {
    if (m.getKind() != AffineExprKind::Mod || c == 0)
      continue;
    auto binary = cast<AffineBinaryOpExpr>(m);
    int64_t k = cast<AffineConstantExpr>(binary.getRHS()).getValue();
    auto [numerator, inner] = quotientOf(binary.getLHS());
    for (auto [q, cq] : form.terms) {
      if (q.getKind() != AffineExprKind::FloorDiv || cq != c * k ||
          quotientOf(q) != std::pair(numerator, inner * k))
        continue;
      AffineExpr mod = m, div = q, whole = binary.getLHS();
      int64_t factor = c;
      llvm::erase_if(form.terms, [&](auto &t) { return t.first == mod || t.first == div; });
      addScaled(form, math.toLinear(whole), factor);
      return true;
    }
  }
  return false;
}

LinearForm IndexMath::toLinear(AffineExpr e) const {
  LinearForm form;
  switch (e.getKind()) {
  case AffineExprKind::Constant:
    form.constant = cast<AffineConstantExpr>(e).getValue();
    return form;
  case AffineExprKind::DimId: {
    unsigned d = cast<AffineDimExpr>(e).getPosition();
    if (d >= extents.size() || extents[d] != 1)
      form.terms.push_back({e, 1});
    return form;
  }
  case AffineExprKind::Add: {
    auto binary = cast<AffineBinaryOpExpr>(e);
    form = toLinear(binary.getLHS());
    addScaled(form, toLinear(binary.getRHS()), 1);
    break;
  }
  case AffineExprKind::Mul: {
    auto binary = cast<AffineBinaryOpExpr>(e);
    LinearForm lhs = toLinear(binary.getLHS()), rhs = toLinear(binary.getRHS());
    if (!lhs.terms.empty() && !rhs.terms.empty()) {
      form.terms.push_back({e, 1});
      return form;
    }
    addScaled(form, rhs.terms.empty() ? lhs : rhs, rhs.terms.empty() ? rhs.constant : lhs.constant);
    break;
  }
  default:
    form.terms.push_back({e, 1});
    return form;
  }
  llvm::erase_if(form.terms, [](auto &t) { return t.second == 0; });
  while (recombine(*this, form))
    llvm::erase_if(form.terms, [](auto &t) { return t.second == 0; });
  return form;
}

/// Dimensions by number, then symbols by number, then the rest in the order of appearance.
static unsigned rankOf(AffineExpr term) {
  if (auto d = dyn_cast<AffineDimExpr>(term))
    return d.getPosition();
  if (auto s = dyn_cast<AffineSymbolExpr>(term))
    return 1u << 20 | s.getPosition();
  return 1u << 30;
}

AffineExpr IndexMath::fromLinear(const LinearForm &form) const {
  AffineExpr sum;
  auto terms = form.terms;
  llvm::stable_sort(terms, [](auto &a, auto &b) { return rankOf(a.first) < rankOf(b.first); });
  for (auto [t, c] : terms) {
    if (c == 0)
      continue;
    AffineExpr product = c == 1 ? t : t * c;
    sum = sum ? sum + product : product;
  }
  if (!sum)
    return constant(form.constant);
  return form.constant ? sum + form.constant : sum;
}

//===----------------------------------------------------------------------===//
// Ranges, quotients, remainders
//===----------------------------------------------------------------------===//

std::optional<std::pair<int64_t, int64_t>> IndexMath::rangeOf(const LinearForm &form) const {
  int64_t low = form.constant, high = form.constant;
  for (auto [t, c] : form.terms) {
    std::optional<std::pair<int64_t, int64_t>> r;
    if (auto d = dyn_cast<AffineDimExpr>(t)) {
      if (d.getPosition() < extents.size())
        r = {0, extents[d.getPosition()] - 1};
    } else if (t.getKind() == AffineExprKind::Mod) {
      r = {0, cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(t).getRHS()).getValue() - 1};
    } else if (t.getKind() == AffineExprKind::FloorDiv) {
      auto binary = cast<AffineBinaryOpExpr>(t);
      int64_t k = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      if (auto n = rangeOf(binary.getLHS()))
        r = {llvm::divideFloorSigned(n->first, k), llvm::divideFloorSigned(n->second, k)};
    }
    if (!r)
      return std::nullopt;
    low += c > 0 ? c * r->first : c * r->second;
    high += c > 0 ? c * r->second : c * r->first;
  }
  return std::pair(low, high);
}

std::optional<std::pair<int64_t, int64_t>> IndexMath::rangeOf(AffineExpr e) const {
  return rangeOf(toLinear(e));
}

std::pair<LinearForm, LinearForm> IndexMath::partition(const LinearForm &form, int64_t k) const {
  LinearForm quotient, rest;
  quotient.constant = llvm::divideFloorSigned(form.constant, k);
  rest.constant = form.constant - quotient.constant * k;
  for (auto [t, c] : form.terms)
    (c % k == 0 ? quotient : rest).terms.push_back({t, c % k == 0 ? c / k : c});
  return {quotient, rest};
}

void IndexMath::noteSplit(const LinearForm &rest, int64_t k) {
  inexact = true;
  if (split)
    return;
  for (auto [t, c] : rest.terms) {
    auto d = dyn_cast<AffineDimExpr>(t);
    if (!d || d.getPosition() >= extents.size() || c <= 0 || k % c != 0)
      continue;
    int64_t inner = k / c, extent = extents[d.getPosition()];
    if (inner > 1 && inner < extent && extent % inner == 0) {
      split = DimSplit{d.getPosition(), inner};
      return;
    }
  }
}

AffineExpr IndexMath::floordiv(AffineExpr e, int64_t k) {
  if (k == 1)
    return simplify(e);
  auto [quotient, rest] = partition(toLinear(e), k);
  auto range = rangeOf(rest);
  if (range && range->first >= 0 && range->second < k)
    return fromLinear(quotient);
  noteSplit(rest, k);
  return fromLinear(quotient) + fromLinear(rest).floorDiv(k);
}

AffineExpr IndexMath::mod(AffineExpr e, int64_t k) {
  if (k == 1)
    return constant(0);
  auto [quotient, rest] = partition(toLinear(e), k);
  auto range = rangeOf(rest);
  if (range && range->first >= 0 && range->second < k)
    return fromLinear(rest);
  noteSplit(rest, k);
  return fromLinear(rest) % k;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

AffineExpr IndexMath::linearize(ArrayRef<AffineExpr> index, ArrayRef<int64_t> shape) const {
  LinearForm form;
  int64_t stride = 1;
  SmallVector<int64_t> strides(shape.size());
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  AffineExpr sum = constant(0);
  for (auto [e, s] : llvm::zip_equal(index, strides))
    sum = sum + e * s;
  return simplify(sum);
}

Index IndexMath::delinearize(AffineExpr linear, ArrayRef<int64_t> shape) {
  Index index(shape.size());
  AffineExpr rest = linear;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) {
      index[i] = constant(0);
      continue;
    }
    bool outermost = llvm::all_of(shape.take_front(i), [](int64_t n) { return n == 1; });
    index[i] = outermost ? simplify(rest) : mod(rest, shape[i]);
    rest = outermost ? constant(0) : floordiv(rest, shape[i]);
  }
  return index;
}

Index IndexMath::reshape(ArrayRef<AffineExpr> index, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  return delinearize(linearize(index, from), to);
}

AffineExpr IndexMath::substitute(AffineExpr e, ArrayRef<AffineExpr> dims) {
  switch (e.getKind()) {
  case AffineExprKind::Constant:
  case AffineExprKind::SymbolId:
    return e;
  case AffineExprKind::DimId:
    return dims[cast<AffineDimExpr>(e).getPosition()];
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(e);
  AffineExpr lhs = substitute(binary.getLHS(), dims), rhs = substitute(binary.getRHS(), dims);
  switch (e.getKind()) {
  case AffineExprKind::Add:
    return simplify(lhs + rhs);
  case AffineExprKind::Mul:
    return simplify(lhs * rhs);
  case AffineExprKind::FloorDiv:
    return floordiv(lhs, cast<AffineConstantExpr>(rhs).getValue());
  case AffineExprKind::Mod:
    return mod(lhs, cast<AffineConstantExpr>(rhs).getValue());
  default:
    return getAffineBinaryOpExpr(e.getKind(), lhs, rhs);
  }
}
