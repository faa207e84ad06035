//===- Reduction.h - combiners, identities and the tree ---------*- C++ -*-===//
//
// What both lowerings must agree on, bit for bit (KernelBase.td, "Bits").
//
//   getRowTreeWidth(1000) == 1024     getRowTreeWidth(7) == 32
//   identity of add is -0.0 (0.0 + -0.0 would lose a sign)
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_KERNEL_REDUCTION_H
#define GPUCC_KERNEL_REDUCTION_H

#include "dialects/Kernel/Kernel.h"

namespace gpucc::kernel {

/// Residues of a reduction of `points` points to a scalar: clamp(pow2(points), 32, 1024).
int64_t getRowTreeWidth(int64_t points);
/// Residues of a reduction over the leading dimensions.
inline constexpr int64_t columnTreeWidth = 32;

/// True when values of `type` can be reduced by `kind` (C5 of kernel.loop).
bool isReducible(LoopResultKind kind, mlir::Type type);
/// The value that changes nothing: start of each residue. `type` is a scalar.
mlir::TypedAttr getIdentity(LoopResultKind kind, mlir::Type type);
/// The same as a constant; `type` may be a vector.
mlir::Value buildIdentity(mlir::OpBuilder &builder, mlir::Location loc, LoopResultKind kind,
                          mlir::Type type);
/// accumulator ∘ value, on scalars or vectors. maxnum is `value > accumulator ? value :
/// accumulator`: one instruction, right because the accumulator starts at -inf and so is never NaN.
mlir::Value buildCombine(mlir::OpBuilder &builder, mlir::Location loc, LoopResultKind kind,
                         mlir::Value accumulator, mlir::Value value);

} // namespace gpucc::kernel

#endif // GPUCC_KERNEL_REDUCTION_H
