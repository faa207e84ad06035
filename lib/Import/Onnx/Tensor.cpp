//===- Tensor.cpp - TensorProto as types and values -----------------------===//
#include "lib/Import/Onnx/Tensor.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace llvm;
using namespace gpucc;
using ::onnx::TensorProto;

std::optional<DType> onnx_import::elementType(int type) {
  switch (type) {
  case TensorProto::FLOAT:
    return DType::F32;
  case TensorProto::DOUBLE:
    return DType::F64;
  case TensorProto::FLOAT16:
    return DType::F16;
  case TensorProto::BFLOAT16:
    return DType::BF16;
  case TensorProto::FLOAT8E4M3FN:
    return DType::F8E4M3;
  case TensorProto::FLOAT8E5M2:
    return DType::F8E5M2;
  case TensorProto::INT64:
    return DType::I64;
  case TensorProto::INT32:
    return DType::I32;
  case TensorProto::INT16:
    return DType::I16;
  case TensorProto::INT8:
    return DType::I8;
  case TensorProto::UINT64:
    return DType::U64;
  case TensorProto::UINT32:
    return DType::U32;
  case TensorProto::UINT16:
    return DType::U16;
  case TensorProto::UINT8:
    return DType::U8;
  case TensorProto::INT4:
    return DType::I4;
  case TensorProto::UINT4:
    return DType::U4;
  case TensorProto::BOOL:
    return DType::I1;
  default:
    return std::nullopt;
  }
}

std::string onnx_import::elementTypeName(int type) {
  if (TensorProto::DataType_IsValid(type)) {
    std::string text = TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type));
    return StringRef(text).lower();
  }
  return "element type " + std::to_string(type);
}

bool onnx_import::tensorShape(const TensorProto &tensor, std::vector<int64_t> &shape,
                              std::string &error) {
  shape.assign(tensor.dims().begin(), tensor.dims().end());
  bool empty = is_contained(shape, 0);
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d < 0) {
      error = "has the negative dimension " + std::to_string(d) +
              "; sizes are 0 or more: correct its dims";
      return false;
    }
    if (!empty && MulOverflow(count, d, count)) {
      error =
          "has more elements than 63 bits can count; at most 2^59 are allowed: correct its dims";
      return false;
    }
  }
  // Byte sizes are computed as count * 8 / 8 at most.
  if (!empty && count > (int64_t(1) << 59)) {
    error =
        "has " + std::to_string(count) + " elements; at most 2^59 are allowed: correct its dims";
    return false;
  }
  return true;
}

bool onnx_import::checkPayload(const TensorProto &tensor, bool isElsewhere, std::string &error) {
  if (tensor.has_segment()) {
    error = "is a segment of a tensor; whole tensors are read: export it in one piece";
    return false;
  }
  bool typed = tensor.float_data_size() || tensor.double_data_size() || tensor.int32_data_size() ||
               tensor.int64_data_size() || tensor.uint64_data_size() || tensor.string_data_size();
  if ((tensor.has_raw_data() || isElsewhere) && typed) {
    error =
        "has its data twice, in raw_data and in a typed field; one is allowed: remove the other";
    return false;
  }
  return true;
}

/// Copies a typed field of `fields` entries, one element each.
template <typename Field, typename Store>
static bool copyField(const Field &field, int64_t count, StringRef name, std::string &error,
                      Store store) {
  if (field.size() != count) {
    error = ("has " + Twine(count) + " elements by its dims but " + Twine(field.size()) + " in " +
             name + "; write as many values as the dims say")
                .str();
    return false;
  }
  for (int64_t i = 0; i < count; ++i)
    store(i, field[static_cast<int>(i)]);
  return true;
}

static bool decodeRaw(StringRef raw, HostTensor &result, std::string &error) {
  if (static_cast<int64_t>(raw.size()) != result.byteSize()) {
    error = "has " + std::to_string(raw.size()) + " bytes of raw_data; its dims and type take " +
            std::to_string(result.byteSize()) + ": correct one of them";
    return false;
  }
  if (!raw.empty())
    std::memcpy(result.bytes(), raw.data(), raw.size());
  if (result.dtype() == DType::I1)
    for (int64_t i = 0; i < result.numElements(); ++i)
      result.setInt(i, raw[i] != 0);
  return true;
}

/// The values of int32_data that a narrower type can hold; floats lie there by their bits, and of
/// a truth value it only counts whether it is 0.
static std::pair<int32_t, int32_t> int32Range(DType type) {
  switch (type) {
  case DType::I1:
  case DType::I32:
    return {INT32_MIN, INT32_MAX};
  case DType::I8:
    return {INT8_MIN, INT8_MAX};
  case DType::I16:
    return {INT16_MIN, INT16_MAX};
  default: // unsigned, the bits of a float, or a pair of nibbles
    return {0, bitWidth(type) == 16 ? UINT16_MAX : UINT8_MAX};
  }
}

/// Types that lie in int32_data, by their bits; nibbles lie there in packed pairs.
static bool decodeInt32(const TensorProto &tensor, HostTensor &result, std::string &error) {
  DType type = result.dtype();
  auto [least, greatest] = int32Range(type);
  for (int32_t v : tensor.int32_data())
    if (v < least || v > greatest) {
      error = "has " + std::to_string(v) + " in int32_data; its type " +
              onnx_import::elementTypeName(tensor.data_type()) + " allows " +
              std::to_string(least) + " to " + std::to_string(greatest) +
              ": correct the value or the type";
      return false;
    }
  auto *bytes = static_cast<uint8_t *>(result.bytes());
  unsigned width = bitWidth(type);
  if (width == 4)
    return copyField(tensor.int32_data(), (result.numElements() + 1) / 2, "int32_data", error,
                     [&](int64_t i, int32_t v) { bytes[i] = static_cast<uint8_t>(v); });
  return copyField(tensor.int32_data(), result.numElements(), "int32_data", error,
                   [&](int64_t i, int32_t v) {
                     if (type == DType::I1)
                       v = v != 0;
                     std::memcpy(bytes + i * (width / 8), &v, width / 8); // little-endian
                   });
}

bool onnx_import::decodeTensor(const TensorProto &tensor, std::optional<StringRef> raw,
                               HostTensor &result, std::string &error) {
  std::optional<DType> type = elementType(tensor.data_type());
  if (!type) {
    error = "has the element type " + elementTypeName(tensor.data_type()) +
            ", which gpucc does not have";
    return false;
  }
  std::vector<int64_t> shape;
  if (!tensorShape(tensor, shape, error))
    return false;
  if (!checkPayload(tensor, raw.has_value(), error))
    return false;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    error = "lies in an external file, which is allowed for initializers only";
    return false;
  }
  int64_t count = 1;
  for (int64_t d : shape)
    count *= d;
  // Nothing is allocated for a size that the payload does not have.
  uint64_t available = raw ? raw->size() : tensor.ByteSizeLong();
  if (static_cast<uint64_t>(byteSize(*type, count)) > (available + 16) * 16) {
    error = "has " + std::to_string(count) + " elements by its dims, but its payload has " +
            std::to_string(available) + " bytes: correct one of them";
    return false;
  }
  result = HostTensor(*type, shape);
  if (raw)
    return decodeRaw(*raw, result, error);
  if (tensor.has_raw_data())
    return decodeRaw(tensor.raw_data(), result, error);
  auto asInt = [&](int64_t i, auto v) { result.setInt(i, static_cast<int64_t>(v)); };
  auto asFloat = [&](int64_t i, auto v) { result.setFloat(i, v); };
  switch (*type) {
  case DType::F32:
    return copyField(tensor.float_data(), count, "float_data", error, asFloat);
  case DType::F64:
    return copyField(tensor.double_data(), count, "double_data", error, asFloat);
  case DType::I64:
    return copyField(tensor.int64_data(), count, "int64_data", error, asInt);
  case DType::U64:
  case DType::U32:
    return copyField(tensor.uint64_data(), count, "uint64_data", error, asInt);
  default:
    return decodeInt32(tensor, result, error);
  }
}
