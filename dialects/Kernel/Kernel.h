//===- Kernel.h - the kernel dialect ----------------------------*- C++ -*-===//
// See KernelBase.td for what it says and one example.
#ifndef GPUCC_KERNEL_KERNEL_H
#define GPUCC_KERNEL_KERNEL_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Kernel/KernelDialect.h.inc"
#include "dialects/Kernel/KernelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/SkeletonOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/ThreadOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/LaunchOps.h.inc"

namespace gpucc::kernel {
/// On arguments of kernel.func: the model's name of the view.
inline constexpr llvm::StringLiteral viewNameAttr = "kernel.name";
/// On arguments of kernel.func: i64, alignment in bytes when it is less than 256.
inline constexpr llvm::StringLiteral viewAlignAttr = "kernel.align";
/// Alignment of a view that says nothing.
inline constexpr int64_t defaultViewAlignment = 256;
} // namespace gpucc::kernel

#endif // GPUCC_KERNEL_KERNEL_H
