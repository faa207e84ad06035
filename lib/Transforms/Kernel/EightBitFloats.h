//===- EightBitFloats.h - f8 as bytes ---------------------------*- C++ -*-===//
#ifndef GPUCC_LIB_TRANSFORMS_KERNEL_EIGHTBITFLOATS_H
#define GPUCC_LIB_TRANSFORMS_KERNEL_EIGHTBITFLOATS_H

#include "dialects/Kernel/Kernel.h"

namespace gpucc {
/// True for f8E4M3FN and f8E5M2.
bool isEightBitFloat(mlir::Type type);
/// Views, tiles and values of 8-bit floats become i8, conversions from and to f32 integer
/// arithmetic. All other arithmetic on them must have been widened before.
void storeEightBitFloatsAsBytes(kernel::FuncOp kernel);
} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_KERNEL_EIGHTBITFLOATS_H
