//===- ExpandMath.cpp - math functions as arithmetic, on scalars ----------===//
//
// Steps: small floats to f32; f8 and i4 as bytes; own expansions; upstream's for the rest. Sine,
// cosine and tangent stay: they have a branch, which comes behind the vectors (ExpandSines).
//
//   %y = math.tanh %x : bf16
//   → %w = arith.extf %x : bf16 to f32 ; ... tanh of %w as arithmetic ... ; arith.truncf to bf16
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Kernel/Passes.h"
#include "lib/Transforms/Kernel/EightBitFloats.h"
#include "lib/Transforms/Kernel/PackedNibbles.h"
#include "lib/Transforms/Kernel/ScalarMath.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gpucc {
#define GEN_PASS_DEF_EXPANDMATH
#include "lib/Transforms/Kernel/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

static bool isSmall(Type type) { return type.isBF16() || type.isF16() || isEightBitFloat(type); }

/// Computes f16, bf16 and f8 in f32 and rounds after each operation. Conversions to and from wider
/// types than f32 also go through f32, which is what the device has.
static bool widen(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (!isa<arith::ArithDialect, math::MathDialect>(dialect) ||
      isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op))
    return false;
  bool smallIn = llvm::any_of(op->getOperandTypes(), isSmall);
  bool smallOut = llvm::any_of(op->getResultTypes(), isSmall);
  if (!smallIn && !smallOut)
    return false;
  OpBuilder b(op);
  Type f32 = b.getF32Type();
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    if (from.isF32() || to.isF32())
      return false;
    Value wide = from.isF64()
                     ? arith::TruncFOp::create(b, op->getLoc(), f32, op->getOperand(0))
                     : arith::ExtFOp::create(b, op->getLoc(), f32, op->getOperand(0)).getResult();
    Value result = to.isF64() ? arith::ExtFOp::create(b, op->getLoc(), to, wide).getResult()
                              : arith::TruncFOp::create(b, op->getLoc(), to, wide).getResult();
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return true;
  }
  OperationState state(op->getLoc(), op->getName());
  for (Value v : op->getOperands())
    state.addOperands(
        isSmall(v.getType()) ? arith::ExtFOp::create(b, op->getLoc(), f32, v).getResult() : v);
  for (Type t : op->getResultTypes())
    state.addTypes(isSmall(t) ? f32 : t);
  state.addAttributes(op->getAttrs());
  Operation *wide = b.create(state);
  for (auto [old, result] : llvm::zip(op->getResults(), wide->getResults())) {
    Value v = result;
    if (isSmall(old.getType()))
      v = arith::TruncFOp::create(b, op->getLoc(), old.getType(), v);
    old.replaceAllUsesWith(v);
  }
  op->erase();
  return true;
}

namespace {

/// An op of f32 that ScalarMath knows.
template <typename Op, Value (ScalarMath::*function)(Value)>
struct OwnUnary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    ScalarMath math(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, (math.*function)(op.getOperand()));
    return success();
  }
};

struct OwnPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    ScalarMath math(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, math.pow(op.getLhs(), op.getRhs()));
    return success();
  }
};

/// 1 / sqrt(x): two correctly rounded operations on every target.
struct ExactRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    Value one =
        arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getFloatAttr(op.getType(), 1.0));
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

/// isnan, isinf, isfinite as comparisons.
template <typename Op, arith::CmpFPredicate predicate> struct Classify : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    auto type = cast<FloatType>(x.getType());
    Value other = x;
    if (predicate != arith::CmpFPredicate::UNO) {
      other = arith::ConstantOp::create(
          rewriter, op.getLoc(),
          rewriter.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics())));
      x = math::AbsFOp::create(rewriter, op.getLoc(), x);
    }
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(op, predicate, x, other);
    return success();
  }
};

struct ExpandMath : gpucc::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      numWidened += widen(op);
    storeEightBitFloatsAsBytes(getOperation());
    if (failed(storeNibblesPacked(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    addOwn(patterns);
    addUpstream(patterns);
    GreedyRewriteConfig config;
    // Folding may not join the roundings that `widen` put in place; constants still fold.
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }

  static void addOwn(RewritePatternSet &patterns) {
    patterns.add<
        OwnUnary<math::ExpOp, &ScalarMath::exp>, OwnUnary<math::LogOp, &ScalarMath::log>,
        OwnUnary<math::TanhOp, &ScalarMath::tanh>, OwnUnary<math::ErfOp, &ScalarMath::erf>,
        OwnUnary<math::AtanOp, &ScalarMath::atan>, OwnUnary<math::SinhOp, &ScalarMath::sinh>,
        OwnUnary<math::CoshOp, &ScalarMath::cosh>, OwnUnary<math::AsinhOp, &ScalarMath::asinh>,
        OwnUnary<math::AcoshOp, &ScalarMath::acosh>, OwnUnary<math::AtanhOp, &ScalarMath::atanh>,
        OwnPow, ExactRsqrt, Classify<math::IsNaNOp, arith::CmpFPredicate::UNO>,
        Classify<math::IsInfOp, arith::CmpFPredicate::OEQ>,
        Classify<math::IsFiniteOp, arith::CmpFPredicate::OLT>>(patterns.getContext(),
                                                               PatternBenefit(10));
  }

  static void addUpstream(RewritePatternSet &patterns) {
    math::populateExpansionPatterns(patterns, {"exp2", "round", "ctlz"});
    auto chosen = [](StringRef name) {
      return llvm::is_contained({"math.atan2", "math.log2", "math.log1p", "math.erfc", "math.expm1",
                                 "math.cbrt", "math.asin", "math.acos"},
                                name);
    };
    populateMathPolynomialApproximationPatterns(patterns, chosen);
  }
};

} // namespace
