//===- LaneStride.cpp - how an index changes from lane to lane ------------===//
#include "dialects/Kernel/Access.h"

using namespace mlir;
using namespace gpucc::kernel;

int64_t gpucc::kernel::getLane0Divisor(AffineExpr expr, int64_t width) {
  AffineExpr d0 = getAffineDimExpr(0, expr.getContext());
  return simplifyAffineExpr(expr.replace(d0, d0 * width), 64, 0).getLargestKnownDivisor();
}

std::optional<int64_t> gpucc::kernel::getLaneStride(AffineExpr expr, int64_t width) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == 0 ? 1 : 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  std::optional<int64_t> lhs = getLaneStride(binary.getLHS(), width);
  std::optional<int64_t> rhs = getLaneStride(binary.getRHS(), width);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  if (*lhs == 0 && *rhs == 0)
    return 0;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant || constant.getValue() <= 0)
    return std::nullopt;
  int64_t c = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return *lhs * c;
  if (*lhs <= 0 || expr.getKind() == AffineExprKind::CeilDiv)
    return std::nullopt;
  // All lanes stay within one block of c.
  int64_t reach = *lhs * width;
  if (c % reach != 0 || getLane0Divisor(binary.getLHS(), width) % reach != 0)
    return std::nullopt;
  return expr.getKind() == AffineExprKind::Mod ? *lhs : 0;
}
