//===- DType.h - element types as plain values ------------------*- C++ -*-===//
//
// The element types that every part of gpucc shares. A plain enum, so that
// solvers, the cost model and the evaluator can speak of types without MLIR.
//
//   bitWidth(DType::I4) == 4     byteSize(DType::BF16, 10) == 20
//   name(DType::F8E4M3) == "f8E4M3"      parseDType("bf16") == DType::BF16
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_DTYPE_H
#define GPUCC_FACTS_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpucc {

enum class DType : uint8_t {
  F64, F32, F16, BF16, F8E4M3, F8E5M2,
  I64, I32, I16, I8, U64, U32, U16, U8, I4, U4,
  I1, ///< one byte per element in memory, 0 or 1
};

/// Bits of one element: 4 for I4/U4 (packed, low nibble first), 8 for I1.
unsigned bitWidth(DType type);

/// Bytes that `count` packed elements take.
int64_t byteSize(DType type, int64_t count);

bool isFloat(DType type);
/// True for the signed and unsigned integers, false for I1.
bool isInteger(DType type);
bool isUnsigned(DType type);

/// The spelling used in plans, messages and the command line: "f32", "u8", ...
std::string_view name(DType type);
std::optional<DType> parseDType(std::string_view text);

} // namespace gpucc

#endif // GPUCC_FACTS_DTYPE_H
