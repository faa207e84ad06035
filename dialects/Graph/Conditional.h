//===- Conditional.h - ops whose result may not count -----------*- C++ -*-===//
//
// A round of a Loop and a branch of an If that a condition at run time may turn off are computed all
// the same, and a select takes their results or not. Until gpucc-check-indices has run, a gather of
// theirs carries this attribute: its indices may be out of range where the select drops it.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_DIALECTS_GRAPH_CONDITIONAL_H
#define GPUCC_DIALECTS_GRAPH_CONDITIONAL_H

#include "llvm/ADT/StringRef.h"

namespace gpucc::graph {
inline constexpr llvm::StringLiteral conditionalAttr = "graph.conditional";
} // namespace gpucc::graph

#endif // GPUCC_DIALECTS_GRAPH_CONDITIONAL_H
