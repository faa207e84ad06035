//===- AttentionMask.cpp - what an exported mask says ---------------------===//
#include "lib/Transforms/Graph/AttentionMask.h"

#include "lib/Transforms/Graph/ConstantExpressions.h"
#include "lib/Transforms/Graph/RaiseMatch.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using namespace gpucc::graph_passes;

/// Below this nothing is left of a score after softmax in f32.
static constexpr double hidden = -1e9;
/// Added to any score of ordinary size, the sum is this number itself in f32.
static constexpr double absorbing = -1e30;

/// What a known mask does to element (row, column) of the last two dimensions.
enum class Effect { Keeps, Hides, HidesByInf, Changes };

/// Looks at a known mask: causal, harmless to every row, or neither.
template <typename Read>
static void inspect(const HostTensor &mask, ArrayRef<int64_t> scores, Read read, bool &causal,
                    bool &blindRow) {
  int64_t rank = mask.rank();
  int64_t rows = scores[scores.size() - 2], columns = scores.back();
  int64_t haveColumns = rank >= 1 ? mask.shape()[rank - 1] : 1;
  int64_t haveRows = rank >= 2 ? mask.shape()[rank - 2] : 1;
  causal = haveColumns == columns && haveRows == rows && columns >= rows;
  blindRow = false;
  for (int64_t begin = 0; begin < mask.numElements(); begin += haveColumns) {
    int64_t row = begin / haveColumns % haveRows;
    bool allInf = true;
    for (int64_t t = 0; t < haveColumns; ++t) {
      Effect effect = read(begin + t);
      bool sees = t <= row + columns - rows;
      causal &=
          sees ? effect == Effect::Keeps : effect == Effect::Hides || effect == Effect::HidesByInf;
      allInf &= effect == Effect::HidesByInf;
    }
    blindRow |= allInf;
  }
}

namespace {
/// What a value lies between.
struct Bounds {
  double low, high;
};
} // namespace

static std::optional<Bounds> rangeFromIntegers(Value value, unsigned depth = 0);

static std::optional<Bounds> rangeOfConstant(ConstantOp constant) {
  auto tensor = toHostTensor(constant.getValue());
  if (!tensor || tensor->numElements() == 0)
    return std::nullopt;
  Bounds range{tensor->getFloat(0), tensor->getFloat(0)};
  for (int64_t i = 0; i < tensor->numElements(); ++i) {
    double number = tensor->getFloat(i);
    if (!std::isfinite(number))
      return std::nullopt;
    range = {std::min(range.low, number), std::max(range.high, number)};
  }
  return range;
}

static std::optional<Bounds> rangeOfBinary(BinaryKind kind, const Bounds &a, const Bounds &b) {
  switch (kind) {
  case BinaryKind::Add:
    return Bounds{a.low + b.low, a.high + b.high};
  case BinaryKind::Sub:
    return Bounds{a.low - b.high, a.high - b.low};
  case BinaryKind::Mul: {
    auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return Bounds{low, high};
  }
  case BinaryKind::Max:
    return Bounds{std::max(a.low, b.low), std::max(a.high, b.high)};
  case BinaryKind::Min:
    return Bounds{std::min(a.low, b.low), std::min(a.high, b.high)};
  default:
    return std::nullopt;
  }
}

/// By what makes the value, not yet by what its type holds.
static std::optional<Bounds> exactRange(Operation *op, unsigned depth) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return rangeOfConstant(constant);
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    if (isa<IntegerType>(typeOf(convert.getX()).getElementType()))
      return Bounds{0, 1};
    return rangeFromIntegers(convert.getX(), depth + 1);
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    auto a = rangeFromIntegers(select.getOnTrue(), depth + 1);
    auto b = rangeFromIntegers(select.getOnFalse(), depth + 1);
    return a && b ? std::optional(Bounds{std::min(a->low, b->low), std::max(a->high, b->high)})
                  : std::nullopt;
  }
  if (auto binary = dyn_cast<BinaryOp>(op)) {
    auto a = rangeFromIntegers(binary.getLhs(), depth + 1);
    auto b = rangeFromIntegers(binary.getRhs(), depth + 1);
    return a && b ? rangeOfBinary(binary.getKind(), *a, *b) : std::nullopt;
  }
  if (isa<ReshapeOp, BroadcastOp, TransposeOp, SliceOp>(op))
    return rangeFromIntegers(op->getOperand(0), depth + 1);
  return std::nullopt;
}

/// What the value lies between whatever the inputs, as long as integer inputs are masks of 0 and 1; nothing when it may
/// be infinite or NaN. Two masks of -3.4e38 added are -inf.
static std::optional<Bounds> rangeFromIntegers(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<FloatType>(typeOf(value).getElementType());
  if (!op || !type || depth > 32)
    return std::nullopt;
  std::optional<Bounds> range = exactRange(op, depth);
  double most = APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  return range && -most <= range->low && range->high <= most ? range : std::nullopt;
}

bool AttentionMask::resolveSelect(ArrayRef<int64_t> scores, std::string &why) {
  if (!(fill <= hidden)) {
    why = "the hidden scores become a number that softmax still sees";
    return false;
  }
  bool byInf = std::isinf(fill);
  if (auto value = evaluateExpression(condition)) {
    bool blindRow;
    inspect(
        *value, scores,
        [&](int64_t i) {
          bool seen = (value->getInt(i) != 0) == keeps;
          return seen ? Effect::Keeps : byInf ? Effect::HidesByInf : Effect::Hides;
        },
        isCausal, blindRow);
    if (!isCausal && blindRow) {
      why = "the mask hides a whole row, where softmax gives NaN";
      return false;
    }
    if (isCausal)
      condition = {};
    else if (!byInf && fill > absorbing) {
      why = "a hidden score is replaced by a number that adding it would not give";
      return false;
    }
    return true;
  }
  if (byInf || fill > absorbing) {
    why = "the mask may hide a whole row, where softmax gives NaN";
    return false;
  }
  return true;
}

bool AttentionMask::resolveBias(ArrayRef<int64_t> scores, std::string &why) {
  if (auto value = evaluateExpression(bias)) {
    bool blindRow;
    inspect(
        *value, scores,
        [&](int64_t i) {
          double v = value->getFloat(i);
          return v == 0          ? Effect::Keeps
                 : std::isinf(v) ? (v < 0 ? Effect::HidesByInf : Effect::Changes)
                 : v <= hidden   ? Effect::Hides
                                 : Effect::Changes;
        },
        isCausal, blindRow);
    if (!isCausal && blindRow) {
      why = "the mask hides a whole row, where softmax gives NaN";
      return false;
    }
    if (isCausal)
      bias = {};
    return true;
  }
  if (rangeFromIntegers(bias))
    return true;
  why = "the mask is computed from floats and may hide a whole row, where softmax gives NaN";
  return false;
}

bool AttentionMask::resolve(ArrayRef<int64_t> scores, std::string &why) {
  if (condition)
    return resolveSelect(scores, why);
  return !bias || resolveBias(scores, why);
}

/// The value before it was broadcast, with a dimension of size 1 where it was repeated; rank 4.
static Value asRank4(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> scores) {
  View view = peel(value);
  Dims shape(4, 1);
  auto to4 = [&](int64_t d) { return scores.size() == 4 ? d : d == 0 ? 0 : d + 1; };
  for (auto [i, place] : llvm::enumerate(view.place))
    if (place != -1)
      shape[to4(place)] = typeOf(view.source).getDimSize(i);
  if (typeOf(view.source).getShape() == ArrayRef<int64_t>(shape))
    return view.source;
  return ReshapeOp::create(b, loc, view.source, shape);
}

static Value number(OpBuilder &b, Location loc, RankedTensorType type, double value) {
  HostTensor one = HostTensor::scalarFloat(*toDType(type.getElementType()), value);
  auto dense = cast<DenseElementsAttr>(toElementsAttr(type.getContext(), one));
  return ConstantOp::create(b, loc, dense.resizeSplat(type));
}

Value AttentionMask::build(OpBuilder &b, Location loc, ArrayRef<int64_t> scores,
                           Type element) const {
  if (bias)
    return asRank4(b, loc, bias, scores);
  if (!condition)
    return {};
  Value small = asRank4(b, loc, condition, scores);
  auto type = RankedTensorType::get(typeOf(small).getShape(), element);
  Value zero = number(b, loc, type, 0), low = number(b, loc, type, fill);
  return SelectOp::create(b, loc, small, keeps ? zero : low, keeps ? low : zero);
}
