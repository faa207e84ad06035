//===- QuantizedOperators.cpp - com.microsoft's quantized operators -------===//
//
// What ONNX Runtime's quantizers write. QLinear operators are their float
// operator between dequantization and quantization:
//
//   QLinearAdd(a, sa, za, b, sb, zb, sc, zc) = quantize((a-za)*sa + (b-zb)*sb)
//
// MatMulNBits holds its matrix in blocks of 4- or 8-bit numbers along K, each
// block with a scale; it is unpacked where it is multiplied.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Quantization.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// Operand i in f32, with its scale and zero point behind it; null after an error.
static Value real(Node &n, unsigned i) {
  if (!n.has(i) || !n.has(i + 1)) {
    (void)n.invalid("operand " + llvm::Twine(i) + " or its scale is missing");
    return {};
  }
  Dims shape = shapeOf(n[i]);
  Value scale = spread(n, n[i + 1], shape, 0, 0);
  Value zero = n.has(i + 2) ? spread(n, n[i + 2], shape, 0, 0) : Value();
  return scale && (zero || !n.has(i + 2)) ? dequantized(n.g, n[i], scale, zero) : Value();
}

/// y quantized by operands i (scale) and i + 1 (zero point), as the element type of `like`.
static LogicalResult yieldQuantized(Node &n, Value y, unsigned i, Value like) {
  if (!y || n.g.failed())
    return failure();
  if (!n.has(i))
    return n.invalid("the result's scale is missing");
  Dims shape = shapeOf(y);
  Value scale = spread(n, n[i], shape, 0, 0);
  Value zero = n.has(i + 1) ? spread(n, n[i + 1], shape, 0, 0) : Value();
  if (!scale || (n.has(i + 1) && !zero) || n.g.failed())
    return failure();
  return n.yield(quantized(n, y, scale, zero, elementOf(like)));
}

static LogicalResult combine(Node &n, BinaryKind kind) {
  Value a = real(n, 0), b = real(n, 3);
  return a && b ? yieldQuantized(n, n.g.binary(kind, a, b), 6, n[0]) : failure();
}
static LogicalResult add(Node &n) { return combine(n, BinaryKind::Add); }
static LogicalResult multiply(Node &n) { return combine(n, BinaryKind::Mul); }

static LogicalResult sigmoid(Node &n) {
  Value x = real(n, 0);
  return x ? yieldQuantized(n, n.g.unary(UnaryKind::Logistic, x), 3, n[0]) : failure();
}
static LogicalResult leakyRelu(Node &n) {
  Value x = real(n, 0);
  if (!x)
    return failure();
  Value scaled = n.g.binary(BinaryKind::Mul, x, double(n.getFloat("alpha", 0.01f)));
  Value negative = n.g.compare(CompareKind::Lt, x, n.g.splatLike(x, 0));
  return yieldQuantized(n, n.g.select(negative, scaled, x), 3, n[0]);
}
static LogicalResult globalAverage(Node &n) {
  if (n.getInt("channels_last", 0) != 0)
    return n.unsupported("channels_last");
  Value x = real(n, 0);
  if (!x)
    return failure();
  Dims spatial;
  for (int64_t d = 2; d < rankOf(x); ++d)
    spatial.push_back(d);
  return yieldQuantized(n, n.g.mean(x, spatial, true), 3, n[0]);
}

/// The result's scale and zero point come first, then three operands per tensor.
static LogicalResult concat(Node &n) {
  if (n.size() < 5 || n.size() % 3 != 2)
    return n.invalid("it takes a scale, a zero point, and three operands per tensor");
  auto axis = n.dimension(n.getInt("axis", 0), n.rank(2));
  if (!axis)
    return failure();
  SmallVector<Value> parts;
  for (unsigned i = 2; i < n.size(); i += 3) {
    parts.push_back(real(n, i));
    if (!parts.back())
      return failure();
  }
  return yieldQuantized(n, n.g.concat(parts, *axis), 0, n[2]);
}

/// [rows, bytes] of two 4-bit numbers each, low one first, as [rows, 2 * bytes].
static Value unpacked(GraphBuilder &g, Value packed) {
  Dims shape = shapeOf(packed);
  Value low = g.binary(BinaryKind::And, packed, 15), high = g.binary(BinaryKind::Shr, packed, 4);
  Value both[] = {g.insertDims(low, {2}), g.insertDims(high, {2})};
  Value pairs = g.concat(both, 2);
  return g.failed() ? pairs : g.reshape(pairs, {shape[0], 2 * shape[1]});
}

/// Zero points [N, blocks]: packed like the matrix, or floats as they are; 2^(bits-1) without.
static Value zeroPoints(Node &n, int64_t columns, int64_t blocks, int64_t bits) {
  GraphBuilder &g = n.g;
  Type wide = g.builder.getF32Type();
  if (!n.has(3))
    return g.splat(RankedTensorType::get({columns, blocks}, wide), double(1 << (bits - 1)));
  Value zero = n[3];
  if (!isFloat(zero) && bits == 4) {
    int64_t bytes = (blocks + 1) / 2;
    zero = unpacked(g, g.reshape(zero, {columns, bytes}));
    zero = g.failed() ? zero : g.slice(zero, 1, 0, blocks);
  }
  return g.convert(g.reshape(zero, {columns, blocks}), wide);
}

/// A [..., K] times the transpose of B [N, K], whose rows are blocks of `block_size` numbers.
static LogicalResult matMulNBits(Node &n) {
  GraphBuilder &g = n.g;
  int64_t k = n.getInt("K", 0), columns = n.getInt("N", 0), bits = n.getInt("bits", 4);
  int64_t block = n.getInt("block_size", 0);
  if (bits != 4 && bits != 8)
    return n.unsupported(llvm::Twine(bits) + " bits; 4 and 8 are done");
  if (n.has(4))
    return n.unsupported("g_idx (reordered columns)");
  if (n.getInt("weight_prepacked", 0) != 0)
    return n.unsupported("weight_prepacked (in the order of another program's kernel)");
  if (k < 1 || columns < 1 || block < 2 || std::max({k, columns, block}) > 1 << 30)
    return n.invalid("K, N and block_size must be positive");
  if (n.rank(0) < 1 || block * bits % 8)
    return n.invalid("A must have a dimension, and a block of block_size numbers whole bytes");
  int64_t blocks = (k + block - 1) / block, bytes = block * bits / 8;
  if (tooLarge({columns, blocks, block}))
    return n.invalid("its matrix has more than 2^40 elements");
  if (elementsOf(shapeOf(n[1])) != columns * blocks * bytes ||
      elementsOf(shapeOf(n[2])) != columns * blocks || shapeOf(n[0]).back() != k)
    return n.invalid("the sizes of its operands do not fit K, N, bits and block_size");
  Value packed = g.reshape(n[1], {columns * blocks, bytes});
  Value numbers = bits == 4 ? unpacked(g, packed) : packed;
  Value zero = zeroPoints(n, columns, blocks, bits);
  if (g.failed())
    return failure();
  Type wide = g.builder.getF32Type();
  Dims shape{columns, blocks, block};
  Value scale = g.convert(g.reshape(n[2], {columns, blocks}), wide);
  Value b = g.sub(g.convert(g.reshape(numbers, shape), wide), g.broadcastDims(zero, shape, {0, 1}));
  b = g.reshape(g.mul(b, g.broadcastDims(scale, shape, {0, 1})), {columns, blocks * block});
  if (g.failed())
    return failure();
  b = g.slice(b, 1, 0, k);
  Value y = g.contract(g.convert(n[0], wide), b, {}, {}, {n.rank(0) - 1}, {1});
  if (g.failed())
    return failure();
  y = g.convert(y, elementOf(n[0]));
  return n.yield(n.has(5) ? g.add(y, n[5]) : y);
}

/// alpha * A·B with either transposed.
static LogicalResult fusedMatMul(Node &n) {
  if (n.getInt("transBatchA", 0) || n.getInt("transBatchB", 0))
    return n.unsupported("transBatchA or transBatchB");
  auto turned = [&](unsigned i, StringRef name) -> Value {
    int64_t rank = n.rank(i);
    if (n.getInt(name, 0) == 0 || rank < 2)
      return n[i];
    Dims order;
    for (int64_t d = 0; d < rank; ++d)
      order.push_back(d);
    std::swap(order[rank - 2], order[rank - 1]);
    return n.g.transpose(n[i], order);
  };
  Value y = n.g.matmul(turned(0, "transA"), turned(1, "transB"));
  float alpha = n.getFloat("alpha", 1);
  return n.yield(alpha == 1 || n.g.failed() ? y : n.g.binary(BinaryKind::Mul, y, double(alpha)));
}

ArrayRef<Entry> gpucc::frontend_to_graph::quantizedOperatorRules() {
  static const Entry rules[] = {
      {"com.microsoft.QLinearAdd", 1, latest, 7, add},
      {"com.microsoft.QLinearMul", 1, latest, 7, multiply},
      {"com.microsoft.QLinearSigmoid", 1, latest, 4, sigmoid},
      {"com.microsoft.QLinearLeakyRelu", 1, latest, 4, leakyRelu},
      {"com.microsoft.QLinearGlobalAveragePool", 1, latest, 4, globalAverage},
      {"com.microsoft.QLinearConcat", 1, latest, 5, concat},
      {"com.microsoft.MatMulNBits", 1, latest, 3, matMulNBits},
      {"com.microsoft.FusedMatMul", 1, latest, 2, fusedMatMul},
  };
  return rules;
}
