//===- HostDnnLayout.h - The plan's operands as oneDNN sees them
//---------------------------------===//
//
// Example: x[4,128,768] · W[768,3072] is one product of 512 rows, not four of 128, as long as the
// strides of x and of the result let rows of all batches follow one another.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_HOSTDNNLAYOUT_H
#define GPUCC_RT_DRIVERS_HOSTDNNLAYOUT_H

#include "core/DType.h"
#include "plan/Slices.h"
#include "plan_generated.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace gpucc::rt {

/// False when oneDNN has no such element type.
bool toDnn(DType type, dnnl::memory::data_type &result);

/// A list of the plan; where it is absent, `count` times `otherwise`.
dnnl::memory::dims dims(const flatbuffers::Vector<int64_t> *values, size_t count,
                        int64_t otherwise);

struct Layout {
  Extents shape, strides;
};
Layout layoutOf(const plan::Operand &operand);

/// [4, 128, 768] -> [512, 768]: all dimensions but the last as one. False where strides forbid it.
bool foldRows(const Layout &layout, Layout &folded);

/// A batched product with one matrix on the right is one large product, which oneDNN computes up to
/// three times faster.
bool canFold(const plan::LibraryCall &call);

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_HOSTDNNLAYOUT_H
