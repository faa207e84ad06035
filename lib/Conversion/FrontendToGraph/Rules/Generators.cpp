//===- Generators.cpp - values from nothing -------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"
#include "lib/Conversion/FrontendToGraph/Rules/ElementTypes.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

template <typename T> static HostTensor listTensor(DType type, ArrayRef<T> values) {
  HostTensor tensor(type, {static_cast<int64_t>(values.size())});
  for (auto [i, v] : llvm::enumerate(values))
    gpucc::isFloat(type) ? tensor.setFloat(i, v) : tensor.setInt(i, static_cast<int64_t>(v));
  return tensor;
}

static LogicalResult constant(Node &n) {
  if (auto value = n.getTensor("value"))
    return n.yield(n.g.constant(*value));
  if (n.hasAttr("value_float"))
    return n.yield(n.g.constant(HostTensor::scalarFloat(DType::F32, n.getFloat("value_float", 0))));
  if (n.hasAttr("value_int"))
    return n.yield(n.g.constant(HostTensor::scalarInt(DType::I64, n.getInt("value_int", 0))));
  if (n.hasAttr("value_floats"))
    return n.yield(n.g.constant(listTensor<float>(DType::F32, n.getFloats("value_floats"))));
  if (auto ints = n.getInts("value_ints"))
    return n.yield(n.g.constant(listTensor<int64_t>(DType::I64, *ints)));
  return n.unsupported("its value is a string, a sparse tensor, or of a type gpucc does not have");
}

static bool positiveShape(Node &n, ArrayRef<int64_t> shape) {
  for (int64_t d : shape)
    if (d < 0) {
      (void)n.invalid("the shape has the negative dimension " + llvm::Twine(d));
      return false;
    }
  return true;
}

static LogicalResult constantOfShape(Node &n) {
  auto shape = n.constantInts(0, "the shape");
  if (!shape || !positiveShape(n, *shape))
    return failure();
  Value value = n.g.scalar(n.g.builder.getF32Type(), 0);
  if (auto given = n.getTensor("value")) {
    if (given->numElements() != 1)
      return n.invalid("its value must have one element");
    value = n.g.constant(given->reshaped({}));
  } else if (n.hasAttr("value")) {
    return n.unsupported("its value has a type that gpucc does not have");
  }
  if (elementsOf(*shape) == 0) // a splat of nothing
    return n.yield(n.g.splat(RankedTensorType::get(*shape, elementOf(value)), 0));
  return n.yield(n.g.broadcastTo(value, *shape));
}

/// ceil((limit - start) / delta) numbers; the length must be known, the values need not.
static LogicalResult range(Node &n) {
  double bounds[3];
  for (unsigned i = 0; i < 3; ++i) {
    auto number = n.constantNumber(i, i == 0 ? "start" : i == 1 ? "limit" : "delta");
    if (!number)
      return failure();
    bounds[i] = *number;
  }
  if (bounds[2] == 0 || !(std::fabs((bounds[1] - bounds[0]) / bounds[2]) < 1e12))
    return n.invalid("its delta is 0 or its range is not finite");
  int64_t count = std::max<int64_t>(0, std::ceil((bounds[1] - bounds[0]) / bounds[2]));
  Type type = elementOf(n[0]);
  Value index = n.g.iota({count}, 0, n.g.builder.getI64Type());
  Value y =
      n.g.add(n.g.mul(n.g.convert(index, type), n.g.reshape(n[2], {})), n.g.reshape(n[0], {}));
  return n.yield(y);
}

/// x[i,j] = (j - i == k)
static LogicalResult eyeLike(Node &n) {
  if (n.rank(0) != 2)
    return n.invalid("it needs a matrix");
  Type type = elementOf(n[0]);
  if (n.hasAttr("dtype"))
    type = elementTypeOfOnnx(n.g.builder.getContext(), n.getInt("dtype", 1));
  if (!type)
    return n.unsupported("its dtype is one that gpucc does not have");
  Type index = n.g.builder.getI64Type();
  Dims shape = shapeOf(n[0]);
  Value difference = n.g.sub(n.g.iota(shape, 1, index), n.g.iota(shape, 0, index));
  Value hit = n.g.compare(CompareKind::Eq, difference, n.g.splatLike(difference, n.getInt("k", 0)));
  return n.yield(n.g.convert(hit, type));
}

/// Keeps elements on and above (below) diagonal k of the last two dimensions.
static LogicalResult trilu(Node &n) {
  int64_t k = 0;
  if (n.has(1)) {
    auto given = n.constantInts(1, "k");
    if (!given)
      return failure();
    if (given->size() != 1)
      return n.invalid("k must be one number");
    k = std::clamp<int64_t>(given->front(), -(int64_t(1) << 40), int64_t(1) << 40);
  }
  int64_t rank = n.rank(0);
  if (rank < 2)
    return n.invalid("it needs a matrix or a batch of them");
  Dims shape = shapeOf(n[0]);
  Dims last = {shape[rank - 2], shape[rank - 1]};
  Type index = n.g.builder.getI64Type();
  Value difference = n.g.sub(n.g.iota(last, 1, index), n.g.iota(last, 0, index));
  bool upper = n.getInt("upper", 1) != 0;
  Value keep = n.g.compare(upper ? CompareKind::Ge : CompareKind::Le, difference,
                           n.g.splatLike(difference, static_cast<double>(k)));
  return n.yield(n.g.select(keep, n[0], n.g.splat(RankedTensorType::get({}, elementOf(n[0])), 0)));
}

/// a0 - a1 cos(2πi/m) + a2 cos(4πi/m), m = size, or size - 1 when not periodic.
static LogicalResult window(Node &n, double a0, double a1, double a2) {
  auto size = n.constantInts(0, "the size");
  if (!size)
    return failure();
  Type type = elementTypeOfOnnx(n.g.builder.getContext(), n.getInt("output_datatype", 1));
  if (!type || size->size() != 1 || size->front() < 0)
    return n.unsupported("its size or output_datatype is one that gpucc does not have");
  Type wide = n.g.builder.getF64Type();
  double m = n.getInt("periodic", 1) ? size->front() : size->front() - 1;
  Value i = n.g.convert(n.g.iota({size->front()}, 0, n.g.builder.getI64Type()), wide);
  auto cosine = [&](double turns, double factor) {
    Value angle = n.g.binary(BinaryKind::Mul, i, turns * 2 * M_PI / m);
    return n.g.binary(BinaryKind::Mul, n.g.unary(UnaryKind::Cos, angle), factor);
  };
  Value y = n.g.add(n.g.sub(n.g.splatLike(i, a0), cosine(1, a1)), cosine(2, a2));
  return n.yield(n.g.convert(y, type));
}
static LogicalResult hann(Node &n) { return window(n, 0.5, 0.5, 0); }
static LogicalResult hamming(Node &n) { return window(n, 25.0 / 46, 21.0 / 46, 0); }
static LogicalResult blackman(Node &n) { return window(n, 0.42, 0.5, 0.08); }

ArrayRef<Entry> gpucc::frontend_to_graph::generatorRules() {
  static const Entry rules[] = {
      {"Constant", 1, latest, 0, constant},      {"ConstantOfShape", 9, latest, 1, constantOfShape},
      {"Range", 11, latest, 3, range},           {"EyeLike", 9, latest, 1, eyeLike},
      {"Trilu", 14, latest, 1, trilu},           {"HannWindow", 17, latest, 1, hann},
      {"HammingWindow", 17, latest, 1, hamming}, {"BlackmanWindow", 17, latest, 1, blackman},
  };
  return rules;
}
