//===- SplitFusedProjections.cpp - one weight that is really several ------===//
//
// Exported decoders compute query, key and value by one product and slice its
// result. Columns of such a weight cannot be split over ranks so that each rank
// has its own heads of all three; three weights can:
//
//   %qkv = contract %x, %w : tensor<8x48xf32>         w: 16x48
//   %b = broadcast %bias; %s = add %qkv, %b            (a reshape of rows may follow)
//   %q = slice %s [0..16]; %k = slice %s [16..32]; %v = slice %s [32..48]
//     ->
//   %q = add (contract %x, %w0), broadcast %b0        w0: 16x16, columns 0.. of w
//   %k = …  %v = …
//
// The pieces are state arguments of their own, named `<name>@<start>`, with
// `start` in #base.state and the initializer's name and shape beside it: they
// begin with its columns and are saved as one tensor under its name, whatever
// the layout. Runs before differentiation: gradients and moments are then made
// for the pieces, with the same note.
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Base.h"
#include "dialects/Graph/Build.h"
#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_SPLITFUSEDPROJECTIONS
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
/// [begin, begin + size) of the last dimension, and the slice that takes it.
struct Piece {
  int64_t begin, size;
  graph::SliceOp slice;
};

/// product (+ bias), cut into pieces.
struct Projection {
  graph::ContractOp product;
  BlockArgument weight;
  graph::BinaryOp add;       ///< null without a bias
  graph::BroadcastOp spread; ///< of the bias
  BlockArgument bias;
  graph::ReshapeOp view; ///< rows taken apart again (a Gemm sees batch and sequence as one)
  SmallVector<Piece> pieces;
};
} // namespace

//===-- Finding -----------------------------------------------------------===//

static bool isParameter(func::FuncOp function, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.hasOneUse())
    return false;
  auto state = function.getArgAttrOfType<base::StateAttr>(argument.getArgNumber(), base::stateAttr);
  return state && state.getRole() == base::StateRole::Param && state.getStart().empty();
}

/// The pieces when every user is a slice of the last dimension and they cover it without overlap.
static SmallVector<Piece> piecesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t last = type.getRank() - 1;
  SmallVector<Piece> pieces;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<graph::SliceOp>(user);
    if (!slice || !slice.getOffsets().empty() || slice.getStrides()[last] != 1)
      return {};
    for (int64_t d = 0; d < last; ++d)
      if (slice.getStart()[d] != 0 || slice.getStrides()[d] != 1 ||
          slice.getSizes()[d] != type.getDimSize(d))
        return {};
    pieces.push_back({slice.getStart()[last], slice.getSizes()[last], slice});
  }
  llvm::sort(pieces, [](const Piece &a, const Piece &b) { return a.begin < b.begin; });
  int64_t at = 0;
  for (const Piece &piece : pieces) {
    if (piece.begin != at)
      return {};
    at += piece.size;
  }
  return at == type.getDimSize(last) && pieces.size() > 1 ? pieces : SmallVector<Piece>();
}

/// A reshape between the types leaves the last dimension alone.
static bool keepsColumns(Type from, Type to) {
  auto a = cast<RankedTensorType>(from), b = cast<RankedTensorType>(to);
  return b.getRank() > 0 && a.getShape().back() == b.getShape().back();
}

/// x · w with w a matrix parameter whose columns are the last dimension of the result.
static std::optional<Projection> match(func::FuncOp function, graph::ContractOp product) {
  Projection p;
  p.product = product;
  auto weight = dyn_cast<RankedTensorType>(product.getRhs().getType());
  bool columns = product.getRhsBatch().empty() && weight.getRank() == 2 &&
                 product.getRhsContract() == ArrayRef<int64_t>{0};
  if (!columns || !isParameter(function, product.getRhs()))
    return std::nullopt;
  p.weight = cast<BlockArgument>(product.getRhs());
  Value value = product.getResult();
  if (value.hasOneUse())
    if (auto add = dyn_cast<graph::BinaryOp>(*value.user_begin());
        add && add.getKind() == graph::BinaryKind::Add) {
      Value other = add.getLhs() == value ? add.getRhs() : add.getLhs();
      auto spread = other.getDefiningOp<graph::BroadcastOp>();
      int64_t last = cast<RankedTensorType>(value.getType()).getRank() - 1;
      if (!spread || !spread->hasOneUse() || spread.getDims() != ArrayRef<int64_t>{last} ||
          !isParameter(function, spread.getX()))
        return std::nullopt;
      p.add = add;
      p.spread = spread;
      p.bias = cast<BlockArgument>(spread.getX());
      value = add.getResult();
    }
  if (value.hasOneUse())
    if (auto view = dyn_cast<graph::ReshapeOp>(*value.user_begin());
        view && keepsColumns(value.getType(), view.getType())) {
      p.view = view;
      value = view.getResult();
    }
  p.pieces = piecesOf(value);
  return p.pieces.empty() ? std::nullopt : std::optional(p);
}

//===-- Splitting ---------------------------------------------------------===//

namespace {
struct SplitFusedProjections : gpucc::impl::SplitFusedProjectionsBase<SplitFusedProjections> {
  using SplitFusedProjectionsBase::SplitFusedProjectionsBase;
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Projection> found;
      function.walk([&](graph::ContractOp product) {
        if (auto projection = match(function, product))
          found.push_back(std::move(*projection));
      });
      for (Projection &projection : found)
        split(function, projection);
      dropUnused(function, found);
      numSplit += static_cast<int64_t>(found.size());
    }
  }

  /// A state argument for columns [begin, begin + size) of `whole`.
  Value addPiece(func::FuncOp function, BlockArgument whole, int64_t begin, int64_t size) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> shape(type.getShape()), start(type.getRank(), 0);
    shape.back() = size;
    start.back() = begin;
    Builder b(&getContext());
    NamedAttrList attrs(function.getArgAttrDict(whole.getArgNumber()));
    auto state = cast<base::StateAttr>(attrs.get(base::stateAttr));
    auto name = cast<StringAttr>(attrs.get(base::nameAttr));
    attrs.set(base::nameAttr, b.getStringAttr(name.getValue() + "@" + Twine(begin)));
    attrs.set(base::stateAttr, base::StateAttr::get(&getContext(), state.getRole(), state.getOf(),
                                                    state.getTrainable(), start));
    // A piece starts from, and is saved into, its columns of the initializer.
    attrs.set(base::sourceNameAttr, name);
    attrs.set(base::sourceShapeAttr, b.getDenseI64ArrayAttr(type.getShape()));
    if (!attrs.get(base::weightAttr))
      attrs.set(base::weightAttr, name);
    unsigned at = function.getNumArguments();
    if (failed(function.insertArgument(at, type.clone(shape), attrs.getDictionary(&getContext()),
                                       whole.getLoc())))
      llvm_unreachable("a function with a body takes another argument");
    return function.getArgument(at);
  }

  void split(func::FuncOp function, Projection &p) {
    if (remarks)
      p.product.emitRemark() << function.getArgAttr(p.weight.getArgNumber(), base::nameAttr)
                             << " is used in " << p.pieces.size()
                             << " slices only: split, so that each rank has its share of each";
    for (Piece &piece : p.pieces) {
      OpBuilder builder(piece.slice);
      graph::GraphBuilder g(builder, piece.slice.getLoc());
      Value weight = addPiece(function, p.weight, piece.begin, piece.size);
      auto product = graph::ContractOp::create(
          builder, p.product.getLoc(), p.product.getLhs(), weight, p.product.getLhsBatchAttr(),
          p.product.getRhsBatchAttr(), p.product.getLhsContractAttr(),
          p.product.getRhsContractAttr(), p.product.getOutAttr(), p.product.getPrecisionAttr());
      Value value = product.getResult();
      if (p.add) {
        Value bias = addPiece(function, p.bias, piece.begin, piece.size);
        auto type = cast<RankedTensorType>(value.getType());
        value = g.add(value, g.broadcast(bias, type.getShape(), p.spread.getDims()));
      }
      value = g.reshape(value, cast<RankedTensorType>(piece.slice.getType()).getShape());
      if (Attribute stage = p.product->getAttr(base::stageAttr))
        product->setAttr(base::stageAttr, stage);
      piece.slice.getResult().replaceAllUsesWith(value);
    }
    for (Piece &piece : p.pieces)
      piece.slice.erase();
    if (p.view)
      p.view.erase();
    if (p.add) {
      p.add.erase();
      p.spread.erase();
    }
    p.product.erase();
  }

  /// The whole weights go, unless a result still overwrites them; indices of aliases move along.
  void dropUnused(func::FuncOp function, ArrayRef<Projection> found) {
    llvm::BitVector drop(function.getNumArguments());
    for (const Projection &p : found)
      for (BlockArgument argument : {p.weight, p.bias})
        if (argument && argument.use_empty())
          drop.set(argument.getArgNumber());
    Builder b(&getContext());
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto alias = function.getResultAttrOfType<IntegerAttr>(i, base::aliasAttr)) {
        int64_t before = 0;
        for (int64_t a = 0; a < alias.getInt(); ++a)
          before += drop.test(a);
        function.setResultAttr(i, base::aliasAttr, b.getI64IntegerAttr(alias.getInt() - before));
      }
    if (failed(function.eraseArguments(drop)))
      llvm_unreachable("unused arguments can go");
  }
};
} // namespace
