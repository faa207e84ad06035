//===- Dist.h - the dist dialect --------------------------------*- C++ -*-===//
// See Dist.td; names of the discardable attributes stand here once.
#ifndef GPUCC_DIST_DIST_H
#define GPUCC_DIST_DIST_H

#include "dialects/Base/Base.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "gpucc/Facts/Sharding.h"
#include "gpucc/Support/Types.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Dist/DistDialect.h.inc"
#include "dialects/Dist/DistEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttrs.h.inc"

namespace gpucc::dist {
/// On ops: array of #dist.sharding, one per result. On arguments and results of functions: one.
inline constexpr llvm::StringLiteral shardingAttr = "dist.sharding";
using base::stageAttr;
/// On arguments and results of stage functions: i64 key; forward's result and backward's argument
/// with equal keys are one value, kept once per micro-batch in flight.
inline constexpr llvm::StringLiteral savedAttr = "dist.saved";
/// On collectives: unit; other work was placed between it and its first use.
inline constexpr llvm::StringLiteral asyncAttr = "dist.async";
/// On the module: per stage an array of #dist.action, what the stage runs in one optimizer step.
inline constexpr llvm::StringLiteral scriptsAttr = "dist.scripts";
/// On the module: array of i64, micro-batches in flight per stage (slots of saved values).
inline constexpr llvm::StringLiteral slotsAttr = "dist.slots";
/// On ops, while a partition is being proved: i64, ordinal of the op in the unpartitioned function.
inline constexpr llvm::StringLiteral originAttr = "dist.origin";
/// The axis of the mesh that counts pipeline stages.
inline constexpr llvm::StringLiteral stageAxis = "pp";

std::vector<std::string> toStrings(mlir::ArrayAttr strings);
mlir::ArrayAttr toAttr(mlir::MLIRContext *context, llvm::ArrayRef<std::string> strings);

class MeshOp;
/// The module's mesh; null when it has none.
MeshOp getMesh(mlir::ModuleOp module);
/// Sharding of a value: from its defining op's or its function argument's attribute; none when
/// there is no attribute.
std::optional<Sharding> getSharding(mlir::Value value);
/// Sets the attribute on the defining op (others of its results become replicated when they had
/// none) or the argument.
void setSharding(mlir::Value value, const Sharding &sharding);
} // namespace gpucc::dist

#include "dialects/Dist/DistInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.h.inc"

#endif // GPUCC_DIST_DIST_H
