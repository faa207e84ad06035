//===- PackedNibbles.h - i4 as halves of bytes ------------------*- C++ -*-===//
#ifndef GPUCC_LIB_TRANSFORMS_KERNEL_PACKEDNIBBLES_H
#define GPUCC_LIB_TRANSFORMS_KERNEL_PACKEDNIBBLES_H

#include "dialects/Kernel/Kernel.h"

namespace gpucc {
/// Views of i4 become bytes that hold two elements, the first in the low half; values of i4 become
/// i8 below 16. Emits an error and fails at arithmetic on i4 other than conversions, and at kernels
/// that store i4 in another place than one loop without results.
mlir::LogicalResult storeNibblesPacked(kernel::FuncOp kernel);
} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_KERNEL_PACKEDNIBBLES_H
