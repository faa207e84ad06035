//===- Convolution.cpp - Conv, ConvTranspose, ConvInteger -----------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Windows.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// bias [C] added along dimension 1
static Value addBias(Node &n, Value y, unsigned operand) {
  if (!n.has(operand) || n.g.failed())
    return y;
  if (n.rank(operand) != 1 || typeOf(n[operand]).getDimSize(0) != typeOf(y).getDimSize(1)) {
    (void)n.invalid("its bias must have one number per output channel");
    return {};
  }
  return n.g.add(y, n.g.broadcastDims(n[operand], shapeOf(y), {1}));
}

/// One spatial dimension at least: scalars per channel get one of size 1.
static bool checkRanks(Node &n, Value x, Value filter) {
  int64_t rank = rankOf(x), other = rankOf(filter);
  if (rank == other && rank >= 3 && rank <= 5)
    return true;
  if (rank != other || rank < 3)
    (void)n.invalid("operand and filter have ranks " + llvm::Twine(rank) + " and " +
                    llvm::Twine(other) + "; both need a batch, channels and spatial dimensions");
  else
    (void)n.unsupported(llvm::Twine(rank - 2) + " spatial dimensions; gpucc has 1 to 3");
  return false;
}

static std::optional<Value> convolve(Node &n, Value x, Value filter) {
  if (!checkRanks(n, x, filter))
    return std::nullopt;
  Dims kernel(ArrayRef<int64_t>(shapeOf(filter)).drop_front(2));
  auto window = windowOf(n, kernel, /*ceil=*/false);
  if (!window)
    return std::nullopt;
  Dims low = window->low, high = window->high, cut(low.size() + 2, 0), sizes = shapeOf(x);
  bool crops = false;
  for (size_t d = 0; d < low.size(); ++d) { // negative pads cut
    cut[d + 2] = std::max<int64_t>(0, -low[d]);
    sizes[d + 2] += std::min<int64_t>(0, low[d]) + std::min<int64_t>(0, high[d]);
    crops |= low[d] < 0 || high[d] < 0;
    low[d] = std::max<int64_t>(0, low[d]);
    high[d] = std::max<int64_t>(0, high[d]);
  }
  if (crops)
    x = n.g.slice(x, cut, sizes, Dims(sizes.size(), 1));
  return n.g.create<ConvolutionOp>(x, filter, window->strides, low, high, window->dilations,
                                   n.getInt("group", 1));
}

static LogicalResult conv(Node &n) {
  auto y = convolve(n, n[0], n[1]);
  if (!y || n.g.failed())
    return failure();
  Value biased = addBias(n, *y, 2);
  return biased ? n.yield(biased) : failure();
}

/// Integers minus their zero points, convolved exactly: in f32 while no sum can pass 2^24, else in
/// f64. `w` and its zero point may be per output channel.
static std::optional<Value> convolveIntegers(Node &n, Value x, Value zeroX, Value w, Value zeroW) {
  GraphBuilder &g = n.g;
  Dims filter = shapeOf(w);
  int64_t products = filter.empty() ? 0 : elementsOf(ArrayRef<int64_t>(filter).drop_front(1));
  bool narrow = elementOf(x).getIntOrFloatBitWidth() <= 8 && products <= (1 << 24) / (255 * 255);
  Type wide = narrow ? Type(g.builder.getF32Type()) : Type(g.builder.getF64Type());
  Value a = g.convert(x, wide), b = g.convert(w, wide);
  if (zeroX)
    a = g.sub(a, g.convert(g.reshape(zeroX, {}), wide));
  if (zeroW) {
    Value zero = g.convert(zeroW, wide);
    if (rankOf(zero) == 1 && typeOf(zero).getDimSize(0) != 1)
      b = g.sub(b, g.broadcastDims(zero, filter, {0}));
    else
      b = g.sub(b, g.reshape(zero, {}));
  }
  if (g.failed())
    return std::nullopt;
  return convolve(n, a, b);
}

static LogicalResult convInteger(Node &n) {
  auto y = convolveIntegers(n, n[0], n[2], n[1], n[3]);
  return y && !n.g.failed() ? n.yield(n.g.convert(*y, n.g.builder.getI32Type())) : failure();
}

/// Operands x, its scale and zero point, w with its own, those of y, and an i32 bias in units of
/// both scales' product.
static LogicalResult qLinearConv(Node &n) {
  GraphBuilder &g = n.g;
  if (n.rank(0) != n.rank(3))
    return n.invalid("operand and filter must have the same rank");
  auto sum = convolveIntegers(n, n[0], n[2], n[3], n[5]);
  if (!sum || g.failed())
    return failure();
  Type wide = g.builder.getF64Type();
  Value y = g.convert(*sum, wide);
  Dims shape = shapeOf(y);
  if (n.has(8))
    y = g.add(y, g.broadcastDims(g.convert(n[8], wide), shape, {1}));
  Value scale = g.convert(n[4], wide);
  if (rankOf(scale) == 1 && typeOf(scale).getDimSize(0) != 1)
    scale = g.broadcastDims(scale, shape, {1});
  else
    scale = g.reshape(scale, {});
  y = g.mul(y, g.mul(scale, g.convert(g.reshape(n[1], {}), wide)));
  y = g.unary(UnaryKind::RoundEven, g.div(y, g.convert(g.reshape(n[6], {}), wide)));
  y = g.add(y, g.convert(g.reshape(n[7], {}), wide));
  if (g.failed())
    return failure();
  bool isUnsigned = elementOf(n[7]).isUnsignedInteger();
  y = g.binary(BinaryKind::Max, y, isUnsigned ? 0.0 : -128.0);
  y = g.binary(BinaryKind::Min, y, isUnsigned ? 255.0 : 127.0);
  return n.yield(g.convert(g.convert(y, g.builder.getI32Type()), elementOf(n[7])));
}

/// Padding of a transposed convolution: output_shape, auto_pad or pads decide.
static bool transposedPads(Node &n, ArrayRef<int64_t> in, ArrayRef<int64_t> kernel,
                           const Window &window, Dims &low, Dims &high, Dims &out) {
  size_t rank = in.size();
  Dims extra = n.getInts("output_padding").value_or(Dims(rank, 0));
  auto wanted = n.getInts("output_shape");
  if (extra.size() != rank || (wanted && wanted->size() != rank)) {
    (void)n.invalid("output_padding and output_shape need one entry per spatial dimension");
    return false;
  }
  StringRef automatic = n.getString("auto_pad", "NOTSET");
  bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  for (size_t d = 0; d < rank; ++d) {
    constexpr int64_t most = 1 << 24;
    if (std::max({in[d], kernel[d], window.strides[d], window.dilations[d], extra[d]}) > most) {
      (void)n.invalid("a size, stride or dilation is above 2^24");
      return false;
    }
    int64_t full =
        window.strides[d] * (in[d] - 1) + extra[d] + (kernel[d] - 1) * window.dilations[d] + 1;
    low.push_back(window.low[d]);
    high.push_back(window.high[d]);
    if (wanted || same) {
      int64_t size = wanted ? (*wanted)[d] : in[d] * window.strides[d];
      int64_t total = std::max<int64_t>(0, full - size);
      bool upper = automatic == "SAME_UPPER";
      low[d] = upper ? total / 2 : total - total / 2;
      high[d] = total - low[d];
      extra[d] += std::max<int64_t>(0, size - full);
      full = std::max(full, size);
    } else if (automatic == "VALID") {
      low[d] = high[d] = 0;
    }
    out.push_back(full - low[d] - high[d]);
    if (out[d] < 0 || low[d] < 0 || high[d] < 0) {
      (void)n.invalid("pads take away more than the result has, or are negative");
      return false;
    }
  }
  return true;
}

/// The gradient of a convolution in its input; output_padding rows are at the high end, where the
/// gradient of a larger input is (partly) zero.
static LogicalResult convTranspose(Node &n) {
  if (!checkRanks(n, n[0], n[1]))
    return failure();
  Dims in(ArrayRef<int64_t>(shapeOf(n[0])).drop_front(2));
  Dims kernel(ArrayRef<int64_t>(shapeOf(n[1])).drop_front(2));
  Window window;
  Dims low, high, out;
  if (!readWindow(n, kernel.size(), window) ||
      !transposedPads(n, in, kernel, window, low, high, out))
    return failure();
  int64_t groups = n.getInt("group", 1);
  int64_t channels = shapeOf(n[0])[1];
  if (groups < 1 || channels % groups != 0 || shapeOf(n[1])[0] != channels)
    return n.invalid("operand channels must be a multiple of group and the filter's first size");
  // The filter is [C, O/groups, ...], which is just the convolution's O, C/groups.
  Dims shape = {shapeOf(n[0])[0], shapeOf(n[1])[1] * groups};
  // A convolution sees size (in-1)*stride + window; what it does not see stays zero.
  Dims seen(shape), padLow(shape.size(), 0), padHigh(shape.size(), 0), cut(shape.size(), 0);
  for (size_t d = 0; d < in.size(); ++d) {
    seen.push_back(window.strides[d] * (in[d] - 1) + (kernel[d] - 1) * window.dilations[d] + 1);
    cut.push_back(low[d]);
    padLow.push_back(0);
    padHigh.push_back(std::max<int64_t>(0, low[d] + out[d] - seen[d + 2]));
    shape.push_back(out[d]);
  }
  Dims zeros(in.size(), 0);
  Value y = n.g.create<ConvolutionInputGradOp>(n[0], n[1], seen, window.strides, zeros, zeros,
                                               window.dilations, groups);
  if (n.g.failed())
    return failure();
  y = n.g.pad(y, padLow, padHigh, n.g.scalar(elementOf(y), 0));
  if (n.g.failed())
    return failure();
  y = n.g.slice(y, cut, shape, Dims(shape.size(), 1));
  Value biased = addBias(n, y, 2);
  return biased ? n.yield(biased) : failure();
}

ArrayRef<Entry> gpucc::frontend_to_graph::convolutionRules() {
  static const Entry rules[] = {
      {"Conv", 1, latest, 2, conv},
      {"ConvTranspose", 1, latest, 2, convTranspose},
      {"ConvInteger", 10, latest, 2, convInteger},
      {"QLinearConv", 10, latest, 8, qLinearConv},
  };
  return rules;
}
