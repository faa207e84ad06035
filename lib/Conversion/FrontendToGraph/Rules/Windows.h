//===- Windows.h - strides, pads and dilations of windows -------*- C++ -*-===//
//
// Conv and the pools share their geometry: explicit pads, or auto_pad, which is
// resolved here because sizes are known.
//
//   size 5, window 3, stride 2, SAME_UPPER -> 3 windows, pads (1, 1)
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_WINDOWS_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_WINDOWS_H

#include "lib/Conversion/FrontendToGraph/Node.h"

namespace gpucc::frontend_to_graph {

struct Window {
  Dims strides, dilations, low, high;
  Dims extra; ///< lengthens the last window in ceil mode (pools)
};

/// Attributes as written (pads zero with auto_pad); false after an error.
bool readWindow(Node &n, size_t spatial, Window &window);

/// With auto_pad resolved for operand 0, and `extra` for ceil mode.
std::optional<Window> windowOf(Node &n, ArrayRef<int64_t> kernel, bool ceil);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_WINDOWS_H
