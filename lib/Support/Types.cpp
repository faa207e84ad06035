//===- Types.cpp - between MLIR types and plain facts ---------------------===//
#include "gpucc/Support/Types.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;
using namespace gpucc;

std::optional<DType> gpucc::toDType(Type t) {
  if (t.isF64())
    return DType::F64;
  if (t.isF32())
    return DType::F32;
  if (t.isF16())
    return DType::F16;
  if (t.isBF16())
    return DType::BF16;
  if (isa<Float8E4M3FNType>(t))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(t))
    return DType::F8E5M2;
  auto i = dyn_cast<IntegerType>(t);
  if (!i)
    return std::nullopt;
  bool u = i.isUnsigned();
  switch (i.getWidth()) {
  case 64:
    return u ? DType::U64 : DType::I64;
  case 32:
    return u ? DType::U32 : DType::I32;
  case 16:
    return u ? DType::U16 : DType::I16;
  case 8:
    return u ? DType::U8 : DType::I8;
  case 4:
    return u ? DType::U4 : DType::I4;
  case 1:
    return DType::I1;
  default:
    return std::nullopt;
  }
}

Type gpucc::toType(MLIRContext *c, DType t) {
  switch (t) {
  case DType::F64:
    return Float64Type::get(c);
  case DType::F32:
    return Float32Type::get(c);
  case DType::F16:
    return Float16Type::get(c);
  case DType::BF16:
    return BFloat16Type::get(c);
  case DType::F8E4M3:
    return Float8E4M3FNType::get(c);
  case DType::F8E5M2:
    return Float8E5M2Type::get(c);
  case DType::I1:
    return IntegerType::get(c, 1);
  default:
    return IntegerType::get(c, bitWidth(t),
                            isUnsigned(t) ? IntegerType::Unsigned : IntegerType::Signless);
  }
}

std::vector<int64_t> gpucc::toShape(Type t) {
  ArrayRef<int64_t> s = cast<RankedTensorType>(t).getShape();
  return {s.begin(), s.end()};
}

RankedTensorType gpucc::toTensorType(MLIRContext *c, DType t, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, toType(c, t));
}

std::optional<HostTensor> gpucc::toHostTensor(ElementsAttr attr) {
  auto type = dyn_cast<RankedTensorType>(attr.getType());
  std::optional<DType> dtype = type ? toDType(type.getElementType()) : std::nullopt;
  if (!dtype || !type.hasStaticShape())
    return std::nullopt;
  HostTensor t(*dtype, toShape(type));
  int64_t n = t.numElements();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != t.byteSize())
      return std::nullopt;
    std::memcpy(t.bytes(), blob->getData().data(), t.byteSize());
    return t;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  if (n == 0)
    return t;
  if (dense.isSplat()) {
    if (isFloat(*dtype)) {
      double v = [&] {
        APFloat f = dense.getSplatValue<APFloat>();
        bool lost;
        f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
        return f.convertToDouble();
      }();
      for (int64_t i = 0; i < n; ++i)
        t.setFloat(i, v);
    } else {
      APInt v = dense.getSplatValue<APInt>();
      int64_t bits = isUnsigned(*dtype) || *dtype == DType::I1
                         ? static_cast<int64_t>(v.getZExtValue())
                         : v.getSExtValue();
      for (int64_t i = 0; i < n; ++i)
        t.setInt(i, bits);
    }
    return t;
  }
  if (*dtype != DType::I1 && bitWidth(*dtype) >= 8) {
    std::memcpy(t.bytes(), dense.getRawData().data(), t.byteSize());
    return t;
  }
  int64_t i = 0;
  for (APInt v : dense.getValues<APInt>())
    t.setInt(i++, static_cast<int64_t>(v.getZExtValue()));
  return t;
}

ElementsAttr gpucc::toElementsAttr(MLIRContext *c, const HostTensor &t) {
  RankedTensorType type = toTensorType(c, t.dtype(), t.shape());
  int64_t n = t.numElements();
  unsigned bits = bitWidth(t.dtype());
  if (t.dtype() == DType::I1 || bits < 8) {
    SmallVector<APInt> values;
    unsigned width = t.dtype() == DType::I1 ? 1 : bits;
    for (int64_t i = 0; i < n; ++i)
      values.push_back(APInt(width, static_cast<uint64_t>(t.getInt(i)), false, true));
    return DenseElementsAttr::get(type, values);
  }
  auto *raw = static_cast<const char *>(t.bytes());
  size_t width = bits / 8;
  bool splat = n > 0;
  for (int64_t i = 1; splat && i < n; ++i)
    splat = std::memcmp(raw, raw + i * width, width) == 0;
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef<char>(raw, splat ? width : static_cast<size_t>(t.byteSize())));
}
