//===- ReductionVjp.cpp - derivatives of reductions -----------------------===//
//
//   sum:       the gradient repeated
//   max, min:  shared evenly by the elements that are equal to the result (as
//              PyTorch's amax)
//   prod:      times the product of the others, from both sides by exclusive
//              scans, so that zeros need no case of their own
//   scan:      of a sum the scan from the other end; of the others by the
//              n x n matrix of what each element does to each result
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"

using namespace mlir;
using namespace gpucc::graph;

static bool isFloatTensor(Value v) { return isa<FloatType>(tensorOf(v).getElementType()); }

static Value scan(GraphBuilder &g, ReductionKind kind, Value x, int64_t dim, bool exclusive,
                  bool reverse) {
  return ScanOp::create(g.builder, g.loc, kind, x, dim, exclusive, reverse);
}

/// For each element the product of the others along `dims`.
static Value productOfOthers(GraphBuilder &g, Value x, ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorOf(x);
  SmallVector<int64_t> order, flat, inverse(type.getRank());
  int64_t n = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(dims, d)) {
      order.push_back(d);
      flat.push_back(type.getDimSize(d));
    }
  for (int64_t d : dims) {
    order.push_back(d);
    n *= type.getDimSize(d);
  }
  for (auto [i, d] : llvm::enumerate(order))
    inverse[d] = i;
  int64_t last = flat.size();
  flat.push_back(n);
  Value moved = g.transpose(x, order), rows = g.reshape(moved, flat);
  Value others = g.mul(scan(g, ReductionKind::Prod, rows, last, true, false),
                       scan(g, ReductionKind::Prod, rows, last, true, true));
  return g.transpose(g.reshape(others, tensorOf(moved).getShape()), inverse);
}

LogicalResult ReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                 ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  Value x = getX(), grad = resultGrads[0];
  if (!needed[0] || !grad || !isFloatTensor(x))
    return success();
  GraphBuilder g(builder, getLoc());
  ArrayRef<int64_t> dims = getDims();
  if (getKind() == ReductionKind::Sum) {
    operandGrads[0] = g.broadcastOver(grad, x, dims);
  } else if (getKind() == ReductionKind::Prod) {
    operandGrads[0] = g.mul(g.broadcastOver(grad, x, dims), productOfOthers(g, x, dims));
  } else {
    Value equal = g.compare(CompareKind::Eq, x, g.broadcastOver(getResult(), x, dims));
    Value ties = g.sum(g.convert(equal, tensorOf(x).getElementType()), dims);
    Value share = g.broadcastOver(g.div(grad, ties), x, dims);
    operandGrads[0] = g.select(equal, share, g.like(x, 0));
  }
  return success();
}

LogicalResult ArgReduceOp::buildVjp(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                    MutableArrayRef<Value>) {
  return success(); // an index: zero
}

namespace {
/// The n x n matrix of a scan along dimension d of x: dimensions d and d + 1 count results and
/// elements, in either order.
struct ScanMatrix {
  GraphBuilder &g;
  ScanOp op;
  int64_t results, elements;
  SmallVector<int64_t> shape;
  RankedTensorType index;

  ScanMatrix(GraphBuilder &g, ScanOp op, bool resultsFirst)
      : g(g), op(op), results(op.getDim() + !resultsFirst), elements(op.getDim() + resultsFirst),
        shape(tensorOf(op.getX()).getShape()) {
    shape.insert(shape.begin() + op.getDim(), shape[op.getDim()]);
    index = tensorOf(shape, g.builder.getI64Type());
  }
  /// A tensor of results (or elements) repeated over the other dimension.
  Value spread(Value v, int64_t along) {
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < tensorOf(v).getRank(); ++d)
      dims.push_back(d == op.getDim() ? along : d + (d > op.getDim()));
    return g.broadcast(v, shape, dims);
  }
  Value compareIndices(CompareKind kind) {
    return g.compare(kind, g.iota(index, elements), g.iota(index, results));
  }
  /// Whether the element takes part in the result.
  Value takesPart() {
    bool exclusive = op.getExclusive();
    return compareIndices(op.getReverse() ? (exclusive ? CompareKind::Gt : CompareKind::Ge)
                                          : (exclusive ? CompareKind::Lt : CompareKind::Le));
  }
};
} // namespace

/// Prod: d y_i / d x_j is the scan with x_j replaced by 1. Results are the last of the two
/// dimensions, so that the scan runs along them, over x spread along them too.
static Value prodScanGrad(GraphBuilder &g, ScanOp op, Value grad) {
  ScanMatrix m(g, op, /*resultsFirst=*/false);
  Value x = m.spread(op.getX(), m.results);
  Value others = g.select(m.compareIndices(CompareKind::Eq), g.like(x, 1), x);
  Value products =
      scan(g, ReductionKind::Prod, others, m.results, op.getExclusive(), op.getReverse());
  Value terms = g.mul(m.spread(grad, m.results), products);
  return g.sum(g.select(m.takesPart(), terms, g.like(terms, 0)), {m.results});
}

/// Max and min: each result's gradient is shared by the elements equal to it.
static Value extremeScanGrad(GraphBuilder &g, ScanOp op, Value grad) {
  ScanMatrix m(g, op, /*resultsFirst=*/true);
  Value equal = g.compare(CompareKind::Eq, m.spread(op.getX(), m.elements),
                          m.spread(op.getResult(), m.results));
  Value winner = g.binary(BinaryKind::And, equal, m.takesPart());
  Value ties = g.sum(g.convert(winner, tensorOf(grad).getElementType()), {m.elements});
  Value share = m.spread(g.div(grad, ties), m.results);
  return g.sum(g.select(winner, share, g.like(share, 0)), {m.results});
}

LogicalResult ScanOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0];
  if (!needed[0] || !grad || !isFloatTensor(getX()))
    return success();
  GraphBuilder g(builder, getLoc());
  if (getKind() == ReductionKind::Sum)
    operandGrads[0] = scan(g, ReductionKind::Sum, grad, getDim(), getExclusive(), !getReverse());
  else if (getKind() == ReductionKind::Prod)
    operandGrads[0] = prodScanGrad(g, *this, grad);
  else
    operandGrads[0] = extremeScanGrad(g, *this, grad);
  return success();
}
