//===- Schemas.h - what a node of an operator may look like -----*- C++ -*-===//
//
// Numbers of operands and results, and the attributes with their kinds, of every
// version of an operator. The rows of ONNX's operators are generated from the
// `onnx` package (make_schemas.py); those of ONNX Runtime's own operators
// stand in MicrosoftSchemas.cpp.
//
//   {"Softmax", 13, 1, 1, 1, 1, "i:axis"}     since opset 13: 1 operand, 1 result
//   {"Cast", 13, 1, 1, 1, 1, "i!to"}          `to` has no default
//   {"Concat", 13, 1, -1, 1, 1, "i!axis"}     any number of operands from 1 on
//
// Kinds of attributes: i an integer, f a number, s a string, t a tensor, g a
// graph; I, F, S, T, G lists of them.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_SCHEMAS_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_SCHEMAS_H

#include "dialects/Frontend/Frontend.h"

#include <string>

namespace gpucc::frontend_to_graph {

struct NodeSchema {
  llvm::StringLiteral kind; ///< "Add", or "com.microsoft.Gelu"
  int since;
  int minOperands, maxOperands; ///< -1: without bound
  int minResults, maxResults;
  llvm::StringLiteral attributes;
};

/// Sorted by kind and version.
llvm::ArrayRef<NodeSchema> onnxSchemas();
llvm::ArrayRef<NodeSchema> microsoftSchemas();

/// The row for an operator at a version; null when the tables have none (then nothing is known to
/// be wrong with a node).
const NodeSchema *findSchema(llvm::StringRef kind, int64_t version);

/// How a node contradicts its operator's definition; "" when it does not. As ONNX's own checker
/// does, attributes that start with "__" are let pass.
std::string schemaFault(frontend::NodeOp node);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_SCHEMAS_H
