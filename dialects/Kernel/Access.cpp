//===- Access.cpp - where a load or store touches memory ------------------===//
#include "dialects/Kernel/Access.h"

using namespace mlir;
using namespace gpucc::kernel;

SmallVector<int64_t> gpucc::kernel::getStrides(ShapedType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (auto view = dyn_cast<MemRefType>(type))
    if (succeeded(view.getStridesAndOffset(strides, offset)))
      return strides;
  strides.assign(type.getRank(), 1);
  for (int64_t d = type.getRank() - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * type.getDimSize(d + 1);
  return strides;
}

int64_t gpucc::kernel::getSpan(ShapedType type) {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(type.getShape(), getStrides(type))) {
    if (size == 0)
      return 0;
    last += (size - 1) * stride;
  }
  return last + 1;
}

namespace {
struct Term {
  AffineExpr expr;
  int64_t factor;
};

/// Splits a sum into terms with constant factors.
void collectTerms(AffineExpr expr, int64_t factor, SmallVectorImpl<Term> &terms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add) {
    collectTerms(binary.getLHS(), factor, terms);
    return collectTerms(binary.getRHS(), factor, terms);
  }
  if (binary && expr.getKind() == AffineExprKind::Mul)
    if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return collectTerms(binary.getLHS(), factor * constant.getValue(), terms);
  terms.push_back({expr, factor});
}

/// (x floordiv c) * c * f + (x mod c) * f = x * f. True when a pair was joined.
bool joinQuotientAndRemainder(SmallVectorImpl<Term> &terms) {
  for (size_t i = 0; i < terms.size(); ++i) {
    auto quotient = dyn_cast<AffineBinaryOpExpr>(terms[i].expr);
    if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv)
      continue;
    auto c = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (!c || c.getValue() <= 0)
      continue;
    AffineExpr remainder = quotient.getLHS() % c.getValue();
    for (size_t j = 0; j < terms.size(); ++j)
      if (terms[j].expr == remainder && terms[i].factor == terms[j].factor * c.getValue()) {
        AffineExpr whole = quotient.getLHS();
        int64_t factor = terms[j].factor;
        terms.erase(terms.begin() + std::max(i, j));
        terms.erase(terms.begin() + std::min(i, j));
        collectTerms(whole, factor, terms);
        return true;
      }
  }
  return false;
}
} // namespace

AffineExpr gpucc::kernel::simplifyOffset(AffineExpr offset, unsigned dims) {
  SmallVector<Term> terms;
  collectTerms(simplifyAffineExpr(offset, dims, 0), 1, terms);
  while (joinQuotientAndRemainder(terms)) {
  }
  AffineExpr sum = getAffineConstantExpr(0, offset.getContext());
  for (const Term &term : terms)
    sum = sum + term.expr * term.factor;
  return simplifyAffineExpr(sum, dims, 0);
}

AffineExpr gpucc::kernel::getOffsetExpr(AffineMap map, ShapedType type) {
  AffineExpr offset = getAffineConstantExpr(0, map.getContext());
  for (auto [expr, stride] : llvm::zip(map.getResults(), getStrides(type)))
    offset = offset + expr * stride;
  return simplifyOffset(offset, map.getNumDims());
}

std::optional<int64_t> gpucc::kernel::getStride(AffineExpr expr, unsigned dim, int64_t step) {
  AffineExpr d = getAffineDimExpr(dim, expr.getContext());
  unsigned dims = dim + 1;
  expr.walk([&](AffineExpr e) {
    if (auto other = dyn_cast<AffineDimExpr>(e))
      dims = std::max(dims, other.getPosition() + 1);
  });
  AffineExpr change = simplifyAffineExpr(expr.replace(d, d + step) - expr, dims, /*numSymbols=*/0);
  if (auto constant = dyn_cast<AffineConstantExpr>(change))
    return constant.getValue();
  return std::nullopt;
}

SmallVector<AffineExpr> gpucc::kernel::delinearize(ArrayRef<int64_t> extents, AffineExpr linear) {
  SmallVector<AffineExpr> indices(extents.size());
  int64_t below = 1;
  for (int64_t d = extents.size() - 1; d >= 0; --d) {
    AffineExpr index = below == 1 ? linear : linear.floorDiv(below);
    if (d > 0)
      index = index % extents[d];
    indices[d] = index;
    below *= extents[d];
  }
  return indices;
}
