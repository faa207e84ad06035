//===- SimplifyMovement.cpp - movement that joins or vanishes -------------===//
#include "dialects/Graph/Graph.h"
#include "lib/Transforms/Graph/SimplifyPatterns.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

using Dims = SmallVector<int64_t>;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

namespace {
struct JoinReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (op.getX().getType() == op.getType()) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, inner.getX(), op.getShape());
    return success();
  }
};

struct JoinTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> outer = op.getPermutation();
    if (llvm::equal(outer, llvm::seq<int64_t>(0, outer.size()))) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    Dims joined;
    for (int64_t d : outer)
      joined.push_back(inner.getPermutation()[d]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getX(), joined);
    return success();
  }
};

/// A transpose that only moves dimensions of size 1 is a reshape.
struct TransposeOfOnes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    int64_t last = -1;
    for (int64_t d : op.getPermutation())
      if (typeOf(op.getX()).getDimSize(d) != 1) {
        if (d < last)
          return failure();
        last = d;
      }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getX(), typeOf(op.getResult()).getShape());
    return success();
  }
};

/// Two broadcasts are one; one that repeats nothing is a reshape.
struct JoinBroadcasts : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    if (auto inner = op.getX().getDefiningOp<BroadcastOp>()) {
      Dims dims;
      for (int64_t d : inner.getDims())
        dims.push_back(op.getDims()[d]);
      rewriter.replaceOpWithNewOp<BroadcastOp>(op, inner.getX(), op.getShape(), dims);
      return success();
    }
    if (typeOf(op.getX()).getNumElements() != typeOf(op.getResult()).getNumElements())
      return failure();
    if (op.getX().getType() == op.getType())
      rewriter.replaceOp(op, op.getX());
    else
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getX(), op.getShape());
    return success();
  }
};

/// A reshape that only inserts or removes dimensions of size 1, before a broadcast, goes into its
/// dimension list: [H] -> [1,1,H] -> [B,S,H] is [H] -> [B,S,H].
struct UnitReshapeIntoBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    if (!reshape)
      return failure();
    // The dimensions larger than 1 must be the same on both sides, in order.
    Dims places, dims;
    auto outer = typeOf(op.getX()).getShape(), inner = typeOf(reshape.getX()).getShape();
    for (auto [i, size] : llvm::enumerate(outer))
      if (size != 1)
        places.push_back(op.getDims()[i]);
    size_t next = 0;
    for (int64_t size : inner)
      if (size != 1) {
        if (next == places.size() || op.getShape()[places[next]] != size)
          return failure();
        dims.push_back(places[next++]);
      } else {
        return failure(); // keeps its own place: only insertions are absorbed
      }
    if (next != places.size())
      return failure();
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, reshape.getX(), op.getShape(), dims);
    return success();
  }
};

/// Blocks of blocks, when no offset is computed at run time.
struct JoinSlices : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    bool whole = op.getX().getType() == op.getType() && op.getOffsets().empty() &&
                 llvm::all_of(op.getStrides(), [](int64_t s) { return s == 1; });
    if (whole) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto inner = op.getX().getDefiningOp<SliceOp>();
    if (!inner || !inner.getOffsets().empty() || !op.getOffsets().empty())
      return failure();
    Dims start, strides;
    for (auto [s0, t0, s1, t1, size] : llvm::zip(inner.getStart(), inner.getStrides(), op.getStart(),
                                                 op.getStrides(), op.getSizes())) {
      start.push_back(s0 + s1 * t0);
      strides.push_back(size == 1 ? 1 : t0 * t1); // a stride that nothing steps by may be any number
    }
    if (typeOf(op.getResult()).getNumElements() == 0)
      return failure();
    rewriter.replaceOpWithNewOp<SliceOp>(op, inner.getX(), ValueRange(), start, op.getSizes(),
                                         strides);
    return success();
  }
};

/// A slice that lies in one part of a concat reads that part.
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getX().getDefiningOp<ConcatOp>();
    if (!concat || !op.getOffsets().empty() || typeOf(op.getResult()).getNumElements() == 0)
      return failure();
    int64_t dim = concat.getDim(), first = op.getStart()[dim];
    int64_t last = first + (op.getSizes()[dim] - 1) * op.getStrides()[dim];
    int64_t begin = 0;
    for (Value part : concat.getInputs()) {
      int64_t end = begin + typeOf(part).getDimSize(dim);
      if (std::min(first, last) >= begin && std::max(first, last) < end) {
        Dims start(op.getStart());
        start[dim] -= begin;
        rewriter.replaceOpWithNewOp<SliceOp>(op, part, ValueRange(), start, op.getSizes(),
                                             op.getStrides());
        return success();
      }
      begin = end;
    }
    return failure();
  }
};

/// Parts without elements go; a concat of one part is the part.
struct TrivialConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value part : op.getInputs())
      if (typeOf(part).getDimSize(op.getDim()) != 0)
        parts.push_back(part);
    if (parts.size() == 1 && parts[0].getType() == op.getType()) {
      rewriter.replaceOp(op, parts[0]);
      return success();
    }
    if (parts.empty() || parts.size() == op.getInputs().size())
      return failure();
    rewriter.replaceOpWithNewOp<ConcatOp>(op, parts, op.getDim());
    return success();
  }
};

/// A reduction over dimensions of size 1 moves elements only: true for every kind (the sum of one
/// element is that element; -0 stays, since an empty sum is -0).
struct ReduceOfOnes : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    for (int64_t d : op.getDims())
      if (typeOf(op.getX()).getDimSize(d) != 1)
        return failure();
    if (op.getX().getType() == op.getType())
      rewriter.replaceOp(op, op.getX());
    else
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getX(), typeOf(op.getResult()).getShape());
    return success();
  }
};

/// The operand before its transpose and the lists translated, if the free dimensions keep their
/// order (they make the result's).
struct Untransposed {
  Value value;
  Dims batch, contract;
};
std::optional<Untransposed> untranspose(Value operand, ArrayRef<int64_t> batch,
                                        ArrayRef<int64_t> contract) {
  auto transpose = operand.getDefiningOp<TransposeOp>();
  if (!transpose)
    return std::nullopt;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  Untransposed u{transpose.getX(), {}, {}};
  for (int64_t d : batch)
    u.batch.push_back(permutation[d]);
  for (int64_t d : contract)
    u.contract.push_back(permutation[d]);
  int64_t last = -1;
  for (int64_t d = 0; d < static_cast<int64_t>(permutation.size()); ++d) {
    if (llvm::is_contained(batch, d) || llvm::is_contained(contract, d))
      continue;
    if (permutation[d] < last)
      return std::nullopt;
    last = permutation[d];
  }
  return u;
}

struct TransposeIntoContract : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto lhs = untranspose(op.getLhs(), op.getLhsBatch(), op.getLhsContract());
    auto rhs = untranspose(op.getRhs(), op.getRhsBatch(), op.getRhsContract());
    if (!lhs && !rhs)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (lhs) {
        op.getLhsMutable().assign(lhs->value);
        op.setLhsBatch(lhs->batch);
        op.setLhsContract(lhs->contract);
      }
      if (rhs) {
        op.getRhsMutable().assign(rhs->value);
        op.setRhsBatch(rhs->batch);
        op.setRhsContract(rhs->contract);
      }
    });
    return success();
  }
};
} // namespace

void graph_passes::addMovementPatterns(RewritePatternSet &patterns) {
  patterns
      .add<JoinReshapes, JoinTransposes, TransposeOfOnes, JoinBroadcasts, UnitReshapeIntoBroadcast,
           JoinSlices, SliceOfConcat, TrivialConcat, ReduceOfOnes, TransposeIntoContract>(
          patterns.getContext());
}
