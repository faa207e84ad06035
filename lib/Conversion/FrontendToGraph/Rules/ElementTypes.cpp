//===- ElementTypes.cpp - ONNX's numbers for element types ----------------===//
#include "lib/Conversion/FrontendToGraph/Rules/ElementTypes.h"
#include "gpucc/Support/Types.h"

using namespace gpucc;

namespace {
struct Row {
  const char *name;
  std::optional<DType> type;
};
/// In the order of TensorProto.DataType, from 0.
constexpr Row rows[] = {
    {"undefined", {}},
    {"float", DType::F32},
    {"uint8", DType::U8},
    {"int8", DType::I8},
    {"uint16", DType::U16},
    {"int16", DType::I16},
    {"int32", DType::I32},
    {"int64", DType::I64},
    {"string", {}},
    {"bool", DType::I1},
    {"float16", DType::F16},
    {"double", DType::F64},
    {"uint32", DType::U32},
    {"uint64", DType::U64},
    {"complex64", {}},
    {"complex128", {}},
    {"bfloat16", DType::BF16},
    {"float8e4m3fn", DType::F8E4M3},
    {"float8e4m3fnuz", {}},
    {"float8e5m2", DType::F8E5M2},
    {"float8e5m2fnuz", {}},
    {"uint4", DType::U4},
    {"int4", DType::I4},
    {"float4e2m1", {}},
    {"float8e8m0", {}},
    {"uint2", {}},
    {"int2", {}},
};
} // namespace

mlir::Type frontend_to_graph::elementTypeOfOnnx(mlir::MLIRContext *context, int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(std::size(rows)) || !rows[number].type)
    return {};
  return toType(context, *rows[number].type);
}

std::string frontend_to_graph::elementNameOfOnnx(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(std::size(rows)))
    return "element type " + std::to_string(number);
  return rows[number].name;
}
