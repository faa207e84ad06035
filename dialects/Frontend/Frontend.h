//===- Frontend.h - a model as its file says it -----------------*- C++ -*-===//
// See Frontend.td.
#ifndef GPUCC_FRONTEND_FRONTEND_H
#define GPUCC_FRONTEND_FRONTEND_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Frontend/FrontendDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Frontend/FrontendTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Frontend/Frontend.h.inc"

namespace gpucc::frontend {
/// On the module: array of strings, the files that hold initializers, relative to the model's
/// folder. Becomes `graph.files`.
inline constexpr llvm::StringLiteral filesAttr = "frontend.files";
/// On a graph: the types that the file declares for its outputs; only compared with what is
/// computed.
inline constexpr llvm::StringLiteral declaredAttr = "frontend.declared";
/// The name under which the default ONNX domain stands in `opsets`.
inline constexpr llvm::StringLiteral onnxDomain = "ai.onnx";
} // namespace gpucc::frontend

#endif // GPUCC_FRONTEND_FRONTEND_H
