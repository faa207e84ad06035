//===- Quantization.cpp - QuantizeLinear, DequantizeLinear, QLinear* ------===//
//
// Scale and zero point are one number, one per element of `axis`, or one per
// block along it. Everything becomes float arithmetic and conversions:
//
//   quantize(x)   = saturate(round_even(x / scale) + zero)
//   dequantize(q) = (q - zero) * scale
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Quantization.h"

#include "lib/Conversion/FrontendToGraph/Rules/ElementTypes.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

Value gpucc::frontend_to_graph::spread(Node &n, Value p, ArrayRef<int64_t> x, int64_t axis,
                                       int64_t block) {
  GraphBuilder &g = n.g;
  if (elementsOf(shapeOf(p)) == 1 && (rankOf(p) <= 1 || block == 0))
    return g.broadcastTo(g.reshape(p, {}), x);
  int64_t rank = x.size();
  if (axis < -rank || axis >= rank) {
    (void)n.invalid("axis " + llvm::Twine(axis) + " is outside the operand's dimensions");
    return {};
  }
  axis = axis < 0 ? axis + rank : axis;
  if (block == 0) {
    if (rankOf(p) == 1 && shapeOf(p)[0] == x[axis])
      return g.broadcastDims(p, x, {axis});
    (void)n.invalid("scale and zero point need one number, or one per element of the axis");
    return {};
  }
  // blocks: [.., k, ..] to [.., k, block, ..] to [.., k * block, ..], then cut
  Dims shape = shapeOf(p);
  bool fits = rankOf(p) == rank && block > 0 && block <= int64_t(1) << 31 &&
              shape[axis] == (x[axis] + block - 1) / block;
  for (int64_t d = 0; fits && d < rank; ++d)
    fits = d == axis || shape[d] == x[d];
  if (!fits) {
    (void)n.invalid("scale and zero point need one number per block of " + llvm::Twine(block));
    return {};
  }
  Dims wide(shape), dims, joined(shape);
  wide.insert(wide.begin() + axis + 1, block);
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(d <= axis ? d : d + 1);
  joined[axis] *= block;
  Value repeated = g.broadcastDims(p, wide, dims);
  if (g.failed())
    return {};
  return g.slice(g.reshape(repeated, joined), axis, 0, x[axis]);
}

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// Bounds of an integer type, as numbers
static std::pair<double, double> rangeOf(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isUnsignedInteger())
    return {0, double((uint64_t(1) << width) - 1)};
  return {-double(uint64_t(1) << (width - 1)), double((uint64_t(1) << (width - 1)) - 1)};
}

Value gpucc::frontend_to_graph::quantized(Node &n, Value x, Value scale, Value zero, Type type) {
  GraphBuilder &g = n.g;
  Value y = g.div(x, g.convert(scale, elementOf(x)));
  if (isFloat8(type)) {
    if (n.getInt("saturate", 1) != 0) {
      double most = isa<Float8E4M3FNType>(type) ? 448.0 : 57344.0;
      y = g.binary(BinaryKind::Min, g.binary(BinaryKind::Max, y, g.splatLike(y, -most)),
                   g.splatLike(y, most));
    }
    return g.convert(y, type);
  }
  // The sum with the zero point is exact in f64 and cannot overflow before it is clamped.
  y = g.convert(g.unary(UnaryKind::RoundEven, y), g.builder.getF64Type());
  if (zero)
    y = g.add(y, g.convert(zero, elementOf(y)));
  auto [low, high] = rangeOf(type);
  y = g.binary(BinaryKind::Min, g.binary(BinaryKind::Max, y, g.splatLike(y, low)),
               g.splatLike(y, high));
  return g.convert(g.convert(y, g.builder.getI32Type()), type);
}

static LogicalResult quantizeLinear(Node &n) {
  int64_t axis = n.getInt("axis", 1), block = n.getInt("block_size", 0);
  Type type = n.has(2) ? elementOf(n[2])
                       : elementTypeOfOnnx(n.g.builder.getContext(), n.getInt("output_dtype", 2));
  if (!n.has(2) && n.getInt("output_dtype", 2) == 0)
    type = elementTypeOfOnnx(n.g.builder.getContext(), 2);
  if (!type || type.getIntOrFloatBitWidth() > 16 || (isa<FloatType>(type) && !isFloat8(type)))
    return n.unsupported("its result type is one that gpucc does not have");
  Value scale = spread(n, n[1], shapeOf(n[0]), axis, block), zero;
  if (n.has(2) && !isFloat8(type))
    zero = spread(n, n[2], shapeOf(n[0]), axis, block);
  if (!scale || (n.has(2) && !isFloat8(type) && !zero) || n.g.failed())
    return failure();
  Type precision = elementTypeOfOnnx(n.g.builder.getContext(), n.getInt("precision", 0));
  Type wide = elementOf(n[0]);
  if (!isa<FloatType>(wide))
    wide = n.g.builder.getF32Type();
  Value x = n.g.convert(n[0], precision ? precision : wide);
  return n.yield(quantized(n, x, scale, zero, type));
}

Value gpucc::frontend_to_graph::dequantized(GraphBuilder &g, Value q, Value scale, Value zero) {
  Type wide = g.builder.getF32Type();
  Value y = g.convert(q, wide);
  if (zero)
    y = g.sub(y, g.convert(zero, wide));
  return g.mul(y, g.convert(scale, wide));
}

static LogicalResult dequantizeLinear(Node &n) {
  int64_t axis = n.getInt("axis", 1), block = n.getInt("block_size", 0);
  bool useZero = n.has(2) && !isFloat8(elementOf(n[2]));
  Value scale = spread(n, n[1], shapeOf(n[0]), axis, block), zero;
  if (useZero)
    zero = spread(n, n[2], shapeOf(n[0]), axis, block);
  if (!scale || (useZero && !zero) || n.g.failed())
    return failure();
  Type type = elementOf(n[1]);
  if (int64_t wanted = n.getInt("output_dtype", 0))
    type = elementTypeOfOnnx(n.g.builder.getContext(), wanted);
  if (!type)
    return n.unsupported("its result type is one that gpucc does not have");
  return n.yield(n.g.convert(dequantized(n.g, n[0], scale, zero), type));
}

/// (a - za)·(b - zb) exactly, then requantized.
static LogicalResult qLinearMatMul(Node &n) {
  GraphBuilder &g = n.g;
  int64_t last = n.rank(0) - 1, lastB = n.rank(3) - 1;
  if (last < 1 || lastB < 1)
    return n.unsupported("operands of rank below 2");
  auto centered = [&](unsigned i, int64_t axis) -> Value {
    Value zero = spread(n, n[i + 2], shapeOf(n[i]), axis, 0);
    if (!zero)
      return {};
    return g.sub(g.convert(n[i], g.builder.getI32Type()), g.convert(zero, g.builder.getI32Type()));
  };
  Value a = centered(0, last - 1), b = centered(3, lastB);
  if (!a || !b || g.failed())
    return failure();
  Value product = g.convert(g.matmul(a, b), g.builder.getF32Type());
  if (g.failed())
    return failure();
  Dims shape = shapeOf(product);
  int64_t rank = shape.size();
  Value scaleA = spread(n, n[1], shape, rank - 2, 0), scaleB = spread(n, n[4], shape, rank - 1, 0);
  Value scaleY = spread(n, n[6], shape, rank - 2, 0), zeroY = spread(n, n[7], shape, rank - 2, 0);
  if (!scaleA || !scaleB || !scaleY || !zeroY || g.failed())
    return failure();
  Type wide = g.builder.getF32Type();
  Value y = g.mul(product, g.mul(g.convert(scaleA, wide), g.convert(scaleB, wide)));
  return n.yield(quantized(n, y, scaleY, zeroY, elementOf(n[7])));
}

/// uint8 by the operand's range, which always holds zero.
static LogicalResult dynamicQuantize(Node &n) {
  GraphBuilder &g = n.g;
  Dims all;
  for (int64_t d = 0; d < n.rank(0); ++d)
    all.push_back(d);
  Value zero = g.scalar(elementOf(n[0]), 0);
  Value high = g.binary(BinaryKind::Max, g.reduce(ReductionKind::Max, n[0], all, false), zero);
  Value low = g.binary(BinaryKind::Min, g.reduce(ReductionKind::Min, n[0], all, false), zero);
  Value scale = g.binary(BinaryKind::Div, g.sub(high, low), 255);
  Value empty = g.compare(CompareKind::Eq, scale, zero);
  Value safe = g.select(empty, g.scalar(elementOf(scale), 1), scale);
  Value start = g.unary(UnaryKind::RoundEven, g.div(g.unary(UnaryKind::Neg, low), safe));
  start = g.binary(BinaryKind::Min, g.binary(BinaryKind::Max, start, zero),
                   g.scalar(elementOf(start), 255));
  Type type = g.builder.getIntegerType(8, /*isSigned=*/false);
  Value point = g.convert(start, type);
  if (g.failed())
    return failure();
  Dims shape = shapeOf(n[0]);
  Value y = quantized(n, n[0], g.broadcastTo(safe, shape), g.broadcastTo(point, shape), type);
  return n.yield({y, scale, point});
}

ArrayRef<Entry> gpucc::frontend_to_graph::quantizationRules() {
  static const Entry rules[] = {
      {"QuantizeLinear", 10, latest, 2, quantizeLinear},
      {"DequantizeLinear", 10, latest, 2, dequantizeLinear},
      {"com.microsoft.QuantizeLinear", 1, latest, 2, quantizeLinear},
      {"com.microsoft.DequantizeLinear", 1, latest, 2, dequantizeLinear},
      {"QLinearMatMul", 10, latest, 8, qLinearMatMul},
      {"DynamicQuantizeLinear", 11, latest, 1, dynamicQuantize},
  };
  return rules;
}
