//===- Resize.cpp - Resize, Upsample --------------------------------------===//
//
// Each dimension is resized by itself, as a product with an [out, in] matrix of
// weights that is known while compiling (nearest, linear, cubic, antialiased:
// only the weights differ). Nearest becomes a gather: no arithmetic on values.
//
//   in 2, out 4, linear, half_pixel:
//     rows [1 0] [.75 .25] [.25 .75] [0 1]
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

namespace {
struct Settings {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, outside = 0;
  bool excludeOutside = false, antialias = false;
};

/// One dimension: sizes, scale, and the region of interest (tf_crop_and_resize).
struct Axis {
  int64_t in, out;
  double scale, roiStart = 0, roiEnd = 1;
};

/// The position in the operand of element `x` of the result.
double position(const Settings &s, const Axis &a, int64_t x) {
  // The definition takes the length before rounding down: 4 * 0.6 = 2.4.
  if (s.coordinates == "align_corners")
    return a.in * a.scale == 1 ? 0 : x * (a.in - 1) / (a.in * a.scale - 1);
  if (s.coordinates == "asymmetric")
    return x / a.scale;
  if (s.coordinates == "pytorch_half_pixel")
    return a.out == 1 ? 0 : (x + 0.5) / a.scale - 0.5;
  if (s.coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5) / a.scale;
  if (s.coordinates == "tf_crop_and_resize")
    return a.out == 1
               ? 0.5 * (a.roiStart + a.roiEnd) * (a.in - 1)
               : a.roiStart * (a.in - 1) + x * (a.roiEnd - a.roiStart) * (a.in - 1) / (a.out - 1);
  if (s.coordinates == "half_pixel_symmetric") {
    double adjusted = a.out / (a.scale * a.in);
    double center = a.in / 2.0, offset = center * (1 - adjusted);
    return offset + (x + 0.5) / a.scale - 0.5;
  }
  return (x + 0.5) / a.scale - 0.5;
}

int64_t nearestIndex(const Settings &s, double p) {
  if (s.nearest == "ceil")
    return std::ceil(p);
  if (s.nearest == "floor")
    return std::floor(p);
  if (s.nearest == "round_prefer_ceil")
    return std::floor(p + 0.5);
  return std::ceil(p - 0.5); // round_prefer_floor
}

double cubicWeight(double a, double x) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Weights of one row; positions outside take the nearest element, or are left out.
void fillRow(const Settings &s, const Axis &a, double p, double *row) {
  bool cubic = s.mode == "cubic";
  double stretch = s.antialias ? std::min(a.scale, 1.0) : 1;
  double reach = (cubic ? 2 : 1) / stretch;
  int64_t first = std::floor(p - reach) + 1, last = std::ceil(p + reach) - 1;
  if (!s.antialias) {
    first = std::floor(p) - (cubic ? 1 : 0);
    last = std::floor(p) + (cubic ? 2 : 1);
  }
  double sum = 0;
  for (int64_t i = first; i <= last; ++i) {
    double x = (p - i) * stretch;
    double w = cubic ? cubicWeight(s.cubic, x) : std::max(0.0, 1 - std::fabs(x));
    bool outside = i < 0 || i >= a.in;
    if (outside && s.excludeOutside)
      continue;
    sum += w;
    row[std::clamp<int64_t>(i, 0, a.in - 1)] += w;
  }
  if ((s.excludeOutside || s.antialias) && sum != 0)
    for (int64_t i = 0; i < a.in; ++i)
      row[i] /= sum;
}
} // namespace

/// Resizes one dimension of x.
static Value resizeDim(GraphBuilder &g, const Settings &s, const Axis &a, Value x, int64_t dim) {
  if (s.mode == "nearest") {
    SmallVector<int64_t> index;
    for (int64_t o = 0; o < a.out; ++o)
      index.push_back(std::clamp<int64_t>(nearestIndex(s, position(s, a, o)), 0, a.in - 1));
    return g.gather(x, g.constantInts(index), dim);
  }
  HostTensor weights(*toDType(elementOf(x)), {a.out, a.in});
  std::vector<double> row(a.in);
  for (int64_t o = 0; o < a.out; ++o) {
    std::fill(row.begin(), row.end(), 0.0);
    fillRow(s, a, position(s, a, o), row.data());
    for (int64_t i = 0; i < a.in; ++i)
      weights.setFloat(o * a.in + i, row[i]);
  }
  // [.., in, ..] · [out, in] puts out last; it goes back to its place.
  Value y = g.contract(x, g.constant(weights), {}, {}, {dim}, {1});
  if (g.failed())
    return y;
  Dims back;
  for (int64_t d = 0; d < rankOf(x); ++d)
    back.push_back(d < dim ? d : d == dim ? rankOf(x) - 1 : d - 1);
  return g.transpose(y, back);
}

/// tf_crop_and_resize: rows whose position lies outside are replaced.
static Value replaceOutside(GraphBuilder &g, const Settings &s, const Axis &a, Value y,
                            int64_t dim) {
  HostTensor outside(DType::I1, {a.out});
  bool any = false;
  for (int64_t o = 0; o < a.out; ++o) {
    double p = position(s, a, o);
    bool out = p < 0 || p > a.in - 1;
    outside.setInt(o, out);
    any |= out;
  }
  if (!any)
    return y;
  Value mask = g.broadcastDims(g.constant(outside), shapeOf(y), {dim});
  return g.select(mask, g.scalar(elementOf(y), s.outside), y);
}

/// Sizes and scales of all dimensions; false after an error.
static bool readSizes(Node &n, unsigned scalesAt, SmallVector<Axis> &axes) {
  Dims in = shapeOf(n[0]), listed = n.getInts("axes").value_or(Dims());
  if (!n.hasAttr("axes"))
    for (int64_t d = 0; d < n.rank(0); ++d)
      listed.push_back(d);
  for (int64_t size : in)
    axes.push_back({size, size, 1.0, 0, 1});
  bool bySize = scalesAt == 2 && n.has(3);
  auto values = n.constant(bySize ? 3 : scalesAt);
  if (!values)
    return n.constantInts(bySize ? 3 : scalesAt, bySize ? "sizes" : "scales").has_value();
  if (values->numElements() != static_cast<int64_t>(listed.size())) {
    (void)n.invalid("sizes or scales have " + llvm::Twine(values->numElements()) + " entries for " +
                    llvm::Twine(listed.size()) + " axes");
    return false;
  }
  double common = 0;
  StringRef policy = n.getString("keep_aspect_ratio_policy", "stretch");
  for (auto [i, d] : llvm::enumerate(listed)) {
    auto dim = n.dimension(d, n.rank(0));
    if (!dim)
      return false;
    Axis &a = axes[*dim];
    double v = values->getFloat(i);
    a.scale = bySize ? v / a.in : v;
    if (!(a.scale > 0) || a.in == 0 || a.in * a.scale > double(1 << 24) ||
        a.in * a.scale * a.in > double(1 << 28)) {
      (void)n.invalid("a scale is not positive, or the result too large");
      return false;
    }
    a.out = bySize ? int64_t(v) : int64_t(std::floor(a.in * v));
    common = i == 0                    ? a.scale
             : policy == "not_smaller" ? std::max(common, a.scale)
                                       : std::min(common, a.scale);
  }
  if (bySize && policy != "stretch")
    for (int64_t d : listed) {
      Axis &a = axes[d < 0 ? d + n.rank(0) : d];
      a.scale = common;
      a.out = std::floor(a.in * common + 0.5);
    }
  return true;
}

static bool readRoi(Node &n, SmallVector<Axis> &axes) {
  auto roi = n.constant(1);
  if (!roi)
    return n.constantInts(1, "roi").has_value();
  Dims listed = n.getInts("axes").value_or(Dims());
  if (!n.hasAttr("axes"))
    for (int64_t d = 0; d < n.rank(0); ++d)
      listed.push_back(d);
  int64_t count = listed.size();
  if (roi->numElements() != 2 * count) {
    (void)n.invalid("roi needs a start and an end per axis");
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    Axis &a = axes[listed[i] < 0 ? listed[i] + n.rank(0) : listed[i]];
    a.roiStart = roi->getFloat(i);
    a.roiEnd = roi->getFloat(count + i);
  }
  return true;
}

static LogicalResult resizeAll(Node &n, const Settings &s, SmallVector<Axis> &axes) {
  Value x = n[0];
  if (s.mode != "nearest" && !isFloat(x))
    x = n.g.convert(x, n.g.builder.getF32Type());
  bool crop = s.coordinates == "tf_crop_and_resize";
  for (auto [d, a] : llvm::enumerate(axes)) {
    if (a.in == a.out && a.scale == 1 && !(crop && (a.roiStart != 0 || a.roiEnd != 1)))
      continue;
    x = resizeDim(n.g, s, a, x, d);
    if (crop && !n.g.failed())
      x = replaceOutside(n.g, s, a, x, d);
    if (n.g.failed())
      return failure();
  }
  if (elementOf(x) != elementOf(n[0])) // integers: rounded to nearest, as the definition casts
    x = n.g.convert(x, elementOf(n[0]));
  return n.yield(x);
}

static LogicalResult resize(Node &n) {
  Settings s;
  bool first = n.version() < 11;
  s.mode = n.getString("mode", "nearest").str();
  s.coordinates =
      n.getString("coordinate_transformation_mode", first ? "asymmetric" : "half_pixel").str();
  s.nearest = n.getString("nearest_mode", first ? "floor" : "round_prefer_floor").str();
  s.cubic = n.getFloat("cubic_coeff_a", -0.75f);
  s.outside = n.getFloat("extrapolation_value", 0);
  s.excludeOutside = n.getInt("exclude_outside", 0) != 0;
  s.antialias = n.getInt("antialias", 0) != 0;
  if (s.mode != "nearest" && s.mode != "linear" && s.mode != "cubic")
    return n.invalid("mode is '" + s.mode + "'; nearest, linear and cubic are allowed");
  static constexpr StringLiteral known[] = {
      "asymmetric",           "half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
      "tf_half_pixel_for_nn", "align_corners", "tf_crop_and_resize"};
  if (!llvm::is_contained(known, StringRef(s.coordinates)))
    return n.invalid("coordinate_transformation_mode is '" + s.coordinates + "'; allowed are " +
                     llvm::join(ArrayRef(known), ", "));
  if (!n.has(first ? 1 : 2) && !n.has(3))
    return n.invalid("it needs scales or sizes");
  SmallVector<Axis> axes;
  if (!readSizes(n, first ? 1 : 2, axes))
    return failure();
  if (axes.empty() && n.rank(0) > 0)
    return failure();
  if (s.coordinates == "tf_crop_and_resize" && !readRoi(n, axes))
    return failure();
  return resizeAll(n, s, axes);
}

static LogicalResult upsample(Node &n) {
  Settings s;
  s.mode = n.getString("mode", "nearest").str();
  s.coordinates = "asymmetric";
  s.nearest = "floor";
  SmallVector<Axis> axes;
  if (n.version() < 9) {
    auto scales = n.getFloats("scales");
    Dims in = shapeOf(n[0]);
    if (scales.size() != in.size())
      return n.invalid("scales need one entry per dimension");
    for (auto [size, scale] : llvm::zip(in, scales))
      axes.push_back({size, int64_t(std::floor(size * double(scale))), scale, 0, 1});
  } else if (!n.has(1)) {
    return n.invalid("scales are missing");
  } else if (!readSizes(n, 1, axes)) {
    return failure();
  }
  return resizeAll(n, s, axes);
}

ArrayRef<Entry> gpucc::frontend_to_graph::resizeRules() {
  static const Entry rules[] = {
      {"Resize", 10, latest, 1, resize},
      {"Upsample", 7, 9, 1, upsample},
  };
  return rules;
}
