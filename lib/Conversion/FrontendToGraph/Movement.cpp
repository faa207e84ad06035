//===- Movement.cpp - GraphBuilder: movement and products -----------------===//
#include "lib/Conversion/FrontendToGraph/GraphBuilder.h"

#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static std::string text(ArrayRef<int64_t> shape) {
  std::string out = "[";
  for (auto [i, d] : llvm::enumerate(shape))
    out += (i ? "," : "") + std::to_string(d);
  return out + "]";
}

Value GraphBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  return create<ReshapeOp>(x, shape);
}

Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  bool identity = static_cast<int64_t>(permutation.size()) == rankOf(x);
  for (auto [i, p] : llvm::enumerate(permutation))
    identity &= static_cast<int64_t>(i) == p;
  return identity ? x : create<TransposeOp>(x, permutation);
}

Value GraphBuilder::broadcastDims(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  if (shapeOf(x) == shape)
    return x;
  if (tooLarge(shape)) {
    error("a tensor would have more than 2^40 elements");
    return poison(1).front();
  }
  // A splat stays a splat: big masks and bounds cost nothing.
  if (auto op = x.getDefiningOp<ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue()); splat && elementsOf(shape) > 0)
      return ConstantOp::create(builder, location,
                                splat.resizeSplat(RankedTensorType::get(shape, elementOf(x))));
  return create<BroadcastOp>(x, shape, dims);
}

Value GraphBuilder::broadcastTo(Value x, ArrayRef<int64_t> shape) {
  int64_t rank = rankOf(x), lead = static_cast<int64_t>(shape.size()) - rank;
  bool fits = lead >= 0;
  for (int64_t d = 0; fits && d < rank; ++d) {
    int64_t size = typeOf(x).getDimSize(d);
    fits = size == 1 || size == shape[lead + d];
  }
  if (!fits) {
    error("a tensor of shape " + text(shapeOf(x)) + " cannot be broadcast to " + text(shape) +
          ": each dimension must be equal or 1, from the last one on");
    return poison(1).front();
  }
  Dims dims(rank);
  std::iota(dims.begin(), dims.end(), lead);
  return broadcastDims(x, shape, dims);
}

bool GraphBuilder::broadcastTogether(MutableArrayRef<Value> values) {
  Dims common;
  for (Value value : values) {
    Dims shape = shapeOf(value);
    if (shape.size() > common.size())
      common.insert(common.begin(), shape.size() - common.size(), 1);
    size_t lead = common.size() - shape.size();
    for (auto [d, size] : llvm::enumerate(shape)) {
      int64_t &have = common[lead + d];
      if (have == 1)
        have = size;
      else if (size != 1 && size != have) {
        std::string shapes;
        for (Value v : values)
          shapes += (shapes.empty() ? "" : " and ") + text(shapeOf(v));
        error("operands of shapes " + shapes +
              " do not broadcast: from the last dimension on, "
              "sizes must be equal or 1");
        return false;
      }
    }
  }
  for (Value &value : values)
    value = broadcastTo(value, common);
  return !failed();
}

Value GraphBuilder::insertDims(Value x, ArrayRef<int64_t> dims) {
  Dims shape = shapeOf(x), sorted(dims);
  llvm::sort(sorted);
  for (int64_t d : sorted)
    shape.insert(shape.begin() + std::min<int64_t>(d, shape.size()), 1);
  return reshape(x, shape);
}

Value GraphBuilder::slice(Value x, ArrayRef<int64_t> start, ArrayRef<int64_t> sizes,
                          ArrayRef<int64_t> strides) {
  bool whole = shapeOf(x) == sizes;
  for (int64_t s : strides)
    whole &= s == 1;
  return whole ? x : create<SliceOp>(x, ValueRange(), start, sizes, strides);
}

Value GraphBuilder::slice(Value x, int64_t dim, int64_t start, int64_t size, int64_t stride) {
  Dims starts(rankOf(x), 0), strides(rankOf(x), 1), sizes = shapeOf(x);
  if (dim < 0 || dim >= rankOf(x)) {
    error("dimension " + Twine(dim) + " is not one of a tensor of shape " + text(shapeOf(x)));
    return poison(1).front();
  }
  starts[dim] = start;
  sizes[dim] = size;
  strides[dim] = stride;
  return slice(x, starts, sizes, strides);
}

Value GraphBuilder::concat(ArrayRef<Value> values, int64_t dim) {
  // A kernel looks at every part for each of its points; many parts are joined in steps.
  constexpr size_t atOnce = 64;
  SmallVector<Value> parts(values);
  while (parts.size() > atOnce) {
    SmallVector<Value> joined;
    for (size_t i = 0; i < parts.size(); i += atOnce)
      joined.push_back(concat(ArrayRef<Value>(parts).drop_front(i).take_front(atOnce), dim));
    parts = joined;
  }
  return parts.size() == 1 ? parts.front() : create<ConcatOp>(ValueRange(parts), dim);
}

Value GraphBuilder::gather(Value data, Value indices, int64_t dim) {
  if (!elementOf(indices).isSignlessInteger(32) && !elementOf(indices).isSignlessInteger(64))
    indices = convert(indices, builder.getI64Type());
  return create<GatherOp>(data, indices, dim);
}

Value GraphBuilder::pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value value) {
  if (llvm::all_of(low, [](int64_t p) { return p == 0; }) &&
      llvm::all_of(high, [](int64_t p) { return p == 0; }))
    return x;
  auto huge = [](int64_t p) { return p > int64_t(1) << 40; };
  if (llvm::any_of(low, huge) || llvm::any_of(high, huge)) {
    error("padding of more than 2^40 elements");
    return x;
  }
  return create<PadOp>(PadKind::Constant, x, value, low, high, Dims(rankOf(x), 0));
}

Value GraphBuilder::contract(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch,
                             ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
                             ArrayRef<int64_t> rhsContract, Type out) {
  return create<ContractOp>(lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract,
                            out ? TypeAttr::get(out) : TypeAttr(), Precision::Highest);
}

/// Batch dimensions that one side lacks or has with size 1 are not repeated where that can be
/// avoided: x[B,S,K] · w[K,N] stays one product with free dimensions B and S.
Value GraphBuilder::matmul(Value lhs, Value rhs, Type out) {
  int64_t rankL = rankOf(lhs), rankR = rankOf(rhs);
  if (rankL == 0 || rankR == 0) {
    error("a matrix product needs operands of rank 1 or more; one is a scalar");
    return poison(1).front();
  }
  if (rankL == 1 || rankR == 1) { // vectors: free dimensions of the other side stay
    return contract(lhs, rhs, {}, {}, {rankL - 1}, {rankR == 1 ? 0 : rankR - 2}, out);
  }
  if (rankR == 2)
    return contract(lhs, rhs, {}, {}, {rankL - 1}, {0}, out);
  int64_t rank = std::max(rankL, rankR);
  Dims shapeL = shapeOf(lhs), shapeR = shapeOf(rhs);
  shapeL.insert(shapeL.begin(), rank - rankL, 1);
  shapeR.insert(shapeR.begin(), rank - rankR, 1);
  Dims fullL = shapeL, fullR = shapeR, batch;
  for (int64_t d = 0; d < rank - 2; ++d) {
    int64_t size = shapeL[d] == 1 ? shapeR[d] : shapeL[d];
    fullL[d] = fullR[d] = size;
    batch.push_back(d);
  }
  lhs = broadcastTo(reshape(lhs, shapeL), fullL);
  rhs = broadcastTo(reshape(rhs, shapeR), fullR);
  if (failed())
    return poison(1).front();
  return contract(lhs, rhs, batch, batch, {rank - 1}, {rank - 2}, out);
}
