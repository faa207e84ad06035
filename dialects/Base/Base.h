//===- Base.h - attributes that several dialects share ----------*- C++ -*-===//
// See Base.td; names of the discardable attributes stand here once.
#ifndef GPUCC_BASE_BASE_H
#define GPUCC_BASE_BASE_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "dialects/Base/BaseDialect.h.inc"
#include "dialects/Base/BaseEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Base/BaseAttrs.h.inc"

namespace gpucc::base {
/// On function arguments and results: the name in the model.
inline constexpr llvm::StringLiteral nameAttr = "base.name";
/// On function arguments and results: "input", "label", "state", "output", "metric".
inline constexpr llvm::StringLiteral kindAttr = "base.kind";
/// On state arguments and results: #base.state.
inline constexpr llvm::StringLiteral stateAttr = "base.state";
/// On state results: i64 index of the argument whose storage the result overwrites.
inline constexpr llvm::StringLiteral aliasAttr = "base.alias";
/// On state that is a piece of another tensor (#base.state with `start`): the name and shape of
/// that tensor, under which all pieces are saved together. For the parameter it is the initializer,
/// for its moments, masters and accumulators what these would be called were the parameter whole.
inline constexpr llvm::StringLiteral sourceNameAttr = "base.source_name";
inline constexpr llvm::StringLiteral sourceShapeAttr = "base.source_shape";
/// On state: the entry of the module's weight table (graph.weight_data) that it begins with, where
/// that is not called as the state is.
inline constexpr llvm::StringLiteral weightAttr = "base.weight";
/// On inputs and outputs: an array of strings, the model's names of the dimensions ("" = unnamed).
inline constexpr llvm::StringLiteral dimsAttr = "base.dims";
/// On functions: #base.profile that the function was specialized for.
inline constexpr llvm::StringLiteral profileAttr = "base.profile";
/// On functions: "forward", "backward", "step" (both), "update".
inline constexpr llvm::StringLiteral segmentAttr = "base.segment";
/// On ops made by differentiation: unit attribute.
inline constexpr llvm::StringLiteral backwardAttr = "base.backward";
/// On ops and functions: i64, the pipeline stage. Stands here and not in dist because what makes
/// ops out of ops (derivatives, decompositions, clusters) hands it on without knowing what it
/// means.
inline constexpr llvm::StringLiteral stageAttr = "dist.stage";
} // namespace gpucc::base

#endif // GPUCC_BASE_BASE_H
