//===- RunTimeSelection.h - results of unknown size -------------*- C++ -*-===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_RUNTIMESELECTION_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_RUNTIMESELECTION_H

#include "lib/Conversion/FrontendToGraph/Node.h"

namespace gpucc::frontend_to_graph {

// The rules of Selection.cpp where the deciding operand is not known while converting.
LogicalResult nonZeroAtRunTime(Node &n);
LogicalResult compressAtRunTime(Node &n, std::optional<int64_t> axis);
LogicalResult uniqueAtRunTime(Node &n, std::optional<int64_t> axis);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_RUNTIMESELECTION_H
