//===- RaiseRotary.cpp - x cos + rotate_half(x) sin -----------------------===//
//
//   x [B,H,S,D], rotate_half(x) = concat(-x[..., D/2:], x[..., :D/2])
//
// cos and sin come as [.., S, D] tables whose two halves are equal (the angles
// are concatenated with themselves). The composite wants one half; that the
// halves are equal is seen from the concat, or by evaluating the table.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Graph/ConstantExpressions.h"
#include "lib/Transforms/Graph/RaiseMatch.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using namespace gpucc::graph_passes;

/// x of rotate_half(x)
static Value halfRotated(Value value, Match &match) {
  auto concat = value.getDefiningOp<ConcatOp>();
  if (!concat || rankOf(value) != 4 || concat.getDim() != 3 || concat.getInputs().size() != 2)
    return {};
  auto neg = unary(concat.getInputs()[0], UnaryKind::Neg);
  auto high = neg ? neg.getX().getDefiningOp<SliceOp>() : SliceOp();
  auto low = concat.getInputs()[1].getDefiningOp<SliceOp>();
  if (!high || !low || high.getX() != low.getX() || !high.getOffsets().empty() ||
      !low.getOffsets().empty())
    return {};
  Value x = low.getX();
  int64_t size = typeOf(x).getDimSize(3);
  auto isHalf = [&](SliceOp s, int64_t start) {
    auto shape = typeOf(x).getShape();
    for (int64_t d = 0; d < 3; ++d)
      if (s.getStart()[d] != 0 || s.getSizes()[d] != shape[d] || s.getStrides()[d] != 1)
        return false;
    return s.getStart()[3] == start && s.getSizes()[3] == size / 2 && s.getStrides()[3] == 1;
  };
  if (size % 2 != 0 || !isHalf(low, 0) || !isHalf(high, size / 2))
    return {};
  match.add(concat);
  match.add(neg);
  match.add(high);
  match.add(low);
  return x;
}

/// The two halves of `table` along `dim` are equal, seen from how it is computed.
static bool halvesEqualByForm(Value table, int64_t dim) {
  for (unsigned depth = 0; depth < 16; ++depth) {
    Operation *op = table.getDefiningOp();
    if (!op)
      return false;
    if (auto concat = dyn_cast<ConcatOp>(op))
      return concat.getDim() == static_cast<uint64_t>(dim) && concat.getInputs().size() == 2 &&
             concat.getInputs()[0] == concat.getInputs()[1];
    if (isa<UnaryOp, ConvertOp>(op)) {
      table = op->getOperand(0);
    } else if (auto binary = dyn_cast<BinaryOp>(op); binary && splatNumber(binary.getRhs())) {
      table = binary.getLhs();
    } else if (isa<ReshapeOp, BroadcastOp>(op)) {
      View view = peel(table);
      if (view.source == table)
        return false;
      auto place = llvm::find(view.place, dim);
      if (place == view.place.end())
        return false;
      dim = place - view.place.begin();
      table = view.source;
    } else {
      return false;
    }
  }
  return false;
}

static bool halvesEqualByValue(Value table, int64_t dim) {
  auto value = evaluateExpression(table);
  if (!value)
    return false;
  int64_t size = typeOf(table).getDimSize(dim), inner = 1;
  for (int64_t d = dim + 1; d < rankOf(table); ++d)
    inner *= typeOf(table).getDimSize(d);
  for (int64_t i = 0; i < value->numElements(); ++i) {
    int64_t along = i / inner % size;
    if (along < size / 2 && value->getFloat(i) != value->getFloat(i + size / 2 * inner))
      return false;
  }
  return true;
}

namespace {
/// A table as the composite wants it: [S, D/2] or [B, S, D/2].
struct HalfTable {
  Value source;
  int64_t dim = 0;
  bool perBatch = false;
};
} // namespace

static std::optional<HalfTable> halfTable(Value value, Value x) {
  View view = peel(value);
  HalfTable t{view.source, -1, false};
  auto shape = typeOf(x).getShape();
  bool seesRow = shape[2] == 1;
  for (auto [i, place] : llvm::enumerate(view.place)) {
    if (place == 1)
      return std::nullopt; // differs from head to head
    if (place == 3)
      t.dim = i;
    seesRow |= place == 2;
    t.perBatch |= place == 0;
  }
  if (t.dim < 0 || !seesRow ||
      (!halvesEqualByForm(t.source, t.dim) && !halvesEqualByValue(t.source, t.dim)))
    return std::nullopt;
  return t;
}

static Value buildHalf(OpBuilder &b, Location loc, const HalfTable &t, Value x) {
  auto shape = typeOf(t.source).getShape();
  Dims start(shape.size(), 0), sizes(shape), ones(shape.size(), 1);
  sizes[t.dim] /= 2;
  Value half = SliceOp::create(b, loc, t.source, ValueRange(), start, sizes, ones);
  auto full = typeOf(x).getShape();
  Dims wanted{full[2], full[3] / 2};
  if (t.perBatch)
    wanted.insert(wanted.begin(), full[0]);
  if (typeOf(half).getShape() == ArrayRef<int64_t>(wanted))
    return half;
  return ReshapeOp::create(b, loc, half, wanted);
}

bool graph_passes::matchRotary(Operation *root, Found &found) {
  auto add = dyn_cast<BinaryOp>(root);
  if (!add || add.getKind() != BinaryKind::Add || rankOf(add.getResult()) != 4)
    return false;
  for (auto [first, second] :
       {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    auto straight = binary(first, BinaryKind::Mul), turned = binary(second, BinaryKind::Mul);
    if (!straight || !turned)
      continue;
    for (unsigned swap = 0; swap < 4; ++swap) {
      Match match;
      Value x = straight->getOperand(swap & 1), cos = straight->getOperand(1 - (swap & 1));
      Value rotated = turned->getOperand(swap >> 1), sin = turned->getOperand(1 - (swap >> 1));
      if (halfRotated(rotated, match) != x)
        continue;
      auto cosTable = halfTable(cos, x), sinTable = halfTable(sin, x);
      if (!cosTable || !sinTable)
        continue;
      match.add(straight);
      match.add(turned);
      found.match = match;
      found.name = "rope";
      found.build = [=, c = *cosTable, s = *sinTable](OpBuilder &b) -> Value {
        Location loc = root->getLoc();
        return RopeOp::create(b, loc, x, buildHalf(b, loc, c, x), buildHalf(b, loc, s, x), false);
      };
      return true;
    }
  }
  return false;
}
