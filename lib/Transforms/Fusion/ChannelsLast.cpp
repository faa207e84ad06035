//===- ChannelsLast.cpp - images with their channels innermost ------------===//
//
// CPU libraries convolve fastest when the channels of a point lie side by side, and so do our loops
// over channels. A convolution that the library takes gets its input N,spatial…,C, and so do the
// ops around it as far as they do not care; transposes remain where others do.
//
//   y = convolution(x, w)            x' = transpose x            N,C,H,W → N,H,W,C
//   z = relu(y)                      y' = convolution(x', w) channels_last
//   p = pool(z)                      z' = relu(y')
//   s = reduce sum p over H, W       p' = pool(z')   as a pool of N,1,H,W,C, window h×w×1
//                                    s  = reduce sum p' over H, W
//
// A transposed convolution of which each step has elements of its own becomes a matrix product.
//
// One walk in program order gives each value at most one *twin* with channels last. An op takes
// part when an operand has a twin and the others have one or get one for nothing (broadcasts,
// splats, tensors whose spatial dimensions are 1). The other way round, a convolution with channels
// last that no library takes gets channels first: kernels know no other.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Geometry.h"
#include "dialects/Graph/Graph.h"
#include "lib/Transforms/Fusion/Prepare.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;
using graph::channelsFirstPermutation;
using graph::channelsLast;
using graph::channelsLastPermutation;
using graph::GraphBuilder;

using Dims = SmallVector<int64_t>;

static int64_t rankOf(Value v) { return shapeOf(v).size(); }

/// Only dimensions of size 1 move: the bytes stay.
static bool keepsOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t d : permutation) {
    if (shape[d] == 1)
      continue;
    if (d < last)
      return false;
    last = d;
  }
  return true;
}

static bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()));
}

static Dims permuted(ArrayRef<int64_t> values, ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(permutation, [&](int64_t d) { return values[d]; });
}

/// A transpose, or what does the same for less.
static Value permute(GraphBuilder &g, Value v, ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return v;
  if (keepsOrder(shapeOf(v), permutation))
    return g.reshape(v, permuted(shapeOf(v), permutation));
  if (auto inner = v.getDefiningOp<graph::TransposeOp>())
    return permute(g, inner.getX(), permuted(inner.getPermutation(), permutation));
  return g.transpose(v, permutation);
}

namespace {
class Converter {
public:
  Converter(func::FuncOp function, const Policy &policy)
      : block(function.getBody().front()), policy(policy) {}

  unsigned run() {
    SmallVector<Operation *> work;
    for (Operation &op : block.without_terminator())
      work.push_back(&op);
    for (Operation *op : work)
      visit(op);
    bringBack();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op) && isa<graph::GraphDialect>(op.getDialect()))
        op.erase();
    return convolutions;
  }

private:
  void visit(Operation *op) {
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
      return;
    OpBuilder builder(op);
    GraphBuilder g(builder, op->getLoc());
    if (auto conv = dyn_cast<graph::ConvolutionOp>(op))
      return convolution(g, conv);
    if (auto conv = dyn_cast<graph::ConvolutionInputGradOp>(op))
      return spreading(g, conv);
    if (llvm::none_of(op->getOperands(), [&](Value v) { return twins.contains(v); }))
      return;
    if (roleOf(op) == OpRole::Pointwise)
      return pointwise(g, op);
    if (auto pool = dyn_cast<graph::PoolOp>(op))
      return window(g, pool);
    if (auto reduce = dyn_cast<graph::ReduceOp>(op))
      return reduction(g, reduce);
    if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
      return view(g, reshape);
    if (auto transpose = dyn_cast<graph::TransposeOp>(op))
      return joinTranspose(g, transpose);
    if (auto concat = dyn_cast<graph::ConcatOp>(op))
      return concatenation(g, concat);
    if (auto gather = dyn_cast<graph::GatherOp>(op))
      return lookUp(g, gather);
    if (isa<graph::SliceOp, graph::PadOp>(op))
      return slab(g, op);
  }

  void setTwin(Value v, Value twin) {
    twins[v] = twin;
    converted.push_back(v);
  }

  /// The twin of `v` at any price: a transpose where nothing better is known.
  Value force(GraphBuilder &g, Value v) {
    if (Value twin = cheap(g, v))
      return twin;
    return twins[v] = permute(g, v, channelsLastPermutation(rankOf(v)));
  }

  /// The twin of `v` if there is one or it costs nothing; else null.
  Value cheap(GraphBuilder &g, Value v) {
    if (Value twin = twins.lookup(v))
      return twin;
    Dims order = channelsLastPermutation(rankOf(v));
    if (keepsOrder(shapeOf(v), order))
      return permute(g, v, order);
    auto type = cast<RankedTensorType>(v.getType());
    Dims shape = channelsLast(type.getShape());
    if (auto constant = v.getDefiningOp<graph::ConstantOp>())
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        return graph::ConstantOp::create(g.builder, g.loc,
                                         cast<ElementsAttr>(splat.resizeSplat(
                                             RankedTensorType::get(shape, type.getElementType()))));
    if (auto broadcast = v.getDefiningOp<graph::BroadcastOp>())
      return turned(g, broadcast, shape);
    return {};
  }

  /// The broadcast to N,spatial…,C if its operand needs no transpose.
  static Value turned(GraphBuilder &g, graph::BroadcastOp op, ArrayRef<int64_t> shape) {
    int64_t rank = shape.size();
    auto place = [&](int64_t d) { return d == 0 ? 0 : d == 1 ? rank - 1 : d - 1; };
    Dims dims = llvm::map_to_vector(op.getDims(), place);
    Dims order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
    llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
    if (!keepsOrder(shapeOf(op.getX()), order))
      return {};
    return g.broadcast(permute(g, op.getX(), order), shape, permuted(dims, order));
  }

  void convolution(GraphBuilder &g, graph::ConvolutionOp op) {
    if (op.getChannelsLast() || !policy.isLibraryCall(op))
      return;
    Value x = force(g, op.getInput());
    Value y = graph::ConvolutionOp::create(g.builder, g.loc, x, op.getFilter(), op.getStrides(),
                                           op.getPadsLow(), op.getPadsHigh(), op.getDilations(),
                                           op.getGroups(), /*channels_last=*/true);
    y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    setTwin(op.getResult(), y);
    ++convolutions;
  }

  /// A copy of `op` on twins; its result has channels last as well.
  Operation *copy(GraphBuilder &g, Operation *op, ArrayRef<Value> operands) {
    Operation *twin = g.builder.clone(*op);
    twin->setOperands(operands);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    twin->getResult(0).setType(
        RankedTensorType::get(channelsLast(type.getShape()), type.getElementType()));
    setTwin(op->getResult(0), twin->getResult(0));
    return twin;
  }

  void pointwise(GraphBuilder &g, Operation *op) {
    SmallVector<Value> operands;
    for (Value v : op->getOperands()) {
      if (shapeOf(v) != shapeOf(op->getResult(0)))
        return;
      operands.push_back(cheap(g, v));
      if (!operands.back())
        return;
    }
    copy(g, op, operands);
  }

  void window(GraphBuilder &g, graph::PoolOp op) {
    Dims shape(shapeOf(twins.lookup(op.getX())));
    if (shape.size() > 4)
      return; // no room for the channels among three spatial dimensions
    shape.insert(shape.begin() + 1, 1);
    auto with = [](ArrayRef<int64_t> list, int64_t last) {
      Dims longer(list);
      longer.push_back(last);
      return longer;
    };
    Value pooled = graph::PoolOp::create(
        g.builder, g.loc, op.getKind(), g.reshape(twins.lookup(op.getX()), shape),
        with(op.getWindow(), 1), with(op.getStrides(), 1), with(op.getPadsLow(), 0),
        with(op.getPadsHigh(), 0), with(op.getExtraHigh(), 0), with(op.getDilations(), 1),
        op.getCountIncludePad());
    setTwin(op.getResult(), g.reshape(pooled, channelsLast(shapeOf(op.getResult()))));
  }

  /// Dimensions by their place among channels last.
  static Dims placed(ArrayRef<int64_t> dims, int64_t rank) {
    Dims result;
    for (int64_t d : dims)
      result.push_back(d == 0 ? 0 : d == 1 ? rank - 1 : d - 1);
    llvm::sort(result);
    return result;
  }

  /// Only where what is left keeps its order: all spatial dimensions go, or the channels.
  void reduction(GraphBuilder &g, graph::ReduceOp op) {
    Value x = twins.lookup(op.getX());
    Dims dims = placed(op.getDims(), rankOf(x)), left;
    for (int64_t d : channelsFirstPermutation(rankOf(x)))
      if (!llvm::is_contained(dims, d) && shapeOf(x)[d] != 1)
        left.push_back(d);
    if (!llvm::is_sorted(left))
      return;
    Value y = g.reshape(g.reduce(op.getKind(), x, dims), shapeOf(op.getResult()));
    op.getResult().replaceAllUsesWith(y);
  }

  void view(GraphBuilder &g, graph::ReshapeOp op) {
    Value x = twins.lookup(op.getX());
    ArrayRef<int64_t> from = shapeOf(op.getX()), to = op.getShape();
    if (to.size() >= 3 && from[0] == to[0] && from[1] == to[1])
      return setTwin(op.getResult(), g.reshape(x, channelsLast(to)));
    if (keepsOrder(shapeOf(x), channelsFirstPermutation(from.size())))
      op.getResult().replaceAllUsesWith(g.reshape(x, to));
  }

  void joinTranspose(GraphBuilder &g, graph::TransposeOp op) {
    Value x = twins.lookup(op.getX());
    Dims joined = permuted(channelsFirstPermutation(rankOf(x)), op.getPermutation());
    op.getResult().replaceAllUsesWith(permute(g, x, joined));
  }

  void concatenation(GraphBuilder &g, graph::ConcatOp op) {
    SmallVector<Value> inputs;
    for (Value v : op.getInputs()) {
      inputs.push_back(cheap(g, v));
      if (!inputs.back())
        return;
    }
    Operation *twin = copy(g, op, inputs);
    cast<graph::ConcatOp>(twin).setDim(
        placed({static_cast<int64_t>(op.getDim())}, rankOf(inputs[0])).front());
  }

  /// A gather along one dimension by a list of indices, as of an image made larger.
  void lookUp(GraphBuilder &g, graph::GatherOp op) {
    Value x = twins.lookup(op.getData());
    if (!x || rankOf(op.getIndices()) != 1)
      return;
    Operation *twin = copy(g, op, {x, op.getIndices()});
    cast<graph::GatherOp>(twin).setDim(
        placed({static_cast<int64_t>(op.getDim())}, rankOf(x)).front());
  }

  /// A transposed convolution whose steps are as wide as its filter writes each element once: a
  /// product over the channels, whose columns then move to their places.
  ///   x[N,H,W,I] · w[I,O,2,2] = [N,H,W,O,2,2] → [N,H,2,W,2,O] = [N,2H,2W,O]
  void spreading(GraphBuilder &g, graph::ConvolutionInputGradOp op) {
    ArrayRef<int64_t> window = shapeOf(op.getFilter()).drop_front(2);
    auto all = [](ArrayRef<int64_t> list, int64_t v) {
      return llvm::all_of(list, [&](int64_t e) { return e == v; });
    };
    Dims shape = channelsLast(op.getInputShape()), from = channelsLast(shapeOf(op.getGrad()));
    bool tiles = op.getStrides() == window && all(op.getPadsLow(), 0) && all(op.getPadsHigh(), 0) &&
                 all(op.getDilations(), 1) && op.getGroups() == 1 && policy.isLibraryCall(op);
    int64_t spatial = window.size(), columns = spatial + 1; // where the product's columns begin
    for (int64_t d = 0; d < spatial; ++d)
      tiles &= shape[d + 1] == from[d + 1] * window[d];
    if (!tiles)
      return;
    Value product = g.contract(force(g, op.getGrad()), op.getFilter(), {}, {}, {spatial + 1}, {0});
    Dims order{0};
    for (int64_t d = 0; d < spatial; ++d)
      order.append({d + 1, columns + 1 + d});
    order.push_back(columns);
    setTwin(op.getResult(), g.reshape(g.transpose(product, order), shape));
  }

  /// Slices and pads: their lists are permuted.
  void slab(GraphBuilder &g, Operation *op) {
    Value x = twins.lookup(op->getOperand(0));
    auto slice = dyn_cast<graph::SliceOp>(op);
    if (!x || (slice && !slice.getOffsets().empty()))
      return;
    SmallVector<Value> operands(op->getOperands());
    operands[0] = x;
    Dims order = channelsLastPermutation(rankOf(x));
    Operation *twin = copy(g, op, operands);
    if (auto s = dyn_cast<graph::SliceOp>(twin)) {
      s.setStart(permuted(slice.getStart(), order));
      s.setSizes(permuted(slice.getSizes(), order));
      s.setStrides(permuted(slice.getStrides(), order));
      return;
    }
    auto from = cast<graph::PadOp>(op), to = cast<graph::PadOp>(twin);
    to.setLow(permuted(from.getLow(), order));
    to.setHigh(permuted(from.getHigh(), order));
    to.setInterior(permuted(from.getInterior(), order));
  }

  /// Who takes no part gets the value with channels first.
  void bringBack() {
    for (Value v : llvm::reverse(converted)) {
      Operation *op = v.getDefiningOp();
      if (!v.use_empty()) {
        OpBuilder builder(op);
        GraphBuilder g(builder, op->getLoc());
        Value twin = twins.lookup(v);
        v.replaceAllUsesWith(permute(g, twin, channelsFirstPermutation(rankOf(twin))));
      }
      op->erase();
    }
  }

  Block &block;
  const Policy &policy;
  DenseMap<Value, Value> twins;
  SmallVector<Value> converted; ///< results whose op has a copy that makes the twin
  unsigned convolutions = 0;
};
} // namespace

/// Our own kernels compute with channels first.
static void putChannelsFirst(graph::ConvolutionOp op) {
  OpBuilder builder(op);
  GraphBuilder g(builder, op.getLoc());
  int64_t rank = rankOf(op.getResult());
  Value y = graph::ConvolutionOp::create(
      builder, op.getLoc(), permute(g, op.getInput(), channelsFirstPermutation(rank)),
      op.getFilter(), op.getStrides(), op.getPadsLow(), op.getPadsHigh(), op.getDilations(),
      op.getGroups(), /*channels_last=*/false);
  y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getResult().replaceAllUsesWith(permute(g, y, channelsLastPermutation(rank)));
  op.erase();
}

unsigned fusion::putChannelsLast(func::FuncOp function, const Policy &policy) {
  for (auto op : llvm::make_early_inc_range(function.getOps<graph::ConvolutionOp>()))
    if (op.getChannelsLast() && !policy.isLibraryCall(op))
      putChannelsFirst(op);
  // Gradients of convolutions know one layout: a training step keeps it.
  for (Operation &op : function.getBody().front())
    if (isa<graph::ConvolutionFilterGradOp>(op))
      return 0;
  return Converter(function, policy).run();
}
