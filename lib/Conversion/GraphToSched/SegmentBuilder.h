//===- SegmentBuilder.h - one function becomes one segment ------*- C++ -*-===//
//
// Values get storage, ops become commands in the function's order.
//
//   1. Values that share bytes have one *root*: a reshape's root is its operand's.
//   2. Results of the function want a place: an output buffer, the state they
//      overwrite, a saved buffer. A root gets that place when writing there is
//      safe: nobody reads the old state after the writer. Otherwise it is
//      computed elsewhere and copied at the end.
//   3. Any other root takes the buffer of an operand that dies at its op when
//      the kernel allows that (`inplace`), else a scratch buffer of its own.
//
// Example of 2: `@update` computes w' = w - lr*g and then v' = f(w). The writer
// of w' comes before a reader of w, so w' is computed in scratch and copied.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_CONVERSION_GRAPHTOSCHED_SEGMENTBUILDER_H
#define GPUCC_LIB_CONVERSION_GRAPHTOSCHED_SEGMENTBUILDER_H

#include "ProgramBuilder.h"

namespace gpucc::sched {

struct SegmentStatistics {
  int64_t commands = 0, inPlace = 0, copies = 0;
};

/// Appends segment `name` to the program.
llvm::LogicalResult buildSegment(ProgramBuilder &program, mlir::func::FuncOp function, llvm::StringRef name,
                           SegmentStatistics &statistics);

/// True for ops that are library calls: contract and convolutions, alone or in a library cluster.
bool isLibraryOp(mlir::Operation *op);
/// Appends the call; `operands` and `result` are where the op's values lie, `constants` the operands
/// that nothing writes after prepare: the driver may keep them in the library's own layout.
llvm::LogicalResult buildLibraryCall(mlir::OpBuilder &builder, mlir::Operation *op,
                               llvm::ArrayRef<Storage> operands, llvm::ArrayRef<int64_t> constants,
                               Storage result);

bool isCollective(mlir::Operation *op);
llvm::LogicalResult buildCollective(mlir::OpBuilder &builder, mlir::Operation *op, const Mesh &mesh,
                              std::optional<Storage> operand, std::optional<Storage> result);

/// The model's name of an op: the first name in its location, else the op's own name.
std::string sourceName(mlir::Operation *op);

} // namespace gpucc::sched

#endif // GPUCC_LIB_CONVERSION_GRAPHTOSCHED_SEGMENTBUILDER_H
