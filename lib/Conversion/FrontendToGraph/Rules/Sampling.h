//===- Sampling.h - values between the elements -----------------*- C++ -*-===//
//
// GridSample, RoiAlign and DeformConv read an image at real positions that are
// computed at run time. Each position becomes a few *taps* per dimension, an
// element's index and a weight; the value is the sum over all combinations:
//
//   linear, position 2.25:  taps (2, weight 0.75), (3, weight 0.25)
//
// Every tap is a gather, so that both targets run it as one fused loop.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_SAMPLING_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_SAMPLING_H

#include "lib/Conversion/FrontendToGraph/Node.h"

namespace gpucc::frontend_to_graph {

struct Tap {
  Value index;  ///< whole numbers as floats, inside the image
  Value valid;  ///< i1, or null: always
  Value weight; ///< or null: 1
};
using Taps = SmallVector<Tap, 4>;

/// floor(p) and its right neighbour; elements outside [0, size) are zero.
Taps linearTaps(GraphBuilder &g, Value position, int64_t size);

/// The elements of x [N, C, spatial...] that one combination of taps names, weighted. Taps have the
/// shape [N, 1, points...] and the result [N, C, points...]; `image` (i64, that shape) replaces N's
/// own index when the taps belong to other images.
Value tapped(GraphBuilder &g, Value x, Value image, ArrayRef<Tap> oneOfEach);

/// `visit` with every combination of one tap per dimension.
void forEachCombination(ArrayRef<Taps> taps, llvm::function_ref<void(ArrayRef<Tap>)> visit);

/// The sum over all combinations.
Value interpolated(GraphBuilder &g, Value x, Value image, ArrayRef<Taps> taps);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_SAMPLING_H
