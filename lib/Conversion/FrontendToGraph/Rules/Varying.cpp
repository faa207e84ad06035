//===- Varying.cpp - operators that keep padding harmless -----------------===//
//
// A tensor of varying size has its bound as shape; behind the real entries of
// the dimension that varies lies padding (Node.h, Varying). An operator in this
// table is converted as ever, on the padded value, because no padding enters a
// real entry of its result: entry i of the result depends on entry i of the
// operand alone (pointwise functions, products by rows), or whole slices move.
// What depends on all entries is in VaryingMath.cpp, which masks them.
//
//   nz [3, n <= 24] -> Transpose -> [n <= 24, 3]: dimension 0 varies now
//
// Every other operator is refused where an operand varies.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Varying.h"

#include "lib/Conversion/FrontendToGraph/Rules/VaryingRules.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

LogicalResult frontend_to_graph::onlyFirstVaries(Node &n, std::optional<Varying> &size) {
  for (unsigned i = 1; i < n.size(); ++i)
    if (const Varying *other = n.varying(i))
      return n.unsupported("the size of operand " + Twine(i) + " depends on values of a run (" +
                           other->producer + " gives it)");
  size = *n.varying(0);
  return success();
}

LogicalResult frontend_to_graph::mixes(Node &n, StringRef why) {
  std::string producer;
  for (unsigned i = 0; i < n.size(); ++i)
    if (const Varying *size = n.varying(i))
      producer += (producer.empty() ? "" : " and ") + size->producer;
  return n.unsupported("the size of an operand depends on values of a run (" + producer +
                       " gives it), and " + why);
}

/// All results are operand 0's shape, element by element or slice by slice.
LogicalResult frontend_to_graph::keepDim(Node &n, Rule plain) {
  std::optional<Varying> size;
  if (failed(onlyFirstVaries(n, size)) || failed(plain(n)))
    return failure();
  for (unsigned i = 0; i < n.numResults(); ++i)
    if (n.resultValues()[i])
      n.setVarying(i, size->dim, size->count, size->producer);
  return success();
}

/// Operands broadcast; those that vary do so along one dimension of the result and by one count.
static LogicalResult pointwise(Node &n, Rule plain) {
  int64_t rank = 0;
  for (unsigned i = 0; i < n.size(); ++i)
    rank = n.has(i) ? std::max(rank, n.rank(i)) : rank;
  std::optional<Varying> size;
  int64_t dim = 0;
  for (unsigned i = 0; i < n.size(); ++i)
    if (const Varying *own = n.varying(i)) {
      int64_t at = own->dim + rank - n.rank(i);
      if (size && (at != dim || own->count != size->count))
        return mixes(n, "its operands vary along several dimensions or by several counts");
      size = *own;
      dim = at;
    }
  for (unsigned i = 0; i < n.size(); ++i) {
    int64_t at = n.has(i) ? dim - (rank - n.rank(i)) : -1;
    if (at >= 0 && !n.varying(i) && shapeOf(n[i])[at] != 1)
      return mixes(n, "another operand has the fixed size " + std::to_string(shapeOf(n[i])[at]) +
                          " along that dimension");
  }
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, dim, size->count, size->producer);
  return success();
}

/// The type of the other operand counts, not its size.
static LogicalResult castLike(Node &n, Rule plain) {
  if (failed(plain(n)))
    return failure();
  if (const Varying *own = n.varying(0)) {
    Varying size = *own;
    n.setVarying(0, size.dim, size.count, size.producer);
  }
  return success();
}

static LogicalResult transpose(Node &n, Rule plain) {
  Varying size = *n.varying(0);
  if (failed(plain(n)))
    return failure();
  auto given = n.getInts("perm");
  int64_t rank = n.rank(0), to = rank - 1 - size.dim;
  for (int64_t d = 0; given && d < rank; ++d)
    if (((*given)[d] + rank) % rank == size.dim)
      to = d;
  n.setVarying(0, to, size.count, size.producer);
  return success();
}

/// Whole slices of data; data's own varying dimension may be the one that is indexed.
static LogicalResult gather(Node &n, Rule plain) {
  auto axis = n.dimension(n.getInt("axis", 0), n.rank(0));
  if (!axis)
    return failure();
  std::optional<Varying> size;
  int64_t dim = 0;
  if (const Varying *indices = n.varying(1)) {
    size = *indices;
    dim = *axis + size->dim;
  }
  if (const Varying *data = n.varying(0); data && data->dim != *axis) {
    if (size)
      return mixes(n, "both its data and its indices vary");
    size = *data;
    dim = data->dim < *axis ? data->dim : data->dim - 1 + n.rank(1);
  } else if (data) { // indices from the end count from the last real entry
    Value index = n.g.convert(n[1], n.g.builder.getI64Type());
    Value negative = n.g.compare(CompareKind::Lt, index, n.g.splatLike(index, 0));
    n.replace(1, n.g.select(negative, n.g.add(index, data->count), index));
  }
  if (failed(plain(n)))
    return failure();
  if (size)
    n.setVarying(0, dim, size->count, size->producer);
  return success();
}

/// Rows of coordinates; data may vary behind what they address.
static LogicalResult gatherNd(Node &n, Rule plain) {
  int64_t depth = n.rank(1) ? shapeOf(n[1]).back() : 0, rows = n.rank(1) - 1;
  std::optional<Varying> size;
  int64_t dim = 0;
  if (const Varying *indices = n.varying(1)) {
    if (indices->dim == rows || n.getInt("batch_dims", 0) != 0)
      return mixes(n, "it varies in the coordinates or the batch of GatherND");
    size = *indices;
    dim = size->dim;
  }
  if (const Varying *data = n.varying(0)) {
    if (size || data->dim < depth || n.getInt("batch_dims", 0) != 0)
      return mixes(n, "its data vary where it is addressed");
    size = *data;
    dim = rows + data->dim - depth;
  }
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, dim, size->count, size->producer);
  return success();
}

static LogicalResult gatherElements(Node &n, Rule plain) {
  if (n.varying(0))
    return mixes(n, "its data vary");
  Varying size = *n.varying(1);
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, size.dim, size.count, size.producer);
  return success();
}

/// Which dimensions squeeze takes away or unsqueeze adds, from attribute or operand.
static LogicalResult squeeze(Node &n, Rule plain) {
  Varying size = *n.varying(0);
  Dims axes;
  bool given;
  if (!n.intsFrom("axes", 1, axes, given) || !n.dimensions(axes, n.rank(0)))
    return failure();
  if (!given)
    return mixes(n, "Squeeze without axes takes that dimension away where a run makes it 1");
  if (llvm::is_contained(axes, size.dim))
    return mixes(n, "Squeeze would take away that dimension");
  int64_t to = size.dim - llvm::count_if(axes, [&](int64_t a) { return a < size.dim; });
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, to, size.count, size.producer);
  return success();
}

static LogicalResult unsqueeze(Node &n, Rule plain) {
  Varying size = *n.varying(0);
  Dims axes;
  bool given;
  if (failed(plain(n)) || !n.intsFrom("axes", 1, axes, given) ||
      !n.dimensions(axes, rankOf(n.resultValues()[0])))
    return failure();
  int64_t to = size.dim;
  for (int64_t axis : axes) // ascending
    to += axis <= to;
  n.setVarying(0, to, size.count, size.producer);
  return success();
}

/// [A, n, B] as [A', m, B'] with A = A': rows of n B elements in m B' of them.
static LogicalResult reshaped(Node &n, ArrayRef<int64_t> to, int64_t at) {
  Varying size = *n.varying(0);
  Dims from = shapeOf(n[0]);
  ArrayRef<int64_t> all(from);
  int64_t before = elementsOf(all.take_front(size.dim)), rest = elementsOf(to.drop_front(at + 1));
  int64_t row = elementsOf(all.drop_front(size.dim + 1));
  int64_t elements = all[size.dim] * row;
  if (elementsOf(to.take_front(at)) != before || rest == 0 || elements % rest != 0)
    return mixes(n, "the new shape does not keep the rows of that dimension together");
  if (row != rest && row % rest != 0)
    return mixes(n, "the new shape divides the dimension that varies");
  Dims shape(to);
  shape[at] = elements / rest;
  Value count =
      row == rest ? size.count : n.g.binary(BinaryKind::Mul, size.count, double(row / rest));
  if (failed(n.yield(n.g.reshape(n[0], shape))))
    return failure();
  n.setVarying(0, at, count, size.producer);
  return success();
}

/// The dimension that varies stands as -1, or as 0 in its place: a number would be its bound.
static LogicalResult reshape(Node &n, Rule) {
  auto wanted = n.varying(0) ? n.constantInts(1, "the shape") : std::nullopt;
  if (!wanted)
    return n.varying(0) ? failure() : mixes(n, "it is the shape's own");
  int64_t dim = n.varying(0)->dim, at = -1;
  Dims from = shapeOf(n[0]), to = *wanted;
  bool allowZero = n.getInt("allowzero", 0) != 0;
  int64_t open = llvm::find(to, -1) - to.begin(), known = 1;
  for (auto [d, extent] : llvm::enumerate(to)) {
    if (extent == 0 && !allowZero && static_cast<int64_t>(d) == dim)
      at = dim;
    if (extent == 0 && !allowZero && d < from.size())
      extent = from[d];
    if (extent < -1 || (extent == -1 && static_cast<int64_t>(d) != open))
      return n.invalid("the shape has a negative dimension, or -1 in more than one place");
    if (extent != -1 && llvm::MulOverflow(known, extent, known))
      return n.invalid("the shape has more elements than 63 bits can count");
  }
  bool isOpen = open < static_cast<int64_t>(to.size());
  if (isOpen && at >= 0 && (known == 0 || elementsOf(from) % known != 0))
    return mixes(n, "the new shape does not keep that dimension");
  if (isOpen && at >= 0) // -1 is of known size
    to[open] = elementsOf(from) / known;
  else if (isOpen)
    at = open;
  if (at < 0)
    return mixes(n, "the new shape gives that dimension a fixed size; write -1 for it");
  return reshaped(n, to, at);
}

static LogicalResult flatten(Node &n, Rule) {
  int64_t axis = n.getInt("axis", 1), rank = n.rank(0), dim = n.varying(0)->dim;
  if (axis < -rank || axis > rank)
    return n.invalid("axis " + Twine(axis) + " is outside the operand's dimensions");
  axis = axis < 0 ? axis + rank : axis;
  Dims from = shapeOf(n[0]);
  ArrayRef<int64_t> all(from);
  return reshaped(n, {elementsOf(all.take_front(axis)), elementsOf(all.drop_front(axis))},
                  dim < axis ? 0 : 1);
}

static LogicalResult split(Node &n, Rule plain) {
  auto axis = n.dimension(n.getInt("axis", 0), n.rank(0));
  if (!axis)
    return failure();
  if (n.varying(0) && *axis == n.varying(0)->dim)
    return mixes(n, "Split divides that dimension");
  return n.varying(0) ? keepDim(n, plain) : mixes(n, "it is the sizes' own");
}

/// Rows stay rows: whatever is computed for one depends on it alone.
static LogicalResult rows(Node &n, Rule plain) {
  if (n.varying(0) && n.varying(0)->dim != 0)
    return mixes(n, "it varies along another dimension than the first (the batch)");
  return n.varying(0) ? keepDim(n, plain) : mixes(n, "only operand 0 may vary here");
}

/// Along one axis of operand 0 that must not be the one that varies.
template <int64_t otherwise> static LogicalResult besideAxis(Node &n, Rule plain) {
  auto axis = n.has(0) ? n.dimension(n.getInt("axis", otherwise), n.rank(0)) : std::nullopt;
  if (!axis)
    return failure();
  if (!n.varying(0) || *axis == n.varying(0)->dim)
    return mixes(n, "it is the dimension that the operator works along");
  return keepDim(n, plain);
}

/// Normalized over the axis and all behind it.
template <int64_t otherwise> static LogicalResult beforeAxis(Node &n, Rule plain) {
  auto axis = n.has(0) ? n.dimension(n.getInt("axis", otherwise), n.rank(0)) : std::nullopt;
  if (!axis)
    return failure();
  if (!n.varying(0) || *axis <= n.varying(0)->dim)
    return mixes(n, "it is one of the normalized dimensions");
  return keepDim(n, plain);
}

/// One dimension is normalized, up to opset 12 all from the axis on.
static LogicalResult besideRows(Node &n, Rule plain) {
  return n.version() < 13 ? beforeAxis<1>(n, plain) : besideAxis<-1>(n, plain);
}

/// The index of the new dimension is added.
static LogicalResult oneHot(Node &n, Rule plain) {
  std::optional<Varying> size;
  if (!n.varying(0))
    return mixes(n, "only the indices may vary here");
  if (failed(onlyFirstVaries(n, size)))
    return failure();
  auto axis = n.dimension(n.getInt("axis", -1), n.rank(0) + 1);
  if (!axis || failed(plain(n)))
    return failure();
  n.setVarying(0, size->dim + (*axis <= size->dim), size->count, size->producer);
  return success();
}

/// One result for each region; the image does not vary.
static LogicalResult roiAlign(Node &n, Rule plain) {
  const Varying *regions = n.varying(1), *images = n.varying(2);
  if (n.varying(0) || !regions || regions->dim != 0 || !images || images->count != regions->count)
    return mixes(n, "only its regions and their batch indices may vary, by one count");
  Varying size = *regions;
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, 0, size.count, size.producer);
  return success();
}

static LogicalResult asEver(Node &n, Rule plain) { return plain(n); }

/// Functions of one element, or of several operands' elements at one place.
static constexpr StringLiteral pointwiseKinds =
    "Abs Neg Sign Exp Log Sqrt Reciprocal Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh "
    "Acosh Atanh Floor Ceil Round Not BitwiseNot IsNaN IsInf Add Sub Mul Div Pow Mod And Or "
    "Xor BitwiseAnd BitwiseOr BitwiseXor BitShift Equal Less LessOrEqual Greater "
    "GreaterOrEqual Max Min Sum Mean Where Relu Sigmoid Tanh LeakyRelu PRelu Elu Selu Celu Gelu "
    "HardSigmoid HardSwish Softplus Softsign Mish ThresholdedRelu Clip Shrink Swish";

ArrayRef<VaryingEntry> frontend_to_graph::varyingMovementRules() {
  static const VaryingEntry rules[] = {
      {"Identity", keepDim},
      {"Dropout", keepDim},
      {"Cast", keepDim},
      {"CastLike", castLike},
      {"Transpose", transpose},
      {"Gather", gather},
      {"GatherND", gatherNd},
      {"GatherElements", gatherElements},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Split", split},
      {"OneHot", oneHot},
      {"LayerNormalization", beforeAxis<-1>},
      {"LogSoftmax", besideRows},
      {"Hardmax", besideRows},
      {"Conv", rows},
      {"ConvTranspose", rows},
      {"MaxPool", rows},
      {"AveragePool", rows},
      {"GlobalAveragePool", rows},
      {"GlobalMaxPool", rows},
      {"BatchNormalization", rows},
      {"InstanceNormalization", rows},
      {"RoiAlign", roiAlign},
      // These look at varying operands themselves.
      {"NonZero", asEver},
      {"Compress", asEver},
      {"NonMaxSuppression", asEver},
  };
  return rules;
}

VaryingRule frontend_to_graph::findVaryingRule(StringRef kind) {
  static const llvm::StringMap<VaryingRule> table = [] { // immutable: the same for every caller
    llvm::StringMap<VaryingRule> rules;
    SmallVector<StringRef> kinds;
    StringRef(pointwiseKinds).split(kinds, ' ');
    for (StringRef kind : kinds)
      rules[kind] = pointwise;
    for (ArrayRef<VaryingEntry> entries :
         {varyingMovementRules(), varyingMathRules(), varyingExtentRules()})
      for (const VaryingEntry &entry : entries)
        rules[entry.kind] = entry.rule;
    return rules;
  }();
  return table.lookup(kind);
}
