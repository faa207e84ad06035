//===- DType.cpp - element types as plain values --------------------------===//
#include "gpucc/Facts/DType.h"

using namespace gpucc;

namespace {
struct Row {
  DType type;
  std::string_view name;
  unsigned bits;
};
// In the order of the enum.
constexpr Row rows[] = {
    {DType::F64, "f64", 64},     {DType::F32, "f32", 32},      {DType::F16, "f16", 16},
    {DType::BF16, "bf16", 16},   {DType::F8E4M3, "f8E4M3", 8}, {DType::F8E5M2, "f8E5M2", 8},
    {DType::I64, "i64", 64},     {DType::I32, "i32", 32},      {DType::I16, "i16", 16},
    {DType::I8, "i8", 8},        {DType::U64, "u64", 64},      {DType::U32, "u32", 32},
    {DType::U16, "u16", 16},     {DType::U8, "u8", 8},         {DType::I4, "i4", 4},
    {DType::U4, "u4", 4},        {DType::I1, "i1", 8},
};
const Row &row(DType type) { return rows[static_cast<unsigned>(type)]; }
} // namespace

unsigned gpucc::bitWidth(DType type) { return row(type).bits; }

int64_t gpucc::byteSize(DType type, int64_t count) { return (count * row(type).bits + 7) / 8; }

bool gpucc::isFloat(DType type) { return type <= DType::F8E5M2; }

bool gpucc::isInteger(DType type) { return type >= DType::I64 && type <= DType::U4; }

bool gpucc::isUnsigned(DType type) {
  return (type >= DType::U64 && type <= DType::U8) || type == DType::U4;
}

std::string_view gpucc::name(DType type) { return row(type).name; }

std::optional<DType> gpucc::parseDType(std::string_view text) {
  for (const Row &r : rows)
    if (r.name == text)
      return r.type;
  return std::nullopt;
}
