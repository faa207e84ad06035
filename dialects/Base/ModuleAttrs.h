//===- ModuleAttrs.h - what a module says of its training step --*- C++ -*-===//
//
// Attributes of the whole module, by name; those of functions, arguments and ops
// stand in Base.h. Meaning: docs/conventions.md, 6.
//
//   module attributes {base.micro_batches = 4 : i64, base.accumulate = 2 : i64}
//     the step runs 8 times before the update
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BASE_MODULEATTRS_H
#define GPUCC_BASE_MODULEATTRS_H

#include "llvm/ADT/StringRef.h"

namespace gpucc::base {
/// i64, pipeline micro-batches and accumulation rounds of one step: their product is how often the
/// step runs before the update.
inline constexpr llvm::StringLiteral microBatchesAttr = "base.micro_batches";
inline constexpr llvm::StringLiteral accumulateAttr = "base.accumulate";
/// String, the symbolic dimension that counts samples.
inline constexpr llvm::StringLiteral batchAttr = "base.batch";
/// i64, what the labels of cross-entropy may be: below label_classes, or ignored_label.
inline constexpr llvm::StringLiteral labelClassesAttr = "base.label_classes";
inline constexpr llvm::StringLiteral ignoredLabelAttr = "base.ignored_label";
/// Dictionary from names of integer inputs to i64: below it lie the numbers that mean something to the model, as rows of a
/// table that it reads or constants that it compares with. For made-up inputs; nothing refuses others.
inline constexpr llvm::StringLiteral inputLimitsAttr = "base.input_limits";
} // namespace gpucc::base

#endif // GPUCC_BASE_MODULEATTRS_H
