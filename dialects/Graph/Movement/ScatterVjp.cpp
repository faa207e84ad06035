//===- ScatterVjp.cpp - derivative of scatter -----------------------------===//
//
//   sum         data: g; updates: gather(g)
//   overwrite   data: g where nothing was written; updates: gather(g) for the
//               update that stands (the last one of a slot)
//   prod        times the product of all others in the slot; with one zero
//               in it only that zero has a gradient, with more none
//   max, min    shared evenly by all that are equal to the result
//
// Updates whose index is out of range were dropped and get nothing.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"

using namespace mlir;
using namespace gpucc::graph;

namespace {
/// The op's parts and the maps between its slots and its updates.
struct ScatterGrad {
  GraphBuilder &g;
  ScatterOp op;
  Value grad;

  Value data() { return op.getData(); }
  Value updates() { return op.getUpdates(); }
  Value gather(Value slots) {
    return GatherOp::create(g.builder, g.loc, slots, op.getIndices(), op.getDim());
  }
  Value scatter(Value slots, Value values, std::optional<ReductionKind> kind) {
    ReductionKindAttr attr;
    if (kind)
      attr = ReductionKindAttr::get(g.builder.getContext(), *kind);
    return ScatterOp::create(g.builder, g.loc, slots, op.getIndices(), values, op.getDim(), attr);
  }
  /// A mask over indices, repeated over the updates.
  Value overUpdates(Value mask) {
    int64_t rank = tensorOf(op.getIndices()).getRank();
    auto dims = llvm::to_vector(llvm::seq<int64_t>(op.getDim(), op.getDim() + rank));
    return g.broadcast(mask, tensorOf(updates()).getShape(), dims);
  }
  /// `value` where the update was in range, else 0.
  Value inRange(Value value) {
    auto size = static_cast<double>(tensorOf(data()).getDimSize(op.getDim()));
    Value valid = g.binary(BinaryKind::And, g.compare(CompareKind::Ge, op.getIndices(), -size),
                           g.compare(CompareKind::Lt, op.getIndices(), size));
    return g.select(overUpdates(valid), value, g.like(value, 0));
  }
  Value asFloat(Value mask) { return g.convert(mask, tensorOf(grad).getElementType()); }

  Value overwriteData() { return scatter(grad, g.like(updates(), 0), std::nullopt); }

  /// The number of an update is written where the update is; those that still stand have won.
  Value overwriteUpdates() {
    RankedTensorType indices = tensorOf(op.getIndices());
    int64_t count = indices.getNumElements(), slots = tensorOf(data()).getDimSize(op.getDim());
    Type i64 = g.builder.getI64Type();
    Value flat = g.reshape(op.getIndices(), {count}), ids = g.iota(tensorOf({count}, i64), 0);
    Value written = ScatterOp::create(g.builder, g.loc, g.splat(tensorOf({slots}, i64), -1), flat,
                                      ids, /*dim=*/0, ReductionKindAttr());
    Value standing = GatherOp::create(g.builder, g.loc, written, flat, /*dim=*/0);
    Value won = g.reshape(g.compare(CompareKind::Eq, standing, ids), indices.getShape());
    return g.select(overUpdates(won), gather(grad), g.like(updates(), 0));
  }

  void prod(ArrayRef<bool> needed, MutableArrayRef<Value> grads) {
    auto zeros = [&](Value v) { return g.compare(CompareKind::Eq, v, 0.0); };
    auto nonzero = [&](Value v) { return g.select(zeros(v), g.like(v, 1), v); };
    Value product = scatter(nonzero(data()), nonzero(updates()), ReductionKind::Prod);
    Value count = scatter(asFloat(zeros(data())), asFloat(zeros(updates())), ReductionKind::Sum);
    Value scaled = g.mul(grad, product), none = g.like(grad, 0);
    Value ifNonzero = g.select(g.compare(CompareKind::Eq, count, 0.0), scaled, none);
    Value ifZero = g.select(g.compare(CompareKind::Eq, count, 1.0), scaled, none);
    if (needed[0])
      grads[0] = g.select(zeros(data()), ifZero, g.div(ifNonzero, nonzero(data())));
    if (needed[2])
      grads[2] = inRange(
          g.select(zeros(updates()), gather(ifZero), g.div(gather(ifNonzero), nonzero(updates()))));
  }

  void extreme(ArrayRef<bool> needed, MutableArrayRef<Value> grads) {
    Value winsData = g.compare(CompareKind::Eq, data(), op.getResult());
    Value winsUpdates = g.compare(CompareKind::Eq, updates(), gather(op.getResult()));
    Value ties = scatter(asFloat(winsData), asFloat(winsUpdates), ReductionKind::Sum);
    Value share = g.div(grad, ties);
    if (needed[0])
      grads[0] = g.select(winsData, share, g.like(grad, 0));
    if (needed[2])
      grads[2] = inRange(g.select(winsUpdates, gather(share), g.like(updates(), 0)));
  }
};
} // namespace

LogicalResult ScatterOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!resultGrads[0] || !isa<FloatType>(tensorOf(getData()).getElementType()))
    return success();
  if (tensorOf(getData()).getDimSize(getDim()) == 0)
    return success(); // nothing to write to
  GraphBuilder g(builder, getLoc());
  ScatterGrad s{g, *this, resultGrads[0]};
  if (!getKind()) {
    if (needed[0])
      operandGrads[0] = s.overwriteData();
    if (needed[2])
      operandGrads[2] = s.overwriteUpdates();
  } else if (*getKind() == ReductionKind::Sum) {
    if (needed[0])
      operandGrads[0] = resultGrads[0];
    if (needed[2])
      operandGrads[2] = s.inRange(s.gather(resultGrads[0]));
  } else if (*getKind() == ReductionKind::Prod) {
    s.prod(needed, operandGrads);
  } else {
    s.extreme(needed, operandGrads);
  }
  return success();
}
