//===- TopK.cpp - the k first elements of each row ------------------------===//
//
// There is no sorting kernel: three expansions into ordinary ops cover every
// size, run on both targets and have no data-dependent control flow.
//
//   few comparisons   the rank of an element is the number of elements before
//                     it; the result's position r holds the element of rank r
//   k << n            each block of 512 gives its k first, then those compete
//   else              Batcher's bitonic network (1968): log²(n)/2 exchanges with
//                     partner i xor j, each a gather, a comparison, a select
//
// Order: by value, then by index, so every element differs and the result is
// the stable one.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Decomposition.h"
#include "dialects/Graph/Evaluate.h"
#include "dialects/Graph/Rules.h"

#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

/// Comparisons for which ranks are counted directly.
static constexpr int64_t directComparisons = int64_t(1) << 22;
static constexpr int64_t blockSize = 512;

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (x.getRank() == 0)
    return c.fail("(C1) x is a scalar", "reshape it to one dimension of size 1");
  int64_t n = x.getShape().back(), k = adaptor.getK();
  if (k < 1 || k > n)
    return c.fail("(C2) `k` is " + Twine(k) + " for rows of " + Twine(n),
                  "give from 1 to " + Twine(n));
  if (n > int64_t(1) << 30)
    return c.fail("(C3) rows have " + Twine(n) + " elements", "split rows of more than 2^30");
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = k;
  types.push_back(x.clone(shape));
  types.push_back(tensorOf(shape, IntegerType::get(context, 64)));
  return success();
}

namespace {

/// Rows of elements and where each came from, both [R, n]; indices are i32. `plain`: each is still
/// in its place, so that an index need not be looked up.
struct Keyed {
  Value key, index;
  bool plain = false;
};

class Network {
public:
  Network(OpBuilder &builder, Location loc, bool smallest)
      : g(builder, loc), smallest(smallest), i32(builder.getI32Type()) {}

  /// The k first of each row, in order.
  Keyed first(Keyed rows, int64_t k) {
    auto shape = tensorOf(rows.key).getShape();
    int64_t n = shape[1];
    if (n <= 64 || (n <= 2048 && shape[0] * n * n <= directComparisons))
      return byRank(rows, k);
    if (2 * k <= blockSize && n > 2 * blockSize)
      return byBlocks(rows, k);
    return bitonic(rows, k);
  }
  Keyed start(Value x) { return {x, g.iota(tensorOf(tensorOf(x).getShape(), i32), 1), true}; }

private:
  static Type elementOf(Value v) { return tensorOf(v).getElementType(); }
  Value any(Value a, Value b) { return g.binary(BinaryKind::Or, a, b); }
  Value both(Value a, Value b) { return g.binary(BinaryKind::And, a, b); }

  /// Does a come before b?
  Value before(Keyed a, Keyed b) {
    Value wins = g.compare(smallest ? CompareKind::Lt : CompareKind::Gt, a.key, b.key);
    Value same = g.compare(CompareKind::Eq, a.key, b.key);
    if (isa<FloatType>(elementOf(a.key))) {
      Value nanA = g.unary(UnaryKind::IsNan, a.key), nanB = g.unary(UnaryKind::IsNan, b.key);
      Value &worse = smallest ? nanB : nanA, &better = smallest ? nanA : nanB;
      wins = any(wins, both(worse, g.unary(UnaryKind::Not, better)));
      same = any(same, both(nanA, nanB));
    }
    return any(wins, both(same, g.compare(CompareKind::Lt, a.index, b.index)));
  }

  /// Elements at positions [R, k] of each row.
  Value pick(Value rows, Value at) {
    auto shape = tensorOf(rows).getShape();
    RankedTensorType type = tensorOf(at);
    Value row = g.mul(g.iota(type, 0), static_cast<double>(shape[1]));
    Value flat = g.reshape(rows, {shape[0] * shape[1]});
    return GatherOp::create(g.builder, g.loc, flat, g.add(row, at), 0);
  }

  Keyed byRank(Keyed rows, int64_t k) {
    auto shape = tensorOf(rows.key).getShape();
    int64_t r = shape[0], n = shape[1];
    auto spread = [&](Keyed v, int64_t dim) -> Keyed {
      return {g.broadcast(v.key, {r, n, n}, {0, dim}), g.broadcast(v.index, {r, n, n}, {0, dim})};
    };
    Value wins = before(spread(rows, 2), spread(rows, 1));
    Value rank = g.sum(g.convert(wins, i32), {2});
    RankedTensorType table = tensorOf({r, k, n}, i32);
    Value hit = g.compare(CompareKind::Eq, g.broadcast(rank, {r, k, n}, {0, 2}), g.iota(table, 1));
    Value at = g.sum(g.select(hit, g.iota(table, 2), g.splat(table, 0)), {2});
    return {pick(rows.key, at), rows.plain ? at : pick(rows.index, at)};
  }

  /// Adds elements that no other comes after.
  Value padded(Value key, int64_t n) {
    RankedTensorType type = tensorOf(key);
    Type e = type.getElementType();
    Attribute last;
    if (auto f = dyn_cast<FloatType>(e)) {
      const llvm::fltSemantics &s = f.getFloatSemantics();
      bool infinite = APFloat::semanticsHasInf(s);
      last = FloatAttr::get(f, smallest   ? APFloat::getNaN(s)
                               : infinite ? APFloat::getInf(s, /*Negative=*/true)
                                          : APFloat::getLargest(s, /*Negative=*/true));
    } else {
      unsigned width = e.getIntOrFloatBitWidth();
      bool plain = e.isUnsignedInteger() || width == 1;
      last = IntegerAttr::get(
          e, smallest ? (plain ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width))
                      : (plain ? APInt::getMinValue(width) : APInt::getSignedMinValue(width)));
    }
    Value fill =
        ConstantOp::create(g.builder, g.loc, DenseElementsAttr::get(tensorOf({}, e), last));
    return pad(key, fill, n);
  }
  Value pad(Value x, Value fill, int64_t n) {
    SmallVector<int64_t> none{0, 0}, high{0, n - tensorOf(x).getDimSize(1)};
    return high[1] == 0
               ? x
               : PadOp::create(g.builder, g.loc, PadKind::Constant, x, fill, none, high, none)
                     .getResult();
  }
  /// Rows of n; what is added comes last and differs: its indices are 2^30 and its place.
  Keyed grown(Keyed rows, int64_t n) {
    int64_t have = tensorOf(rows.key).getDimSize(1);
    if (have == n)
      return rows;
    Value index = pad(rows.index, g.splat(tensorOf({}, i32), 0), n);
    Value place = g.iota(tensorOf(index), 1);
    Value isOld = g.compare(CompareKind::Lt, place, static_cast<double>(have));
    return {padded(rows.key, n), g.select(isOld, index, g.add(place, double(1 << 30)))};
  }

  Keyed byBlocks(Keyed rows, int64_t k) {
    int64_t r = tensorOf(rows.key).getDimSize(0), n = tensorOf(rows.key).getDimSize(1);
    int64_t blocks = (n + blockSize - 1) / blockSize;
    rows = grown(rows, blocks * blockSize);
    Keyed some = byRank({g.reshape(rows.key, {r * blocks, blockSize}),
                         g.reshape(rows.index, {r * blocks, blockSize}), rows.plain},
                        k);
    if (rows.plain) { // positions within a block, so far
      Value block = g.iota(tensorOf({r, blocks, k}, i32), 1);
      some.index = g.add(g.reshape(some.index, {r, blocks, k}), g.mul(block, double(blockSize)));
    }
    return first({g.reshape(some.key, {r, blocks * k}), g.reshape(some.index, {r, blocks * k})}, k);
  }

  Keyed bitonic(Keyed rows, int64_t k) {
    int64_t n = llvm::PowerOf2Ceil(tensorOf(rows.key).getDimSize(1));
    rows = grown(rows, n);
    for (int64_t size = 2; size <= n; size *= 2)
      for (int64_t distance = size / 2; distance >= 1; distance /= 2)
        rows = exchange(rows, size, distance);
    return {g.sliceDim(rows.key, 1, 0, k), g.sliceDim(rows.index, 1, 0, k)};
  }

  /// Element i meets i xor distance; blocks of `size` alternate in direction.
  Keyed exchange(Keyed rows, int64_t size, int64_t distance) {
    RankedTensorType type = tensorOf(rows.index);
    RankedTensorType line = tensorOf({type.getDimSize(1)}, i32);
    Value i = g.iota(line, 0);
    Value partner = g.binary(BinaryKind::Xor, i, g.splat(line, static_cast<double>(distance)));
    auto across = [&](Value v) -> Value {
      return GatherOp::create(g.builder, g.loc, v, partner, 1);
    };
    auto bit = [&](int64_t mask) {
      Value along = g.iota(type, 1);
      return g.compare(CompareKind::Ne,
                       g.binary(BinaryKind::And, along, g.like(along, static_cast<double>(mask))),
                       0.0);
    };
    Keyed other{across(rows.key),
                rows.plain ? g.broadcast(partner, type.getShape(), {1}) : across(rows.index)};
    // The lower one of a pair keeps what comes first, unless its block runs the other way.
    Value second = g.binary(BinaryKind::Xor, bit(distance), bit(size));
    Value keep = g.binary(BinaryKind::Xor, before(rows, other), second);
    return {g.select(keep, rows.key, other.key), g.select(keep, rows.index, other.index)};
  }

  GraphBuilder g;
  bool smallest;
  Type i32;
};

int64_t rowsOf(RankedTensorType x) {
  return std::accumulate(x.getShape().begin(), x.getShape().end() - 1, int64_t(1),
                         std::multiplies<>());
}

} // namespace

SmallVector<Value> TopKOp::buildDecomposition(OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  RankedTensorType x = tensorOf(operands[0]);
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = getK();
  if (x.getNumElements() == 0)
    return {g.splat(x.clone(shape), 0), g.splat(tensorOf(shape, builder.getI64Type()), 0)};
  Network network(builder, getLoc(), getSmallest());
  Keyed rows = network.start(g.reshape(operands[0], {rowsOf(x), x.getShape().back()}));
  Keyed best = network.first(rows, getK());
  return {g.reshape(best.key, shape),
          g.reshape(g.convert(best.index, builder.getI64Type()), shape)};
}

/// Positions of a row in their order; `before` compares two values.
template <typename T, typename Before>
static void sortRows(const std::vector<T> &x, int64_t n, int64_t k, Before before,
                     std::vector<T> &values, std::vector<int64_t> &indices) {
  std::vector<int64_t> order(n);
  for (int64_t start = 0; start < static_cast<int64_t>(x.size()); start += n) {
    std::iota(order.begin(), order.end(), int64_t(0));
    llvm::sort(order, [&](int64_t a, int64_t b) {
      if (before(x[start + a], x[start + b]))
        return true;
      return a < b && !before(x[start + b], x[start + a]);
    });
    for (int64_t i = 0; i < k; ++i) {
      values.push_back(x[start + order[i]]);
      indices.push_back(order[i]);
    }
  }
}

LogicalResult TopKOp::evaluate(ArrayRef<HostTensor> operands, MutableArrayRef<HostTensor> results) {
  int64_t n = operands[0].shape().back(), k = getK();
  bool least = getSmallest();
  std::vector<int64_t> indices;
  if (gpucc::isFloat(operands[0].dtype())) {
    std::vector<double> values;
    auto greater = [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; };
    sortRows(
        toDoubles(operands[0]), n, k,
        [&](double a, double b) { return least ? greater(b, a) : greater(a, b); }, values, indices);
    fromDoubles(values, results[0]);
  } else {
    std::vector<int64_t> values;
    bool wide = operands[0].dtype() == DType::U64;
    auto greater = [&](int64_t a, int64_t b) {
      return wide ? static_cast<uint64_t>(a) > static_cast<uint64_t>(b) : a > b;
    };
    sortRows(
        toInts(operands[0]), n, k,
        [&](int64_t a, int64_t b) { return least ? greater(b, a) : greater(a, b); }, values,
        indices);
    fromInts(values, results[0]);
  }
  fromInts(indices, results[1]);
  return success();
}

/// The gradient of each chosen element goes back to where it was.
LogicalResult TopKOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0])
    return success();
  GraphBuilder g(builder, getLoc());
  RankedTensorType x = tensorOf(getX());
  int64_t rows = rowsOf(x), n = x.getShape().back(), k = getK();
  Value at = g.reshape(getIndices(), {rows, k});
  at = g.add(at, g.mul(g.iota(tensorOf(at), 0), static_cast<double>(n)));
  Value zero = g.splat(tensorOf({rows * n}, x.getElementType()), 0);
  Value sum = ScatterOp::create(builder, getLoc(), zero, g.reshape(at, {rows * k}),
                                g.reshape(resultGrads[0], {rows * k}), 0,
                                ReductionKindAttr::get(builder.getContext(), ReductionKind::Sum));
  operandGrads[0] = g.reshape(sum, x.getShape());
  return success();
}

ShardingRule TopKOp::getShardingRule() {
  Rule rule;
  Rule::Dims in, out;
  ArrayRef<int64_t> shape = tensorOf(getX()).getShape();
  for (int64_t size : shape.drop_back())
    in.push_back({rule.factor(size)});
  out = in;
  in.push_back({rule.whole(shape.back())});
  out.push_back({rule.whole(static_cast<int64_t>(getK()))});
  return rule.operand(in).result(out).result(out);
}

OpFacts TopKOp::getFacts() { return factsByDecomposition(*this); }
