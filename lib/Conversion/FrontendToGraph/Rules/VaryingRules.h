//===- VaryingRules.h - rules for operands of varying size ------*- C++ -*-===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_VARYINGRULES_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_VARYINGRULES_H

#include "lib/Conversion/FrontendToGraph/Node.h"

namespace gpucc::frontend_to_graph {

struct VaryingEntry {
  llvm::StringLiteral kind;
  VaryingRule rule;
};
ArrayRef<VaryingEntry> varyingMovementRules();
ArrayRef<VaryingEntry> varyingMathRules();
ArrayRef<VaryingEntry> varyingExtentRules();

/// The size of operand 0; fails where another operand varies.
LogicalResult onlyFirstVaries(Node &n, std::optional<Varying> &size);
/// Refuses, naming the producers of the sizes.
LogicalResult mixes(Node &n, llvm::StringRef why);
/// The plain rule, whose results keep operand 0's dimension.
LogicalResult keepDim(Node &n, Rule plain);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_VARYINGRULES_H
