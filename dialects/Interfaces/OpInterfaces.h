//===- OpInterfaces.h - what every graph op answers -------------*- C++ -*-===//
// See OpInterfaces.td.
#ifndef GPUCC_INTERFACES_OPINTERFACES_H
#define GPUCC_INTERFACES_OPINTERFACES_H

#include "gpucc/Facts/HostTensor.h"
#include "gpucc/Facts/OpFacts.h"
#include "gpucc/Facts/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace gpucc {
/// Clones `op` with other operands and result types; regions are cloned as they are.
llvm::SmallVector<mlir::Value> cloneWithTypes(mlir::OpBuilder &builder, mlir::Operation *op,
                                              mlir::ValueRange operands,
                                              mlir::TypeRange resultTypes);
} // namespace gpucc

#include "dialects/Interfaces/OpInterfaces.h.inc"

#endif // GPUCC_INTERFACES_OPINTERFACES_H
