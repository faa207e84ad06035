//===- Signals.cpp - DFT, STFT, MelWeightMatrix, AffineGrid ---------------===//
//
// A discrete Fourier transform is a product with a matrix that is known while
// compiling: [n, m] cosines and sines. O(n m) work per signal; transforms of
// models are short.
//
// Twiddles in f32 would leave noise of 1e-7 times the signal where exact results are zero, so the
// product is formed in f64 and rounded once.
//
//   re' = re·C + im·S,  im' = im·C - re·S   (forward; S changes sign in the inverse)
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"
#include "lib/Conversion/FrontendToGraph/Rules/ElementTypes.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// Longest transform that is done as a product.
static constexpr int64_t maxLength = 4096;

/// cos (or sin) of 2π i k / period, times `factor`, as [rows, columns].
static Value twiddles(GraphBuilder &g, Type type, int64_t rows, int64_t columns, int64_t period,
                      bool sine, double factor) {
  HostTensor table(*toDType(type), {rows, columns});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < columns; ++k) { // the product modulo the period keeps full accuracy
      double angle = 2 * M_PI * double(i * k % period) / double(period);
      table.setFloat(i * columns + k, factor * (sine ? std::sin(angle) : std::cos(angle)));
    }
  return g.constant(table);
}

/// x [..., n] times a matrix [n, m]
static Value times(GraphBuilder &g, Value x, Value matrix) {
  return g.contract(x, matrix, {}, {}, {rankOf(x) - 1}, {0});
}

/// Real and imaginary part of the transform of rows that have one part or two.
static std::pair<Value, Value> spectrum(GraphBuilder &g, Value cosines, Value sines, int64_t parts,
                                        llvm::function_ref<Value(int64_t)> part) {
  Value real = part(0);
  Value re = times(g, real, cosines), im = g.unary(UnaryKind::Neg, times(g, real, sines));
  if (parts == 2) {
    Value imaginary = part(1);
    re = g.add(re, times(g, imaginary, sines));
    im = g.add(im, times(g, imaginary, cosines));
  }
  return {re, im};
}

/// Dimension `from` goes last.
static Dims toLast(int64_t rank, int64_t from) {
  Dims order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != from)
      order.push_back(d);
  order.push_back(from);
  return order;
}

/// Only a real signal's spectrum is told by its first half.
static LogicalResult invalidHalf(Node &n) {
  return n.invalid("onesided is 1 (in STFT also when it is left out) for a complex signal; a "
                   "one-sided spectrum is allowed for real signals: set onesided to 0");
}

static LogicalResult dft(Node &n) {
  GraphBuilder &g = n.g;
  int64_t rank = n.rank(0), axis = n.version() < 20 ? n.getInt("axis", 1) : -2;
  if (rank < 2)
    return n.invalid("it needs a signal dimension and one for real and imaginary parts");
  if (n.version() >= 20 && n.has(2)) {
    auto given = n.constantInts(2, "axis");
    if (!given || given->size() != 1)
      return given ? n.invalid("axis must be one number") : failure();
    axis = given->front();
  }
  auto dim = n.dimension(axis, rank);
  if (!dim)
    return failure();
  Dims shape = shapeOf(n[0]);
  int64_t length = shape[*dim], parts = shape[rank - 1];
  if (*dim == rank - 1 || parts < 1 || parts > 2 || !isFloat(n[0]))
    return n.invalid("the last dimension must hold 1 (real) or 2 (complex) numbers, and is not "
                     "transformed");
  if (n.has(1)) {
    auto given = n.constantInts(1, "dft_length");
    if (!given || given->size() != 1)
      return given ? n.invalid("dft_length must be one number") : failure();
    length = given->front();
  }
  bool inverse = n.getInt("inverse", 0) != 0, oneSided = n.getInt("onesided", 0) != 0;
  if (length < 1 || length > maxLength)
    return n.unsupported("transforms of length " + llvm::Twine(length) + " (1 to 4096 are done)");
  if (oneSided && inverse)
    return n.unsupported("an inverse transform of half a spectrum");
  if (oneSided && parts == 2)
    return invalidHalf(n);
  int64_t used = std::min(length, shape[*dim]);
  int64_t bins = oneSided ? length / 2 + 1 : length;
  Type wide = g.builder.getF64Type();
  // [..., n] real and imaginary
  auto part = [&](int64_t i) {
    Value x = g.slice(g.slice(n[0], rank - 1, i, 1), *dim, 0, used);
    if (g.failed())
      return x;
    Dims without(shape);
    without[*dim] = used;
    without.pop_back();
    return g.convert(g.transpose(g.reshape(x, without), toLast(rank - 1, *dim)), wide);
  };
  double scale = inverse ? 1.0 / length : 1;
  Value cosines = twiddles(g, wide, used, bins, length, false, scale);
  Value sines = twiddles(g, wide, used, bins, length, true, inverse ? -scale : scale);
  auto [re, im] = spectrum(g, cosines, sines, parts, part);
  if (g.failed())
    return failure();
  Dims back(rank - 1);
  for (auto [i, d] : llvm::enumerate(toLast(rank - 1, *dim)))
    back[d] = i;
  Value both[] = {g.insertDims(g.transpose(re, back), {rank - 1}),
                  g.insertDims(g.transpose(im, back), {rank - 1})};
  return g.failed() ? failure() : n.yield(g.convert(g.concat(both, rank - 1), elementOf(n[0])));
}

/// Frames of a signal [batch, length, 1 or 2], windowed and transformed: [batch, frames, bins, 2].
static LogicalResult shortTimeFourier(Node &n) {
  GraphBuilder &g = n.g;
  auto step = n.constantInts(1, "frame_step");
  if (!step)
    return failure();
  Dims shape = shapeOf(n[0]);
  int64_t length = n.has(2) ? elementsOf(shapeOf(n[2])) : 0,
          parts = shape.size() == 3 ? shape[2] : 1;
  if (n.has(3)) {
    auto given = n.constantInts(3, "frame_length");
    if (!given || given->size() != 1)
      return given ? n.invalid("frame_length must be one number") : failure();
    length = given->front();
  }
  if (shape.size() < 2 || shape.size() > 3 || parts < 1 || parts > 2 || step->size() != 1 ||
      step->front() < 1 || length < 1 || length > shape[1])
    return n.invalid(
        "it takes a signal [batch, length, 1 or 2], a step and frames that fit into it");
  if (length > maxLength)
    return n.unsupported("transforms of length " + llvm::Twine(length) + " (1 to 4096 are done)");
  int64_t frames = (shape[1] - length) / step->front() + 1;
  bool oneSided = n.getInt("onesided", 1) != 0;
  if (oneSided && parts == 2)
    return invalidHalf(n);
  int64_t bins = oneSided ? length / 2 + 1 : length;
  Type index = g.builder.getI64Type(), wide = g.builder.getF64Type();
  Value start =
      g.binary(BinaryKind::Mul, g.iota({frames, length}, 0, index), double(step->front()));
  Value at = g.add(start, g.iota({frames, length}, 1, index));
  auto framed = [&](int64_t i) { // [batch, frames, length]
    Value x = g.slice(g.reshape(n[0], {shape[0], shape[1], parts}), 2, i, 1);
    if (g.failed())
      return x;
    x = g.gather(g.convert(g.reshape(x, {shape[0], shape[1]}), wide), at, 1);
    return n.has(2) ? g.mul(x, g.convert(n[2], wide)) : x;
  };
  Value cosines = twiddles(g, wide, length, bins, length, false, 1);
  Value sines = twiddles(g, wide, length, bins, length, true, 1);
  auto [re, im] = spectrum(g, cosines, sines, parts, framed);
  if (g.failed())
    return failure();
  Value both[] = {g.insertDims(re, {3}), g.insertDims(im, {3})};
  return n.yield(g.convert(g.concat(both, 3), elementOf(n[0])));
}

/// Triangles on the mel scale, [bins of the spectrum, bands]; all of it is known while compiling.
static LogicalResult melWeights(Node &n) {
  double values[5];
  for (unsigned i = 0; i < 5; ++i) {
    auto number = n.constantNumber(i, "a parameter of the filter bank");
    if (!number)
      return failure();
    values[i] = *number;
  }
  for (double value : values)
    if (!(value >= 0 && value <= 1 << 24))
      return n.invalid("a parameter of the filter bank is negative or above 2^24");
  if (values[2] == 0)
    return n.invalid("the sample rate is 0");
  auto bands = static_cast<int64_t>(values[0]), length = static_cast<int64_t>(values[1]);
  Type type = elementTypeOfOnnx(n.g.builder.getContext(), n.getInt("output_datatype", 1));
  if (!type || !isa<FloatType>(type))
    return n.unsupported("its output_datatype is one that gpucc does not have");
  if (bands < 1 || length < 1 || bands > 1 << 16 || length > 1 << 20 || values[2] <= 0)
    return n.invalid("bands, length and sample rate must be positive and of moderate size");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = mel(values[3]), step = (mel(values[4]) - low) / double(bands + 2);
  std::vector<int64_t> edge; // bands + 2 of them, as bins of the spectrum
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10.0, (low + step * double(i)) / 2595) - 1);
    double bin = std::floor(double(length + 1) * hertz / values[2]);
    edge.push_back(static_cast<int64_t>(std::clamp(bin, -1e15, 1e15)));
  }
  int64_t bins = length / 2 + 1;
  HostTensor table(*toDType(type), {bins, bands});
  auto set = [&](int64_t bin, int64_t band, double value) {
    table.setFloat(bin * bands + band, value);
  };
  for (int64_t b = 0; b < bands; ++b) {
    int64_t left = edge[b], center = edge[b + 1], right = edge[b + 2];
    int64_t first = std::max<int64_t>(left, 0), middle = std::max<int64_t>(center, 0);
    if (left == center && center >= 0 && center < bins)
      set(center, b, 1);
    for (int64_t i = first; left != center && i <= std::min(center, bins - 1); ++i)
      set(i, b, double(i - left) / double(center - left));
    for (int64_t i = middle; right > center && i < std::min(right, bins); ++i)
      set(i, b, double(right - i) / double(right - center));
  }
  return n.yield(n.g.constant(table));
}

/// Coordinates -1 … 1 of a dimension: its corners, or the centers of its cells.
static double coordinate(int64_t i, int64_t size, bool corners) {
  if (corners)
    return size == 1 ? -1 : -1 + 2.0 * i / (size - 1);
  return -1 + (2.0 * i + 1) / size;
}

/// theta [N,2,3] (or [N,3,4]) times the grid of homogeneous coordinates: [N, sizes..., 2 or 3].
static LogicalResult affineGrid(Node &n) {
  auto size = n.constantInts(1, "size");
  if (!size)
    return failure();
  int64_t spatial = int64_t(size->size()) - 2;
  Dims theta = shapeOf(n[0]);
  if ((spatial != 2 && spatial != 3) || theta.size() != 3 || theta[1] != spatial ||
      theta[2] != spatial + 1)
    return n.invalid("theta must be [N,2,3] for a size of 4 numbers, [N,3,4] for one of 5");
  ArrayRef<int64_t> sizes = ArrayRef<int64_t>(*size).drop_front(2);
  int64_t points = 1;
  for (int64_t s : sizes) {
    points *= std::clamp<int64_t>(s, 0, 1 << 25);
    if (s < 1 || points > 1 << 24)
      return n.invalid("a size is below 1, or the grid has more than 2^24 points");
  }
  bool corners = n.getInt("align_corners", 0) != 0;
  HostTensor grid(*toDType(elementOf(n[0])), {points, spatial + 1});
  for (int64_t p = 0; p < points; ++p) {
    int64_t rest = p;
    for (int64_t d = spatial; d-- > 0;) { // the last dimension is x, the first coordinate
      grid.setFloat(p * (spatial + 1) + (spatial - 1 - d),
                    coordinate(rest % sizes[d], sizes[d], corners));
      rest /= sizes[d];
    }
    grid.setFloat(p * (spatial + 1) + spatial, 1);
  }
  // [N,2,3] · [P,3] = [N,2,P]
  Value y = n.g.contract(n[0], n.g.constant(grid), {}, {}, {2}, {1});
  if (n.g.failed())
    return failure();
  Dims shape{theta[0]};
  llvm::append_range(shape, sizes);
  shape.push_back(spatial);
  return n.yield(n.g.reshape(n.g.transpose(y, {0, 2, 1}), shape));
}

ArrayRef<Entry> gpucc::frontend_to_graph::signalRules() {
  static const Entry rules[] = {
      {"DFT", 17, latest, 1, dft},
      {"STFT", 17, latest, 2, shortTimeFourier},
      {"MelWeightMatrix", 17, latest, 5, melWeights},
      {"AffineGrid", 20, latest, 2, affineGrid},
  };
  return rules;
}
