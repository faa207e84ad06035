//===- VaryingExtents.cpp - repeating and padding beside what varies ------===//
//
// Expand, Tile and Pad of a tensor of varying size (Varying.cpp), as long as
// they leave alone the dimension that varies:
//
//   x [n <= 6, 1]  Expand to [1, 4] -> [n <= 6, 4]     Tile by [1, 4] -> [n <= 6, 4]
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Rules/VaryingRules.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

/// Sizes are aligned from the last dimension on; 1 keeps the operand's.
static LogicalResult expand(Node &n, Rule plain) {
  std::optional<Varying> size;
  if (!n.varying(0))
    return mixes(n, "it is the shape's own");
  if (failed(onlyFirstVaries(n, size)))
    return failure();
  auto wanted = n.constantInts(1, "the shape");
  if (!wanted)
    return failure();
  int64_t lead = static_cast<int64_t>(wanted->size()) - n.rank(0), at = size->dim + lead;
  if (at >= 0 && (*wanted)[at] != 1)
    return mixes(n, "Expand gives that dimension a fixed size; write 1 for it");
  if (failed(plain(n)))
    return failure();
  n.setVarying(0, size->dim + std::max<int64_t>(lead, 0), size->count, size->producer);
  return success();
}

static LogicalResult tile(Node &n, Rule plain) {
  auto repeats = n.varying(0) ? n.constantInts(1, "repeats") : std::nullopt;
  if (!repeats)
    return n.varying(0) ? failure() : mixes(n, "it is the repeats' own");
  auto dim = static_cast<size_t>(n.varying(0)->dim);
  if (dim < repeats->size() && (*repeats)[dim] != 1)
    return mixes(n, "Tile repeats that dimension");
  return keepDim(n, plain);
}

static LogicalResult pad(Node &n, Rule plain) {
  Dims pads, axes;
  bool given;
  if (!n.varying(0))
    return mixes(n, "only its first operand may vary");
  if (!n.intsFrom("pads", 1, pads, given))
    return failure();
  if (n.has(3)) {
    auto listed = n.constantInts(3, "axes");
    if (!listed)
      return failure();
    axes = *listed;
  } else {
    for (int64_t d = 0; d < n.rank(0); ++d)
      axes.push_back(d);
  }
  for (size_t i = 0; pads.size() == 2 * axes.size() && i < axes.size(); ++i) {
    auto axis = n.dimension(axes[i], n.rank(0));
    if (!axis)
      return failure();
    if (*axis == n.varying(0)->dim && (pads[i] != 0 || pads[i + axes.size()] != 0))
      return mixes(n, "Pad adds to that dimension");
  }
  return keepDim(n, plain);
}

ArrayRef<VaryingEntry> frontend_to_graph::varyingExtentRules() {
  static const VaryingEntry rules[] = {
      {"Expand", expand},
      {"Tile", tile},
      {"Pad", pad},
  };
  return rules;
}
