//===- ElementTypes.h - ONNX's numbers for element types --------*- C++ -*-===//
//
// Attributes (`to`, `dtype`) hold numbers of TensorProto.DataType. They are
// part of the format, so they stand here rather than the protobuf header.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_ELEMENTTYPES_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace gpucc::frontend_to_graph {
/// Null for strings, complex numbers, and formats that gpucc does not have.
mlir::Type elementTypeOfOnnx(mlir::MLIRContext *context, int64_t number);
std::string elementNameOfOnnx(int64_t number);
} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_ELEMENTTYPES_H
