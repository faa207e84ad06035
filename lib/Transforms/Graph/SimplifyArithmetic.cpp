//===- SimplifyArithmetic.cpp - identities of pointwise ops ---------------===//
//
// Each pattern says why it is true for NaN, infinities and both zeros.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Graph.h"
#include "lib/Transforms/Graph/ConstantExpressions.h"
#include "lib/Transforms/Graph/SimplifyPatterns.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using graph_passes::splatNumber;

static bool isFloatTensor(Value v) {
  return isa<FloatType>(cast<RankedTensorType>(v.getType()).getElementType());
}

/// A constant that the greedy driver may create for a splat like `like`.
static Value splatLike(PatternRewriter &rewriter, Location loc, Value like, double number) {
  auto type = cast<RankedTensorType>(like.getType());
  DType dtype = *toDType(type.getElementType());
  HostTensor one = isFloat(dtype) ? HostTensor::scalarFloat(dtype, number)
                                  : HostTensor::scalarInt(dtype, static_cast<int64_t>(number));
  auto dense = cast<DenseElementsAttr>(toElementsAttr(type.getContext(), one));
  return ConstantOp::create(rewriter, loc, dense.resizeSplat(type));
}

namespace {
/// add, mul, max, min, and, or, xor commute (NaN operands give NaN either way): constants go right.
struct ConstantToTheRight : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    switch (op.getKind()) {
    case BinaryKind::Add:
    case BinaryKind::Mul:
    case BinaryKind::Max:
    case BinaryKind::Min:
    case BinaryKind::And:
    case BinaryKind::Or:
    case BinaryKind::Xor:
      break;
    default:
      return failure();
    }
    if (!splatNumber(op.getLhs()) || splatNumber(op.getRhs()))
      return failure();
    rewriter.replaceOpWithNewOp<BinaryOp>(op, op.getKind(), op.getRhs(), op.getLhs());
    return success();
  }
};

/// x*1, x/1, x-0 (x - (+0) is x, -0 too), x+(-0), pow(x,1): x for every x. For integers also x+0,
/// x|0, x^0, x<<0, x>>0 and i1 and true. A signalling NaN is quieted by none of our targets' moves.
struct NeutralOperand : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    std::optional<double> c = splatNumber(op.getRhs());
    if (!c)
      return failure();
    bool isFloat = isFloatTensor(op.getLhs()), negative = std::signbit(*c), neutral = false;
    switch (op.getKind()) {
    case BinaryKind::Mul:
    case BinaryKind::Div:
    case BinaryKind::Pow:
      neutral = *c == 1;
      break;
    case BinaryKind::Sub:
      neutral = *c == 0 && !(isFloat && negative);
      break;
    case BinaryKind::Add:
      neutral = *c == 0 && (!isFloat || negative);
      break;
    case BinaryKind::Or:
    case BinaryKind::Xor:
    case BinaryKind::Shl:
    case BinaryKind::Shr:
      neutral = *c == 0;
      break;
    case BinaryKind::And:
      neutral = *c == 1 && cast<RankedTensorType>(op.getType()).getElementType().isInteger(1);
      break;
    default:
      break;
    }
    if (!neutral)
      return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

/// x / 2^k = x * 2^-k: both round the same real number once, as long as 2^-k is a normal number.
struct DivideByPowerOfTwo : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Div || !isFloatTensor(op.getLhs()))
      return failure();
    std::optional<double> c = splatNumber(op.getRhs());
    int exponent;
    if (!c || !std::isfinite(*c) || std::fabs(std::frexp(*c, &exponent)) != 0.5 ||
        std::abs(exponent) > 12 ||
        cast<RankedTensorType>(op.getType()).getElementTypeBitWidth() < 16)
      return failure();
    Value inverse = splatLike(rewriter, op.getLoc(), op.getLhs(), 1 / *c);
    rewriter.replaceOpWithNewOp<BinaryOp>(op, BinaryKind::Mul, op.getLhs(), inverse);
    return success();
  }
};

/// pow(x, 2) = x * x, for floats: the square is exact before it is rounded, in either form.
struct SquareAsProduct : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Pow || splatNumber(op.getRhs()) != 2.0)
      return failure();
    rewriter.replaceOpWithNewOp<BinaryOp>(op, BinaryKind::Mul, op.getLhs(), op.getLhs());
    return success();
  }
};

/// f(f(x)) = x for neg and not; f(f(x)) = f(x) for abs, relu, floor, ceil, round_even, sign.
struct RepeatedUnary : OpRewritePattern<UnaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<UnaryOp>();
    if (!inner || inner.getKind() != op.getKind())
      return failure();
    switch (op.getKind()) {
    case UnaryKind::Neg:
    case UnaryKind::Not:
      rewriter.replaceOp(op, inner.getX());
      return success();
    case UnaryKind::Abs:
    case UnaryKind::Relu:
    case UnaryKind::Floor:
    case UnaryKind::Ceil:
    case UnaryKind::RoundEven:
    case UnaryKind::Sign:
      rewriter.replaceOp(op, op.getX());
      return success();
    default:
      return failure();
    }
  }
};

/// Equal branches, or a condition that is known.
struct KnownSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    if (op.getOnTrue() == op.getOnFalse()) {
      rewriter.replaceOp(op, op.getOnTrue());
      return success();
    }
    std::optional<double> c = splatNumber(op.getCondition());
    if (!c)
      return failure();
    rewriter.replaceOp(op, *c != 0 ? op.getOnTrue() : op.getOnFalse());
    return success();
  }
};

/// Every value of `from` is one of `to`.
bool widens(Type from, Type to) {
  if (from == to)
    return true;
  auto f = dyn_cast<FloatType>(from), t = dyn_cast<FloatType>(to);
  if (f && t)
    return t.isF64() || (t.isF32() && f.getWidth() <= 16) ||
           (t.isF16() && isa<Float8E5M2Type, Float8E4M3FNType>(f));
  auto fi = dyn_cast<IntegerType>(from), ti = dyn_cast<IntegerType>(to);
  if (!fi || !ti || ti.getWidth() == 1)
    return false;
  if (fi.getWidth() == 1)
    return true;
  return fi.isUnsigned() == ti.isUnsigned() ? fi.getWidth() <= ti.getWidth()
                                            : fi.isUnsigned() && fi.getWidth() < ti.getWidth();
}

/// convert(convert(x)): the detour goes when it loses nothing; so does a conversion to the same
/// type.
struct ConvertTwice : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    if (op.getX().getType() == op.getType()) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto inner = op.getX().getDefiningOp<ConvertOp>();
    if (!inner)
      return failure();
    auto element = [](Value v) { return cast<RankedTensorType>(v.getType()).getElementType(); };
    if (!widens(element(inner.getX()), element(inner.getResult())))
      return failure();
    rewriter.replaceOpWithNewOp<ConvertOp>(op, inner.getX(), op.getTo());
    return success();
  }
};
} // namespace

void graph_passes::addArithmeticPatterns(RewritePatternSet &patterns) {
  patterns.add<ConstantToTheRight, NeutralOperand, DivideByPowerOfTwo, SquareAsProduct,
               RepeatedUnary, KnownSelect, ConvertTwice>(patterns.getContext());
}
