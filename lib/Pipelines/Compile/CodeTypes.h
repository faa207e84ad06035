//===- CodeTypes.h - element types that old devices lack --------*- C++ -*-===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_CODETYPES_H
#define GPUCC_LIB_PIPELINES_COMPILE_CODETYPES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace gpucc {

/// Architectures before sm_80 have no bf16, and neither cp.async nor the mma.sync forms that
/// products of f16, bf16 and tf32 use. Emits one error that names the architecture and the first op
/// that needs more.
mlir::LogicalResult verifyArchitectures(mlir::ModuleOp module,
                                        const std::vector<std::string> &archs);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_CODETYPES_H
