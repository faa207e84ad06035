//===- IndexMathTest.cpp - simplified indices against brute force ---------===//
#include "gpucc/Analysis/IndexMath.h"

#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace gpucc;

namespace {
/// Calls `visit` for every point of the space.
void forEachPoint(ArrayRef<int64_t> extents, function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> point(extents.size(), 0);
  int64_t n = 1;
  for (int64_t e : extents)
    n *= e;
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
      point[d] = rest % extents[d];
    visit(point);
  }
}

int64_t at(AffineExpr e, ArrayRef<int64_t> point, MLIRContext &context) {
  SmallVector<AffineExpr> values;
  for (int64_t p : point)
    values.push_back(getAffineConstantExpr(p, &context));
  return cast<AffineConstantExpr>(e.replaceDims(values)).getValue();
}

bool hasQuotient(AffineExpr e) {
  bool found = false;
  e.walk([&](AffineExpr sub) {
    found |= sub.getKind() == AffineExprKind::FloorDiv || sub.getKind() == AffineExprKind::Mod;
  });
  return found;
}
} // namespace

TEST(IndexMath, ReshapeInsideOneLoopHasNoQuotient) {
  MLIRContext context;
  IndexMath math(&context, {4, 8, 64});
  Index index = math.reshape({math.dim(0), math.dim(1) * 64 + math.dim(2)}, {4, 512}, {4, 8, 64});
  EXPECT_FALSE(math.isInexact());
  EXPECT_EQ(index, (Index{math.dim(0), math.dim(1), math.dim(2)}));
}

TEST(IndexMath, NamesTheSplitThatMakesAQuotientExact) {
  MLIRContext context;
  IndexMath math(&context, {4, 512});
  math.reshape({math.dim(0), math.dim(1)}, {4, 512}, {4, 8, 64});
  ASSERT_TRUE(math.getSplit());
  EXPECT_EQ(math.getSplit()->dim, 1u);
  EXPECT_EQ(math.getSplit()->inner, 64);
}

TEST(IndexMath, NoSplitHelpsAcrossLoops) {
  MLIRContext context;
  IndexMath math(&context, {2, 3});
  math.reshape({math.dim(0), math.dim(1)}, {2, 3}, {3, 2});
  EXPECT_TRUE(math.isInexact());
  EXPECT_FALSE(math.getSplit());
}

TEST(IndexMath, DigitsOfANumberCombineToIt) {
  MLIRContext context;
  IndexMath math(&context, {24});
  AffineExpr n = math.dim(0);
  Index digits = math.delinearize(n, {2, 3, 4});
  AffineExpr back = math.linearize(digits, {2, 3, 4});
  EXPECT_EQ(back, n);
  EXPECT_FALSE(hasQuotient(back));
}

/// Whatever is simplified keeps its value at every point.
TEST(IndexMath, KeepsValues) {
  MLIRContext context;
  std::mt19937_64 random(3);
  auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 300; ++round) {
    SmallVector<int64_t> extents;
    for (int64_t d = 0, rank = pick(1, 3); d < rank; ++d)
      extents.push_back(pick(1, 6));
    IndexMath math(&context, extents);
    AffineExpr e = math.constant(pick(0, 5));
    for (unsigned d = 0; d < extents.size(); ++d)
      e = e + math.dim(d) * pick(-3, 12);
    int64_t k = pick(1, 12), m = pick(1, 12);
    AffineExpr quotient = math.floordiv(e, k), rest = math.mod(e, k);
    AffineExpr nested = math.mod(math.floordiv(e, k), m);
    AffineExpr sum = math.simplify(rest + quotient * k); // recombines to e
    forEachPoint(extents, [&](ArrayRef<int64_t> p) {
      int64_t v = at(e, p, context);
      EXPECT_EQ(at(quotient, p, context), llvm::divideFloorSigned(v, k));
      EXPECT_EQ(at(rest, p, context), (v - llvm::divideFloorSigned(v, k) * k));
      EXPECT_EQ(at(nested, p, context), llvm::divideFloorSigned(v, k) - llvm::divideFloorSigned(llvm::divideFloorSigned(v, k), m) * m);
      EXPECT_EQ(at(sum, p, context), v);
      auto range = math.rangeOf(e);
      ASSERT_TRUE(range);
      EXPECT_TRUE(range->first <= v && v <= range->second);
    });
  }
}
