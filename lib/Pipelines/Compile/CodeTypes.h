//===- CodeTypes.h - element types that have code ----------------*- C++ -*-===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_CODETYPES_H
#define GPUCC_LIB_PIPELINES_COMPILE_CODETYPES_H

#include "mlir/IR/BuiltinOps.h"

namespace gpucc {

/// The graph dialect, the reference evaluator and the host know more element types than the CUDA
/// printer: f8 and 4-bit integers. Emits one error that names every op with such a value.
mlir::LogicalResult verifyCudaTypes(mlir::ModuleOp module);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_CODETYPES_H
