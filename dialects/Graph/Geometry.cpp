//===- Geometry.cpp - sliding windows: sizes and positions ----------------===//
#include "dialects/Graph/Geometry.h"

using namespace mlir;
using namespace gpucc::graph;

LogicalResult WindowGeometry::check(const InferContext &c, StringRef lists, StringRef signs,
                                    ArrayRef<int64_t> in, ArrayRef<int64_t> window) const {
  int64_t n = in.size();
  if (n < 1 || n > 3)
    return c.fail("(" + lists + ") there are " + Twine(n) + " spatial dimensions",
                  "1 to 3 are supported; reshape others away");
  if (failed(c.checkLength(lists, "window", window, n)) ||
      failed(c.checkLength(lists, "strides", strides, n)) ||
      failed(c.checkLength(lists, "pads_low", low, n)) ||
      failed(c.checkLength(lists, "pads_high", high, n)) ||
      failed(c.checkLength(lists, "dilations", dilations, n)) ||
      failed(c.checkAtLeast(signs, "window", window, 1)) ||
      failed(c.checkAtLeast(signs, "strides", strides, 1)) ||
      failed(c.checkAtLeast(signs, "dilations", dilations, 1)) ||
      failed(c.checkAtLeast(signs, "pads_low", low, 0)) ||
      failed(c.checkAtLeast(signs, "pads_high", high, 0)))
    return failure();
  for (int64_t d = 0; d < n; ++d)
    if (extent(d, window[d]) > in[d] + low[d] + high[d])
      return c.fail("(" + signs + ") the dilated window of size " + Twine(extent(d, window[d])) +
                        " does not fit into spatial dimension " + Twine(d) + " of padded size " +
                        Twine(in[d] + low[d] + high[d]),
                    "pad more, or shrink the window or its dilation");
  return success();
}

SmallVector<int64_t> gpucc::graph::channelsLastPermutation(int64_t rank) {
  SmallVector<int64_t> permutation{0};
  for (int64_t d = 2; d < rank; ++d)
    permutation.push_back(d);
  permutation.push_back(1);
  return permutation;
}

SmallVector<int64_t> gpucc::graph::channelsFirstPermutation(int64_t rank) {
  SmallVector<int64_t> permutation{0, rank - 1};
  for (int64_t d = 1; d + 1 < rank; ++d)
    permutation.push_back(d);
  return permutation;
}

static SmallVector<int64_t> permuted(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(permutation, [&](int64_t d) { return shape[d]; });
}

SmallVector<int64_t> gpucc::graph::channelsFirst(ArrayRef<int64_t> shape) {
  return permuted(shape, channelsFirstPermutation(shape.size()));
}

SmallVector<int64_t> gpucc::graph::channelsLast(ArrayRef<int64_t> shape) {
  return permuted(shape, channelsLastPermutation(shape.size()));
}
