//===- RaiseAttention.cpp - softmax(scale q·k + mask) · v -----------------===//
//
// From the last product down: probabilities, softmax, mask (an addend, or a
// select), scale, the product of q and k. The operands' dimensions may stand in
// any order; transposes put them right and simplify-graph joins those.
//
// Masks stand in AttentionMask.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Graph/AttentionMask.h"
#include "lib/Transforms/Graph/ConstantExpressions.h"
#include "lib/Transforms/Graph/RaiseMatch.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using namespace gpucc::graph_passes;

namespace {
/// An operand of a product and the order that makes it [batch..., rows, columns].
struct Side {
  Value value;
  Dims order;
};

/// The scores: softmax's operand taken apart.
struct Scores {
  ContractOp product;
  double scale = 1;
  AttentionMask mask;
};
} // namespace

/// Batch dimensions, then the free one, then the contracted one; nothing when there are others.
static std::optional<Dims> order(ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                                 ArrayRef<int64_t> free, bool freeFirst) {
  if (contract.size() != 1 || free.size() != 1)
    return std::nullopt;
  Dims dims(batch);
  dims.push_back(freeFirst ? free[0] : contract[0]);
  dims.push_back(freeFirst ? contract[0] : free[0]);
  return dims;
}

/// Walks from softmax's operand to the product.
static bool readScores(Value value, Scores &s, Match &match) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    match.add(op);
    if (auto product = dyn_cast<ContractOp>(op)) {
      s.product = product;
      return true;
    }
    if (auto select = dyn_cast<SelectOp>(op)) {
      if (s.mask.present() || s.scale != 1)
        return false;
      bool hidesFalse = splatNumber(select.getOnFalse()).has_value();
      std::optional<double> fill =
          splatNumber(hidesFalse ? select.getOnFalse() : select.getOnTrue());
      if (!fill)
        return false;
      s.mask.setSelect(select.getCondition(), hidesFalse, *fill);
      value = hidesFalse ? select.getOnTrue() : select.getOnFalse();
      continue;
    }
    auto binary = dyn_cast<BinaryOp>(op);
    if (!binary)
      return false;
    std::optional<double> c = splatNumber(binary.getRhs());
    if (c && (binary.getKind() == BinaryKind::Mul || binary.getKind() == BinaryKind::Div)) {
      s.scale *= binary.getKind() == BinaryKind::Mul ? *c : 1 / *c;
      value = binary.getLhs();
      continue;
    }
    if (binary.getKind() != BinaryKind::Add || s.mask.present() || s.scale != 1)
      return false;
    auto leads = [](Value v) { // to the product, through scales
      while (auto b = v.getDefiningOp<BinaryOp>()) {
        if (!splatNumber(b.getRhs()))
          return false;
        v = b.getLhs();
      }
      return bool(v.getDefiningOp<ContractOp>());
    };
    bool left = leads(binary.getLhs());
    if (!left && !leads(binary.getRhs()))
      return false;
    s.mask.setBias(left ? binary.getRhs() : binary.getLhs());
    value = left ? binary.getLhs() : binary.getRhs();
  }
  return false;
}

/// [B,H,T,D] that repeats each head of [B,K,T,D] H/K times: the value before, else null.
static View beforeRepeat(Value value, int64_t &groups) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape || rankOf(reshape.getX()) != 5 || rankOf(value) != 4)
    return {};
  auto wide = typeOf(reshape.getX()).getShape(), flat = typeOf(value).getShape();
  if (wide[0] != flat[0] || wide[1] * wide[2] != flat[1] || wide[3] != flat[2] ||
      wide[4] != flat[3] || wide[2] == 1)
    return {};
  View view = peel(reshape.getX());
  if (view.source == reshape.getX() || llvm::is_contained(view.place, 2))
    return {};
  // Everything but the repeated dimension must be there.
  if (typeOf(view.source).getNumElements() * wide[2] != typeOf(value).getNumElements())
    return {};
  groups = wide[2];
  return view;
}

static Value arrange(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> order) {
  Value moved = value;
  if (!llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    moved = TransposeOp::create(b, loc, value, order);
  if (order.size() != 3)
    return moved;
  auto s = typeOf(moved).getShape(); // one batch dimension: a head dimension of size 1
  return ReshapeOp::create(b, loc, moved, ArrayRef<int64_t>{s[0], 1, s[1], s[2]});
}

bool graph_passes::matchAttention(Operation *root, Found &found) {
  auto last = dyn_cast<ContractOp>(root);
  auto softmax = last ? last.getLhs().getDefiningOp<SoftmaxOp>() : SoftmaxOp();
  if (!softmax || softmax.getLog())
    return false;
  int64_t rank = rankOf(softmax.getResult());
  Dims batch;
  for (int64_t d = 0; d + 2 < rank; ++d)
    batch.push_back(d);
  if ((rank != 3 && rank != 4) || int64_t(softmax.getDim()) != rank - 1 ||
      last.getLhsBatch() != ArrayRef<int64_t>(batch) ||
      last.getLhsContract() != ArrayRef<int64_t>(rank - 1) || last.getOut() ||
      last.getPrecision() != Precision::Highest)
    return false;
  Match match;
  match.add(softmax);
  Scores scores;
  if (!readScores(softmax.getX(), scores, match) || scores.product.getOut() ||
      scores.product.getLhsBatch().size() != batch.size())
    return false;
  ContractOp first = scores.product;
  auto orderQ = order(first.getLhsBatch(), first.getLhsContract(), first.getLhsFree(), true);
  auto orderK = order(first.getRhsBatch(), first.getRhsContract(), first.getRhsFree(), true);
  auto orderV = order(last.getRhsBatch(), last.getRhsContract(), last.getRhsFree(), false);
  if (!orderQ || !orderK || !orderV)
    return false;
  auto shape = typeOf(softmax.getResult()).getShape();
  found.name = "attention";
  if (!scores.mask.resolve(shape, found.whyNot))
    return false;
  Value q = first.getLhs(), k = first.getRhs(), v = last.getRhs();
  // Grouped queries: keys and values before they are repeated.
  int64_t groupsK = 1, groupsV = 1;
  View smallK, smallV;
  auto heads01 = [](ArrayRef<int64_t> o) { return o[0] == 0 && o[1] == 1; };
  if (rank == 4 && heads01(*orderK) && heads01(*orderV)) {
    smallK = beforeRepeat(k, groupsK);
    smallV = beforeRepeat(v, groupsV);
  }
  bool grouped = smallK.source && smallV.source && groupsK == groupsV;
  found.match = match;
  found.build = [=](OpBuilder &b) mutable -> Value {
    Location loc = root->getLoc();
    auto unrepeated = [&](Value repeated, const View &view, int64_t groups) -> Value {
      auto s = typeOf(repeated).getShape();
      Dims wanted{s[0], s[1] / groups, s[2], s[3]};
      if (typeOf(view.source).getShape() == ArrayRef<int64_t>(wanted))
        return view.source;
      return ReshapeOp::create(b, loc, view.source, wanted);
    };
    Value small = grouped ? unrepeated(k, smallK, groupsK) : k;
    Value smallValues = grouped ? unrepeated(v, smallV, groupsV) : v;
    Value bias = scores.mask.build(b, loc, shape, typeOf(q).getElementType());
    Value y =
        AttentionOp::create(b, loc, arrange(b, loc, q, *orderQ), arrange(b, loc, small, *orderK),
                            arrange(b, loc, smallValues, *orderV), bias,
                            llvm::APFloat(scores.scale), scores.mask.causal());
    if (rank == 3)
      y = ReshapeOp::create(b, loc, y, typeOf(root->getResult(0)).getShape());
    return y;
  };
  return true;
}
