//===- Space.h - `(%i, %j) in (4, 8)` ---------------------------*- C++ -*-===//
//
// The common head of kernel.program and kernel.loop: index arguments and their
// extents. Private to the dialect.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_KERNEL_SPACE_H
#define GPUCC_KERNEL_SPACE_H

#include "mlir/IR/OpImplementation.h"

namespace gpucc::kernel {
/// Reads the head into `args` and the attribute `extents`.
mlir::ParseResult parseSpace(mlir::OpAsmParser &parser, mlir::OperationState &result,
                             llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &args);
void printSpace(mlir::OpAsmPrinter &printer, llvm::ArrayRef<int64_t> extents, mlir::Block &body);
/// (C1) one index argument per extent, extents >= 1.
mlir::LogicalResult verifySpace(mlir::Operation *op, llvm::ArrayRef<int64_t> extents,
                                mlir::Region &body);
/// Adds a region with one block of `rank` index arguments.
mlir::Block *buildSpace(mlir::OpBuilder &builder, mlir::OperationState &state, unsigned rank);
} // namespace gpucc::kernel

#endif // GPUCC_KERNEL_SPACE_H
