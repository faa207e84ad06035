//===- HostDnnLayout.cpp - The plan's operands as oneDNN sees them
//-------------------------------===//
#include "drivers/HostDnnLayout.h"

using namespace gpucc::rt;
using dnnl::memory;

bool gpucc::rt::toDnn(DType type, memory::data_type &result) {
  switch (type) {
  case DType::f32:
    result = memory::data_type::f32;
    return true;
  case DType::bf16:
    result = memory::data_type::bf16;
    return true;
  case DType::i32:
    result = memory::data_type::s32;
    return true;
  case DType::i8:
    result = memory::data_type::s8;
    return true;
  case DType::u8:
    result = memory::data_type::u8;
    return true;
  default:
    return false;
  }
}

memory::dims gpucc::rt::dims(const flatbuffers::Vector<int64_t> *values, size_t count,
                             int64_t otherwise) {
  if (values && values->size() > 0)
    return memory::dims(values->begin(), values->end());
  return memory::dims(count, otherwise);
}

Layout gpucc::rt::layoutOf(const plan::Operand &operand) {
  Layout layout = {toExtents(operand.dims()), {}};
  layout.strides = operand.strides() && operand.strides()->size() > 0
                       ? toExtents(operand.strides())
                       : rowMajorStrides(layout.shape);
  return layout;
}

bool gpucc::rt::foldRows(const Layout &layout, Layout &folded) {
  size_t last = layout.shape.size() - 1;
  int64_t rows = 1, stride = layout.strides[last - 1];
  for (size_t d = last; d-- > 0;) {
    if (layout.shape[d] == 1)
      continue;
    if (rows == 1)
      stride = layout.strides[d];
    else if (layout.strides[d] != stride * rows)
      return false;
    rows *= layout.shape[d];
  }
  folded = {{rows, layout.shape[last]}, {stride, layout.strides[last]}};
  return true;
}

bool gpucc::rt::canFold(const plan::LibraryCall &call) {
  Layout a, c, extra, b = layoutOf(*call.operands()->Get(1));
  size_t rank = b.shape.size();
  for (size_t d = 0; d + 2 < rank; ++d)
    if (b.shape[d] != 1)
      return false;
  if (rank == 2 || !foldRows(layoutOf(*call.operands()->Get(0)), a) ||
      !foldRows(layoutOf(*call.operands()->Get(2)), c) || a.shape[0] != c.shape[0])
    return false;
  if (call.extra_operands())
    for (const plan::Operand *operand : *call.extra_operands())
      if (!foldRows(layoutOf(*operand), extra) ||
          (extra.shape[0] != 1 && extra.shape[0] != c.shape[0]))
        return false;
  return true;
}
