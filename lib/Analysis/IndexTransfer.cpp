//===- IndexTransfer.cpp - which operand elements a result element needs --===//
#include "gpucc/Analysis/IndexTransfer.h"

#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc;

ArrayRef<int64_t> gpucc::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

AffineExpr DynamicIndices::get(const DynamicIndex &request) {
  for (auto [i, d] : llvm::enumerate(table))
    if (d.kind == request.kind && d.op == request.op && d.operand == request.operand &&
        d.source == request.source && d.limit == request.limit && d.start == request.start)
      return getAffineSymbolExpr(i, context);
  table.push_back(request);
  return getAffineSymbolExpr(table.size() - 1, context);
}

OpRole gpucc::roleOf(Operation *op) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue()) ? OpRole::Leaf : OpRole::Other;
  if (isa<graph::IotaOp, graph::RngUniformOp>(op))
    return OpRole::Leaf;
  if (isa<graph::ReduceOp>(op))
    return OpRole::Reduction;
  if (isa<ScalarBodyOpInterface>(op))
    return OpRole::Pointwise;
  if (isa<graph::ReshapeOp, graph::TransposeOp, graph::BroadcastOp, graph::SliceOp, graph::PadOp,
          graph::ConcatOp, graph::GatherOp>(op))
    return OpRole::Movement;
  if (isa<graph::PoolOp, graph::PoolGradOp>(op))
    return OpRole::Window;
  if (isa<graph::ContractOp, graph::ConvolutionOp, graph::ConvolutionInputGradOp,
          graph::ConvolutionFilterGradOp, graph::AttentionOp>(op))
    return OpRole::Skeleton;
  if (isa<graph::ScanOp, graph::ScatterOp>(op))
    return OpRole::Ordered;
  return OpRole::Other;
}

//===----------------------------------------------------------------------===//
// Movement ops
//===----------------------------------------------------------------------===//

using Accesses = SmallVector<OperandAccess>;

static Accesses accesses(graph::SliceOp op, ArrayRef<AffineExpr> index, IndexMath &math,
                         DynamicIndices &dynamic) {
  Index at;
  for (auto [d, e] : llvm::enumerate(index)) {
    int64_t start = op.getStart()[d], step = op.getStrides()[d], size = op.getSizes()[d];
    if (op.getOffsets().empty()) {
      at.push_back(math.simplify(e * step + start));
      continue;
    }
    // The block is clamped as a whole: its lowest element stays at or above 0, its highest inside.
    int64_t reach = (size - 1) * step, low = std::min<int64_t>(reach, 0);
    int64_t limit = shapeOf(op.getX())[d] - std::abs(reach);
    AffineExpr base = dynamic.get(
        {DynamicIndex::Offset, op, static_cast<unsigned>(1 + d), {}, start + low, limit});
    at.push_back(math.simplify(base + (e * step - low)));
  }
  return {{0, at, {}}};
}

static Accesses accesses(graph::PadOp op, ArrayRef<AffineExpr> index, IndexMath &math,
                         DynamicIndices &dynamic) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  OperandAccess x{0, {}, {}};
  for (auto [d, e] : llvm::enumerate(index)) {
    int64_t low = op.getLow()[d], high = op.getHigh()[d], step = op.getInterior()[d] + 1;
    AffineExpr at = math.simplify(e - low);
    if (low == 0 && high == 0 && step == 1) {
      x.index.push_back(at);
      continue;
    }
    DynamicIndex request{DynamicIndex::Edge, op, 0, {at}, 0, shape[d]};
    switch (op.getMode()) {
    case graph::PadKind::Constant:
      x.guards.push_back({at, (shape[d] - 1) * step + 1, step});
      x.index.push_back(step == 1 ? at : at.floorDiv(step)); // exact where the guard holds
      break;
    case graph::PadKind::Wrap:
      x.index.push_back(math.simplify(at + llvm::divideCeil(low, shape[d]) * shape[d]) % shape[d]);
      break;
    case graph::PadKind::Reflect:
      request.kind = DynamicIndex::Reflect;
      [[fallthrough]];
    case graph::PadKind::Edge:
      x.index.push_back(dynamic.get(request));
      break;
    }
  }
  Accesses out{x};
  if (op.getValue())
    out.push_back({1, Index(shapeOf(op.getValue()).size(), math.constant(0)), {}});
  return out;
}

static Accesses accesses(graph::ConcatOp op, ArrayRef<AffineExpr> index, IndexMath &math) {
  Accesses out;
  int64_t from = 0, dim = op.getDim();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    int64_t size = shapeOf(input)[dim];
    Index at(index);
    at[dim] = math.simplify(index[dim] - from);
    out.push_back({static_cast<unsigned>(i), at, {{at[dim], size, 1}}});
    from += size;
  }
  return out;
}

static Accesses accesses(graph::GatherOp op, ArrayRef<AffineExpr> index, IndexMath &math,
                         DynamicIndices &dynamic) {
  int64_t dim = op.getDim(), rank = shapeOf(op.getIndices()).size();
  Index row(index.slice(dim, rank));
  AffineExpr s = dynamic.get({DynamicIndex::Gather, op, 1, row, 0, shapeOf(op.getData())[dim]});
  Index at(index.take_front(dim));
  at.push_back(s);
  at.append(index.begin() + dim + rank, index.end());
  return {{0, at, {}}};
}

SmallVector<OperandAccess> gpucc::accessesOf(Operation *op, ArrayRef<AffineExpr> index,
                                             IndexMath &math, DynamicIndices &dynamic) {
  if (isa<ScalarBodyOpInterface>(op)) {
    Accesses out;
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      out.push_back({i, Index(index), {}});
    return out;
  }
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return {{0, math.reshape(index, reshape.getShape(), shapeOf(reshape.getX())), {}}};
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    Index at(index.size());
    for (auto [i, p] : llvm::enumerate(transpose.getPermutation()))
      at[p] = index[i];
    return {{0, at, {}}};
  }
  if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
    Index at;
    for (auto [size, d] : llvm::zip_equal(shapeOf(broadcast.getX()), broadcast.getDims()))
      at.push_back(size == 1 ? math.constant(0) : index[d]);
    return {{0, at, {}}};
  }
  if (auto slice = dyn_cast<graph::SliceOp>(op))
    return accesses(slice, index, math, dynamic);
  if (auto pad = dyn_cast<graph::PadOp>(op))
    return accesses(pad, index, math, dynamic);
  if (auto concat = dyn_cast<graph::ConcatOp>(op))
    return accesses(concat, index, math);
  if (auto gather = dyn_cast<graph::GatherOp>(op))
    return accesses(gather, index, math, dynamic);
  return {};
}

std::optional<Index> gpucc::forwardIndex(Operation *op, ArrayRef<AffineExpr> index,
                                         IndexMath &math) {
  if (auto reduce = dyn_cast<graph::ReduceOp>(op)) {
    Index at;
    for (auto [d, e] : llvm::enumerate(index))
      if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(d)))
        at.push_back(e);
    return at;
  }
  if (isa<ScalarBodyOpInterface>(op))
    return Index(index);
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return math.reshape(index, shapeOf(reshape.getX()), reshape.getShape());
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    Index at;
    for (int64_t p : transpose.getPermutation())
      at.push_back(index[p]);
    return at;
  }
  if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
    if (cast<RankedTensorType>(broadcast.getX().getType()).getNumElements() !=
        cast<RankedTensorType>(broadcast.getType()).getNumElements())
      return std::nullopt;
    Index at(broadcast.getShape().size(), math.constant(0));
    for (auto [e, d] : llvm::zip_equal(index, broadcast.getDims()))
      at[d] = e;
    return at;
  }
  return std::nullopt;
}
