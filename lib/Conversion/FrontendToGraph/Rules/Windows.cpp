//===- Windows.cpp - strides, pads and dilations of windows ---------------===//
#include "lib/Conversion/FrontendToGraph/Rules/Windows.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;

bool gpucc::frontend_to_graph::readWindow(Node &n, size_t spatial, Window &w) {
  w.strides = n.getInts("strides").value_or(Dims(spatial, 1));
  w.dilations = n.getInts("dilations").value_or(Dims(spatial, 1));
  Dims pads = n.getInts("pads").value_or(Dims(2 * spatial, 0));
  if (w.strides.size() != spatial || w.dilations.size() != spatial || pads.size() != 2 * spatial) {
    (void)n.invalid("strides, dilations need " + llvm::Twine(spatial) + " entries and pads " +
                    llvm::Twine(2 * spatial));
    return false;
  }
  constexpr int64_t most = int64_t(1) << 31;
  auto outside = [&](ArrayRef<int64_t> list, int64_t least) {
    return llvm::any_of(list, [&](int64_t v) { return v < least || v > most; });
  };
  if (outside(w.strides, 1) || outside(w.dilations, 1) || outside(pads, -most)) {
    (void)n.invalid("strides and dilations must be from 1 to 2^31, pads below 2^31");
    return false;
  }
  w.low.assign(pads.begin(), pads.begin() + spatial);
  w.high.assign(pads.begin() + spatial, pads.end());
  w.extra.assign(spatial, 0);
  return true;
}

/// Pads so that there are ceil(size / stride) windows; the odd one goes up or down.
static void samePads(Window &w, size_t d, int64_t size, int64_t reach, bool upper) {
  int64_t windows = (size + w.strides[d] - 1) / w.strides[d];
  int64_t total = std::max<int64_t>(0, (windows - 1) * w.strides[d] + reach - size);
  w.low[d] = upper ? total / 2 : total - total / 2;
  w.high[d] = total - w.low[d];
}

std::optional<Window> gpucc::frontend_to_graph::windowOf(Node &n, ArrayRef<int64_t> kernel,
                                                         bool ceil) {
  Window w;
  if (!readWindow(n, kernel.size(), w))
    return std::nullopt;
  StringRef automatic = n.getString("auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID" && automatic != "SAME_UPPER" &&
      automatic != "SAME_LOWER" && automatic != "") {
    (void)n.invalid("auto_pad is '" + automatic +
                    "'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are allowed");
    return std::nullopt;
  }
  for (size_t d = 0; d < kernel.size(); ++d) {
    int64_t size = typeOf(n[0]).getDimSize(d + 2);
    if (kernel[d] < 0 || kernel[d] > int64_t(1) << 31) {
      (void)n.invalid("a window has size " + llvm::Twine(kernel[d]));
      return std::nullopt;
    }
    int64_t reach = (kernel[d] - 1) * w.dilations[d] + 1;
    if (automatic == "VALID")
      w.low[d] = w.high[d] = 0;
    else if (automatic.starts_with("SAME"))
      samePads(w, d, size, reach, automatic == "SAME_UPPER");
    int64_t room = size + w.low[d] + w.high[d] - reach;
    if (ceil && room < 0 && -room < w.strides[d]) { // one window, cut off
      w.extra[d] = -room;
      continue;
    }
    if (room < 0) {
      (void)n.invalid("the window of dimension " + llvm::Twine(d + 2) + " reaches over " +
                      llvm::Twine(reach) + " elements, but the padded operand has " +
                      llvm::Twine(reach + room));
      return std::nullopt;
    }
    int64_t rest = room % w.strides[d];
    if (ceil && rest != 0) {
      // A window more, unless it would begin in the padding above.
      int64_t begin = room - rest + w.strides[d];
      if (begin < size + w.low[d])
        w.extra[d] = w.strides[d] - rest;
    }
  }
  return w;
}
