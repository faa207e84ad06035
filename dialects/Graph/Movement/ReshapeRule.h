//===- ReshapeRule.h - the loops that a reshape's two shapes share -*- C++ -*-===//
//
// Walks both shapes from the major end, splitting off common factors:
//
//   [6,4] -> [2,3,4]   6 = 2·3:        {{a,b},{c}} -> {{a},{b},{c}}
//   [2,3] -> [6]       merge:          {{a},{b}}   -> {{a,b}}
//   [6,4] -> [4,6]     gcd(6,4) = 2:   {{a,p},{q}} -> {{a,r},{s}}, p q r s whole
//
// The last line: rows 0-2 of one are rows 0-1 of the other, so the common
// major factor 2 may be split, but what is left of the dimensions is not made
// of common loops and stays whole.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_MOVEMENT_RESHAPERULE_H
#define GPUCC_GRAPH_MOVEMENT_RESHAPERULE_H

#include "dialects/Graph/Rules.h"

namespace gpucc::graph {
Rule reshapeRule(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
} // namespace gpucc::graph

#endif // GPUCC_GRAPH_MOVEMENT_RESHAPERULE_H
