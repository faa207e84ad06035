//===- PadIndex.h - what the non-constant pad modes show --------*- C++ -*-===//
//
//   size 4, positions -2 … 5:  reflect 2 1 0 1 2 3 2 1   edge 0 0 0 1 2 3 3 3
//                              wrap    2 3 0 1 2 3 0 1
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_MOVEMENT_PADINDEX_H
#define GPUCC_GRAPH_MOVEMENT_PADINDEX_H

#include "dialects/Graph/Graph.h"

#include <algorithm>

namespace gpucc::graph {

/// Index of the operand's element that position `i` (counted from the operand's start) shows.
inline int64_t paddedIndex(PadKind mode, int64_t i, int64_t size) {
  switch (mode) {
  case PadKind::Reflect:
    if (i < 0)
      return -i;
    return i < size ? i : 2 * (size - 1) - i;
  case PadKind::Edge:
    return std::clamp<int64_t>(i, 0, size - 1);
  case PadKind::Wrap:
    return ((i % size) + size) % size;
  case PadKind::Constant:
    break;
  }
  llvm_unreachable("constants are not read from the operand");
}

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_MOVEMENT_PADINDEX_H
