//===- SkeletonText.cpp - operands of device skeletons as text ------------===//
#include "lib/Conversion/KernelToThreads/SkeletonText.h"

#include "dialects/Kernel/Access.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::kernel;

std::string threads::deviceType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isBF16())
    return "gk_bf16";
  if (type.isF16())
    return "gk_f16";
  return "gk_i" + std::to_string(type.getIntOrFloatBitWidth());
}

std::string threads::floatText(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", value);
  std::string s = text;
  return s.find_first_of(".e") == std::string::npos ? s + ".0f" : s + "f";
}

std::string threads::exprText(AffineExpr expr, ArrayRef<std::string> names) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return names[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  const char *op = expr.getKind() == AffineExprKind::Add   ? " + "
                   : expr.getKind() == AffineExprKind::Mul ? " * "
                   : expr.getKind() == AffineExprKind::Mod ? " % "
                                                           : " / ";
  std::string x = exprText(binary.getLHS(), names), y = exprText(binary.getRHS(), names);
  if (expr.getKind() == AffineExprKind::CeilDiv)
    x = "(" + x + " + " + y + " - 1)";
  return "(" + x + op + y + ")";
}

static AffineExpr offsetOf(Value view, AffineMap map) {
  return getOffsetExpr(map, cast<MemRefType>(view.getType()));
}
static std::string elementOf(Value view) {
  return threads::deviceType(cast<MemRefType>(view.getType()).getElementType());
}
static int64_t elementBytes(Value view) {
  return cast<MemRefType>(view.getType()).getElementTypeBitWidth() / 8;
}

/// The offset with some inputs set to zero.
static AffineExpr without(AffineExpr expr, ArrayRef<unsigned> inputs) {
  for (unsigned d : inputs)
    expr = expr.replace(getAffineDimExpr(d, expr.getContext()),
                        getAffineConstantExpr(0, expr.getContext()));
  return simplifyAffineExpr(expr, 8, 0);
}

std::string threads::matrixOperandText(const MatrixOperand &o, StringRef placeholder,
                                       StringRef name, std::string &preamble) {
  AffineExpr offset = offsetOf(o.view, o.map);
  int64_t row = *getStride(offset, o.row), depth = *getStride(offset, o.depth);
  AffineExpr base = without(offset, {o.row, o.depth});
  std::string type = elementOf(o.view);
  bool direct = row == 1 || depth == 1 || o.rows == 1 || o.depths == 1;
  if (!direct) {
    std::string where = exprText(base, {"b", "", ""}) + " + r * (gk_i64)" + std::to_string(row) +
                        " + k * (gk_i64)" + std::to_string(depth);
    return llvm::formatv("gk_computed<{0}, {1}>([=](gk_i64 b, int r, int k) {{ return {2}[{3}]; })",
                         type, depth <= row ? "true" : "false", placeholder, where)
        .str();
  }
  // A stride along an extent of 1 is free to choose.
  if (o.depths == 1 && row != 1)
    depth = 1;
  else if (o.rows == 1 && depth != 1)
    row = 1;
  std::optional<int64_t> batch = getStride(base, 0);
  bool startsAtZero = without(base, {0u}) == getAffineConstantExpr(0, base.getContext());
  int64_t alignment = std::min<int64_t>(16, o.alignment);
  if (batch && startsAtZero)
    return llvm::formatv("gk_direct<{0}, {1}, {2}, {3}, {4}>{{{5}}", type, *batch, row, depth,
                         alignment, placeholder)
        .str();
  int64_t bytes = simplifyAffineExpr(base, 8, 0).getLargestKnownDivisor() * elementBytes(o.view);
  if (bytes > 0)
    alignment = std::min<int64_t>(alignment, bytes & -bytes);
  preamble += llvm::formatv("struct {0} {{\n"
                            "  using element = {1};\n"
                            "  static constexpr bool direct = true;\n"
                            "  static constexpr gk_i64 row = {2}, k = {3};\n"
                            "  static constexpr int alignment = {4};\n"
                            "  const {1} *p;\n"
                            "  GK_DEV_MEMBER const {1} *base(gk_i64 b) const {{ return p + {5}; }\n"
                            "};\n",
                            name, type, row, depth, alignment, exprText(base, {"b", "", ""}))
                  .str();
  return (name + "{" + placeholder + "}").str();
}

std::string threads::imageOperandText(Value view, StringRef placeholder, bool flat) {
  SmallVector<int64_t> strides = kernel::getStrides(cast<MemRefType>(view.getType()));
  SmallVector<std::string> names{"n", "c", "h", "w"};
  if (flat)
    names = {"n", "c", "w"};
  std::string where;
  for (auto [name, stride] : llvm::zip(names, strides)) {
    where += (where.empty() ? "" : " + ") + name;
    if (stride != 1)
      where += " * (gk_i64)" + std::to_string(stride);
  }
  return llvm::formatv("[=](int n, int c, int h, int w) {{ return gk_float({0}[{1}]); }",
                       placeholder, where)
      .str();
}

std::string threads::headsOperandText(Value view, AffineMap map, StringRef placeholder,
                                      int64_t alignment) {
  AffineExpr offset = offsetOf(view, map);
  std::optional<int64_t> strides[4];
  bool linear = without(offset, {0u, 1u, 2u, 3u}) == getAffineConstantExpr(0, offset.getContext());
  for (unsigned d = 0; d < 4; ++d) {
    strides[d] = getStride(offset, d);
    linear &= strides[d].has_value();
  }
  std::string type = elementOf(view);
  if (linear && strides[3] == 1)
    return llvm::formatv("gk_heads<{0}, {1}, {2}, {3}, {4}>{{{5}}", type, *strides[0], *strides[1],
                         *strides[2], std::min<int64_t>(16, alignment), placeholder)
        .str();
  return llvm::formatv(
             "gk_computed_heads<{0}>([=](gk_i64 b, int h, int s, int d) {{ return {1}[{2}]; })",
             type, placeholder, exprText(offset, {"b", "h", "s", "d"}))
      .str();
}

std::string threads::scoreText(Value bias, AffineMap map, StringRef placeholder) {
  return llvm::formatv("[=](float s, gk_i64 b, int h, int i, int j) -> float {{ return s + "
                       "gk_float({0}[{1}]); }",
                       placeholder, exprText(offsetOf(bias, map), {"b", "h", "i", "j"}))
      .str();
}
