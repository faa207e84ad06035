//===- Geometry.h - sliding windows: sizes and positions --------*- C++ -*-===//
//
// Convolution and pooling slide a dilated window over a padded dimension:
//
//   out = (in + low + high - ((window - 1) * dilation + 1)) / stride + 1
//   element k of window o reads input index o * stride + k * dilation - low
//
//   in 5, window 3, stride 2, low 1, high 1, dilation 1: out 3; window 0 reads -1, 0, 1
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_GEOMETRY_H
#define GPUCC_GRAPH_GEOMETRY_H

#include "dialects/Graph/Infer.h"

namespace gpucc::graph {

struct WindowGeometry {
  llvm::ArrayRef<int64_t> strides, low, high, dilations;

  /// Reach of the dilated window over dimension d.
  int64_t extent(size_t d, int64_t window) const { return (window - 1) * dilations[d] + 1; }
  int64_t outSize(size_t d, int64_t in, int64_t window) const {
    return (in + low[d] + high[d] - extent(d, window)) / strides[d] + 1;
  }
  int64_t inputIndex(size_t d, int64_t out, int64_t k) const {
    return out * strides[d] + k * dilations[d] - low[d];
  }

  /// List lengths, signs, and that each dilated window fits; `in` and `window` are the spatial
  /// sizes. Errors cite the constraints given.
  mlir::LogicalResult check(const InferContext &c, llvm::StringRef lists, llvm::StringRef signs,
                            llvm::ArrayRef<int64_t> in, llvm::ArrayRef<int64_t> window) const;
};

/// N,C,spatial… -> N,spatial…,C and back: {0, 2, 3, 1} and {0, 3, 1, 2} for rank 4.
llvm::SmallVector<int64_t> channelsLastPermutation(int64_t rank);
llvm::SmallVector<int64_t> channelsFirstPermutation(int64_t rank);
/// A shape N,spatial…,C as N,C,spatial….
llvm::SmallVector<int64_t> channelsFirst(llvm::ArrayRef<int64_t> shape);
llvm::SmallVector<int64_t> channelsLast(llvm::ArrayRef<int64_t> shape);

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_GEOMETRY_H
