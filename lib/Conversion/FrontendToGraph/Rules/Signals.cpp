//===- Signals.cpp - DFT, AffineGrid --------------------------------------===//
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

/// Dimension `from` goes last.
static Dims toLast(int64_t rank, int64_t from) {
  Dims order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != from)
      order.push_back(d);
  order.push_back(from);
  return order;
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
  Value real = part(0);
  Value re = times(g, real, cosines), im = g.unary(UnaryKind::Neg, times(g, real, sines));
  if (parts == 2) {
    Value imaginary = part(1);
    re = g.add(re, times(g, imaginary, sines));
    im = g.add(im, times(g, imaginary, cosines));
  }
  if (g.failed())
    return failure();
  Dims back(rank - 1);
  for (auto [i, d] : llvm::enumerate(toLast(rank - 1, *dim)))
    back[d] = i;
  Value both[] = {g.insertDims(g.transpose(re, back), {rank - 1}),
                  g.insertDims(g.transpose(im, back), {rank - 1})};
  return g.failed() ? failure() : n.yield(g.convert(g.concat(both, rank - 1), elementOf(n[0])));
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
      {"AffineGrid", 20, latest, 2, affineGrid},
  };
  return rules;
}
