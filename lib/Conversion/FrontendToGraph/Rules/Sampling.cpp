//===- Sampling.cpp - GridSample, RoiAlign, DeformConv --------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Sampling.h"

#include "lib/Conversion/FrontendToGraph/Rules/Windows.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static Value clamped(GraphBuilder &g, Value x, double low, double high) {
  return g.binary(BinaryKind::Min, g.binary(BinaryKind::Max, x, low), g.splatLike(x, high));
}
static Value between(GraphBuilder &g, Value x, double low, double high) {
  return g.binary(BinaryKind::And, g.compare(CompareKind::Ge, x, g.splatLike(x, low)),
                  g.compare(CompareKind::Le, x, g.splatLike(x, high)));
}

Taps gpucc::frontend_to_graph::linearTaps(GraphBuilder &g, Value position, int64_t size) {
  Value low = g.unary(UnaryKind::Floor, position), high = g.binary(BinaryKind::Add, low, 1);
  Value t = g.sub(position, low), rest = g.sub(g.splatLike(t, 1), t);
  auto tap = [&](Value at, Value weight) -> Tap {
    return {clamped(g, at, 0, double(size - 1)), between(g, at, 0, double(size - 1)), weight};
  };
  return {tap(low, rest), tap(high, t)};
}

Value gpucc::frontend_to_graph::tapped(GraphBuilder &g, Value x, Value image,
                                       ArrayRef<Tap> oneOfEach) {
  Dims shape = shapeOf(x), points = shapeOf(oneOfEach[0].index), channels(points.size(), 1);
  Type index = g.builder.getI64Type();
  channels[1] = shape[1];
  Dims images(points.size(), 1);
  images[0] = points[0];
  int64_t stride = 1;
  Value linear, valid, weight;
  for (size_t d = oneOfEach.size(); d-- > 0;) {
    const Tap &tap = oneOfEach[d];
    Value step = g.binary(BinaryKind::Mul, g.convert(tap.index, index), double(stride));
    linear = linear ? g.add(linear, step) : step;
    if (tap.valid)
      valid = valid ? g.binary(BinaryKind::And, valid, tap.valid) : tap.valid;
    if (tap.weight)
      weight = weight ? g.mul(weight, tap.weight) : tap.weight;
    stride *= shape[d + 2];
  }
  Value channel = g.binary(BinaryKind::Mul, g.iota(channels, 1, index), double(stride));
  if (!image)
    image = g.iota(images, 0, index);
  Value base = g.binary(BinaryKind::Mul, image, double(stride * shape[1]));
  linear = g.add(g.add(base, channel), linear);
  if (g.failed())
    return linear;
  Value value = g.gather(g.reshape(x, {elementsOf(shape)}), linear, 0);
  if (valid)
    value = g.select(valid, value, g.scalar(elementOf(value), 0));
  return weight ? g.mul(value, g.convert(weight, elementOf(value))) : value;
}

void gpucc::frontend_to_graph::forEachCombination(ArrayRef<Taps> taps,
                                                  llvm::function_ref<void(ArrayRef<Tap>)> visit) {
  SmallVector<size_t> at(taps.size(), 0);
  while (true) {
    SmallVector<Tap> one;
    for (auto [d, i] : llvm::enumerate(at))
      one.push_back(taps[d][i]);
    visit(one);
    size_t d = taps.size();
    while (d > 0 && ++at[d - 1] == taps[d - 1].size())
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

Value gpucc::frontend_to_graph::interpolated(GraphBuilder &g, Value x, Value image,
                                             ArrayRef<Taps> taps) {
  Value sum;
  forEachCombination(taps, [&](ArrayRef<Tap> one) {
    if (g.failed())
      return;
    Value value = tapped(g, x, image, one);
    sum = sum ? g.add(sum, value) : value;
  });
  return sum ? sum : x;
}

namespace {
/// How GridSample treats positions beyond the image.
enum class Beyond { Zeros, Border, Reflection };

/// One dimension of a GridSample.
struct GridAxis {
  GraphBuilder &g;
  int64_t size;
  bool aligned;
  Beyond beyond;

  double low() const { return aligned ? 0 : -0.5; }
  double high() const { return aligned ? double(size - 1) : size - 0.5; }

  /// [-1, 1] to elements. No element is near infinity, NaN or what is above 2^62: as ONNX Runtime
  /// does, they are the low border.
  Value position(Value normalized) const {
    Value p = scaled(normalized);
    Value near = g.compare(CompareKind::Le, g.unary(UnaryKind::Abs, p), g.splatLike(p, 0x1p62));
    return g.select(near, p, g.splatLike(p, low()));
  }
  Value scaled(Value normalized) const {
    Value unit = g.binary(BinaryKind::Add, normalized, 1);
    if (aligned)
      return g.binary(BinaryKind::Mul, unit, (size - 1) / 2.0);
    return g.binary(BinaryKind::Div,
                    g.binary(BinaryKind::Sub, g.binary(BinaryKind::Mul, unit, double(size)), 1), 2);
  }
  /// Mirrored at the borders until it is inside.
  Value reflected(Value p) const {
    double range = high() - low();
    if (range <= 0)
      return g.splatLike(p, 0);
    Value along = g.binary(BinaryKind::Mod, g.binary(BinaryKind::Sub, p, low()), 2 * range);
    Value back = g.sub(g.splatLike(along, 2 * range), along);
    return g.binary(BinaryKind::Add, g.binary(BinaryKind::Min, along, back), low());
  }
  /// Positions outside are moved before they are split into taps.
  Value moved(Value p) const {
    if (beyond == Beyond::Zeros)
      return p;
    Value inside = between(g, p, low(), high());
    Value other = beyond == Beyond::Border ? clamped(g, p, 0, double(size - 1)) : reflected(p);
    return g.select(inside, p, other);
  }
  Tap tap(Value at, Value weight) const {
    Value valid = beyond == Beyond::Zeros ? between(g, at, 0, double(size - 1)) : Value();
    if (beyond == Beyond::Reflection)
      at = g.select(between(g, at, low(), high()), at, reflected(at));
    return {clamped(g, at, 0, double(size - 1)), valid, weight};
  }
  /// Keys 1981 with a = -0.75: the weight at distance t of an element.
  Value cubic(Value t, bool far) const {
    constexpr double a = -0.75;
    auto polynomial = [&](double c3, double c2, double c1, double c0) {
      Value y = g.binary(BinaryKind::Add, g.binary(BinaryKind::Mul, t, c3), c2);
      y = g.binary(BinaryKind::Add, g.mul(y, t), c1);
      return g.binary(BinaryKind::Add, g.mul(y, t), c0);
    };
    return far ? polynomial(a, -5 * a, 8 * a, -4 * a) : polynomial(a + 2, -(a + 3), 0, 1);
  }
  Taps taps(Value p, StringRef mode) const {
    if (mode == "nearest") // rounded first: a half is decided before it is mirrored
      return {tap(moved(g.unary(UnaryKind::RoundEven, p)), {})};
    // PyTorch (and ONNX Runtime) clamp the elements of a cubic, not the position.
    if (mode != "cubic" || beyond != Beyond::Border)
      p = moved(p);
    Value f = g.unary(UnaryKind::Floor, p), t = g.sub(p, f);
    Value rest = g.sub(g.splatLike(t, 1), t);
    auto plus = [&](Value v, double d) { return g.binary(BinaryKind::Add, v, d); };
    if (mode == "linear")
      return {tap(f, rest), tap(plus(f, 1), t)};
    return {tap(plus(f, -1), cubic(plus(t, 1), true)), tap(f, cubic(t, false)),
            tap(plus(f, 1), cubic(rest, false)), tap(plus(f, 2), cubic(plus(rest, 1), true))};
  }
};
} // namespace

/// Positions are the last dimension of the grid, innermost dimension first (x, y, z).
static LogicalResult gridSample(Node &n) {
  GraphBuilder &g = n.g;
  int64_t spatial = n.rank(0) - 2;
  Dims grid = shapeOf(n[1]), shape = shapeOf(n[0]);
  if (spatial < 1 || n.rank(1) != n.rank(0) || grid.back() != spatial || grid[0] != shape[0])
    return n.invalid("the grid must have the operand's rank and batch and one number per spatial "
                     "dimension");
  if (elementsOf(shape) == 0)
    return n.unsupported("an empty image");
  StringRef mode = n.getString("mode", "linear"), padding = n.getString("padding_mode", "zeros");
  mode = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
  if (mode != "linear" && mode != "nearest" && mode != "cubic")
    return n.invalid("mode is '" + mode + "'; linear, nearest and cubic are allowed");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return n.invalid("padding_mode is '" + padding + "'; zeros, border and reflection are allowed");
  Beyond beyond = padding == "zeros"    ? Beyond::Zeros
                  : padding == "border" ? Beyond::Border
                                        : Beyond::Reflection;
  bool aligned = n.getInt("align_corners", 0) != 0;
  Type wide =
      elementOf(n[1]).getIntOrFloatBitWidth() < 32 ? Type(g.builder.getF32Type()) : elementOf(n[1]);
  Dims points(grid.begin(), grid.end() - 1);
  points.insert(points.begin() + 1, 1);
  SmallVector<Taps> taps;
  for (int64_t d = 0; d < spatial; ++d) {
    GridAxis axis{g, shape[d + 2], aligned, beyond};
    Value one = g.slice(g.convert(n[1], wide), grid.size() - 1, spatial - 1 - d, 1);
    if (g.failed())
      return failure();
    taps.push_back(axis.taps(axis.position(g.reshape(one, points)), mode));
  }
  if (g.failed())
    return failure();
  return n.yield(interpolated(g, n[0], {}, taps));
}

namespace {
/// The sample positions of RoiAlign along one dimension.
struct RoiAxis {
  GraphBuilder &g;
  int64_t size, bins, samples;
  Value start, end; ///< of each box, [R]
  bool halfPixel;

  /// [R, bins * samples], and whether each lies so far outside that it is zero.
  Taps taps(ArrayRef<int64_t> shape, int64_t dim) const {
    Value length = g.sub(end, start);
    if (!halfPixel)
      length = g.binary(BinaryKind::Max, length, 1);
    Value bin = g.binary(BinaryKind::Div, length, double(bins));
    Type type = elementOf(start);
    Value i = g.iota({1, bins * samples}, 1, type);
    Value which = g.unary(UnaryKind::Floor, g.binary(BinaryKind::Div, i, double(samples)));
    Value inside = g.sub(i, g.binary(BinaryKind::Mul, which, double(samples)));
    Value part = g.binary(BinaryKind::Div, g.binary(BinaryKind::Add, inside, 0.5), double(samples));
    int64_t boxes = shape[0];
    Value at =
        g.add(g.reshape(start, {boxes, 1}), g.mul(g.add(which, part), g.reshape(bin, {boxes, 1})));
    if (g.failed())
      return {};
    Dims place(shape.size(), 1);
    place[0] = boxes;
    place[dim] = bins * samples;
    at = g.reshape(at, place);
    Value valid = between(g, at, -1, double(size));
    Value p = clamped(g, at, 0, double(size - 1));
    Value low = g.unary(UnaryKind::Floor, p), t = g.sub(p, low);
    Value high = g.binary(BinaryKind::Min, g.binary(BinaryKind::Add, low, 1), double(size - 1));
    return {{low, valid, g.sub(g.splatLike(t, 1), t)}, {high, valid, t}};
  }
};
} // namespace

/// Boxes [R,4] (x1, y1, x2, y2) of images batch_indices[r]: bins of samples, averaged or the
/// greatest.
static LogicalResult roiAlign(Node &n) {
  GraphBuilder &g = n.g;
  Dims shape = shapeOf(n[0]), boxes = shapeOf(n[1]);
  if (shape.size() != 4 || boxes.size() != 2 || boxes[1] != 4 || n.rank(2) != 1 ||
      shapeOf(n[2])[0] != boxes[0])
    return n.invalid("it takes images [N,C,H,W], boxes [R,4] and one batch index per box");
  int64_t samples = n.getInt("sampling_ratio", 0);
  int64_t bins[] = {n.getInt("output_height", 1), n.getInt("output_width", 1)};
  if (samples <= 0)
    return n.unsupported("sampling_ratio 0: the number of samples then depends on the boxes");
  if (bins[0] < 1 || bins[1] < 1 || std::max({samples, bins[0], bins[1]}) > 1 << 20)
    return n.invalid("output_height, output_width or sampling_ratio is below 1 or above 2^20");
  bool half = n.version() >= 16 &&
              n.getString("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  Value scaled = g.binary(BinaryKind::Mul, n[1], double(n.getFloat("spatial_scale", 1)));
  if (half)
    scaled = g.binary(BinaryKind::Sub, scaled, 0.5);
  auto column = [&](int64_t i) { return g.reshape(g.slice(scaled, 1, i, 1), {boxes[0]}); };
  Dims points{boxes[0], 1, bins[0] * samples, bins[1] * samples};
  SmallVector<Taps> taps;
  for (int64_t d = 0; d < 2; ++d) {
    RoiAxis axis{g, shape[d + 2], bins[d], samples, column(1 - d), column(3 - d), half};
    if (g.failed())
      return failure();
    taps.push_back(axis.taps(points, d + 2));
    if (g.failed())
      return failure();
    for (Tap &tap : taps.back())
      for (Value *v : {&tap.index, &tap.valid, &tap.weight})
        *v = g.broadcastTo(*v, points);
  }
  Value image = g.reshape(g.convert(n[2], g.builder.getI64Type()), {boxes[0], 1, 1, 1});
  bool greatest = n.getString("mode", "avg") == "max";
  Value value;
  forEachCombination(taps, [&](ArrayRef<Tap> one) {
    if (g.failed())
      return;
    Value corner = tapped(g, n[0], image, one);
    value = !value     ? corner
            : greatest ? g.binary(BinaryKind::Max, value, corner)
                       : g.add(value, corner);
  });
  if (g.failed())
    return failure();
  value = g.reshape(value, {boxes[0], shape[1], bins[0], samples, bins[1], samples});
  return n.yield(greatest ? g.reduce(ReductionKind::Max, value, {3, 5}, false)
                          : g.mean(value, {3, 5}, false));
}

namespace {
struct Deformation {
  int64_t groups, offsetGroups, outHeight, outWidth, cells;
};
} // namespace

/// The image under each cell of each window, moved by its offset: [N*G, C/G, cells, oH, oW].
static Value deformedColumns(Node &n, const Deformation &d, const Window &w) {
  GraphBuilder &g = n.g;
  Dims shape = shapeOf(n[0]), kernel = shapeOf(n[1]);
  int64_t images = shape[0] * d.offsetGroups;
  Value x = g.reshape(n[0], {images, shape[1] / d.offsetGroups, shape[2], shape[3]});
  Value offsets = g.reshape(n[2], {images, 1, d.cells, 2, d.outHeight, d.outWidth});
  if (g.failed())
    return x;
  Type type = elementOf(offsets);
  Dims all{1, 1, d.cells, d.outHeight, d.outWidth};
  SmallVector<Taps> taps;
  for (int64_t dim = 0; dim < 2; ++dim) {
    Value cell = g.iota(all, 2, type);
    Value row = g.unary(UnaryKind::Floor, g.binary(BinaryKind::Div, cell, double(kernel[3])));
    if (dim == 1)
      row = g.sub(cell, g.binary(BinaryKind::Mul, row, double(kernel[3])));
    Value place = g.binary(BinaryKind::Mul, g.iota(all, 3 + dim, type), double(w.strides[dim]));
    place = g.add(place, g.binary(BinaryKind::Mul, row, double(w.dilations[dim])));
    place = g.binary(BinaryKind::Sub, place, double(w.low[dim]));
    Value moved =
        g.reshape(g.slice(offsets, 3, dim, 1), {images, 1, d.cells, d.outHeight, d.outWidth});
    taps.push_back(linearTaps(g, g.add(moved, place), shape[dim + 2]));
  }
  Value columns = interpolated(g, x, {}, taps);
  if (n.has(4) && !g.failed())
    columns = g.mul(columns, g.reshape(n[4], {images, 1, d.cells, d.outHeight, d.outWidth}));
  return columns;
}

/// A convolution whose window cells are moved by offsets computed at run time (Dai et al. 2017).
static LogicalResult deformConv(Node &n) {
  GraphBuilder &g = n.g;
  if (n.rank(0) != 4 || n.rank(1) != 4 || n.rank(2) != 4)
    return n.unsupported("other than two spatial dimensions");
  Dims x = shapeOf(n[0]), w = shapeOf(n[1]), offset = shapeOf(n[2]);
  Window window;
  if (!readWindow(n, 2, window))
    return failure();
  Deformation d{n.getInt("group", 1), n.getInt("offset_group", 1), offset[2], offset[3],
                w[2] * w[3]};
  if (d.groups < 1 || d.offsetGroups < 1 || x[1] % d.groups || x[1] % d.offsetGroups ||
      w[0] % d.groups || w[1] != x[1] / d.groups || offset[0] != x[0] ||
      offset[1] != d.offsetGroups * d.cells * 2)
    return n.invalid("channels, groups, filter and offsets do not fit together");
  Value columns = deformedColumns(n, d, window);
  if (g.failed())
    return failure();
  int64_t area = d.outHeight * d.outWidth, depth = w[1] * d.cells;
  columns = g.reshape(columns, {x[0], d.groups, depth, area});
  Value filter = g.reshape(n[1], {d.groups, w[0] / d.groups, depth});
  Value y = g.contract(filter, columns, {0}, {1}, {2}, {2}); // [groups, O/groups, N, area]
  if (g.failed())
    return failure();
  y = g.reshape(g.transpose(y, {2, 0, 1, 3}), {x[0], w[0], d.outHeight, d.outWidth});
  if (n.has(3))
    y = g.add(y, g.broadcastDims(n[3], shapeOf(y), {1}));
  return n.yield(y);
}

ArrayRef<Entry> gpucc::frontend_to_graph::samplingRules() {
  static const Entry rules[] = {
      {"GridSample", 16, latest, 2, gridSample},
      {"RoiAlign", 10, latest, 3, roiAlign},
      {"DeformConv", 19, latest, 3, deformConv},
  };
  return rules;
}
