//===- Access.cpp - where a load or store touches memory ------------------===//
#include "dialects/Kernel/Access.h"

using namespace mlir;

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

AffineExpr gpucc::kernel::getOffsetExpr(AffineMap map, ShapedType type) {
  AffineExpr offset = getAffineConstantExpr(0, map.getContext());
  for (auto [expr, stride] : llvm::zip(map.getResults(), getStrides(type)))
    offset = offset + expr * stride;
  return simplifyAffineExpr(offset, map.getNumDims(), map.getNumSymbols());
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
